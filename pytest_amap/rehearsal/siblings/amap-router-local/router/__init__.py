"""The router of the rehearsal host: the only program that moves documents between instances."""
