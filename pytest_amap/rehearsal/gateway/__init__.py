"""The gateway's configuration and its daemon."""
