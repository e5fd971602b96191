"""Pytest's side: settings and refusals, order, dry run, live run, replay, and the end of a run."""
