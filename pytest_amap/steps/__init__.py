"""The L1 suite's setup: one step a module, each a session fixture that asks "already so?" before it acts.

tests_live/l1/conftest.py takes the fixtures from here, so that they exist for that suite alone.
"""
