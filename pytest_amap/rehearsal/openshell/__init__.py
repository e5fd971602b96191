"""The `openshell` command line of the rehearsal host, in the words and shapes of 0.1.2."""
