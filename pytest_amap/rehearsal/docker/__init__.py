"""The `docker` command line of the rehearsal host, on the same boxes as its sandboxes."""
