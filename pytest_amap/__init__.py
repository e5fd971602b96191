"""Qualify a live OpenShell host for AMAP, one test a pass criterion and one an unknown."""
