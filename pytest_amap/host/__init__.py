"""The doorway to a host: processes, files, waiting, locks, and the run itself; everything leaves a record."""
