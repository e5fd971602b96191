"""What plants the faults: a table for each place in the world, keyed by the names of `faults.py`."""
