"""The part of gateway.toml that bind mounts need, written beside the home's other files for reference."""

from __future__ import annotations

FRAGMENT = """\
# For OpenShell's Docker driver (OpenShell main@acbac9c: docs/how-it-works/sandboxes/runtimes.mdx:120-131).
# Merge it by hand, on a dedicated loopback gateway only: whoever may create a sandbox can then mount any host path.
[openshell.drivers.docker]
allow_driver_config = true
enable_bind_mounts = true

[openshell.drivers.docker.resource_admission]
enabled = false
"""
