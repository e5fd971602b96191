"""The evidence of a run: written once, chained, redacted, sealed, read again and verified."""
