"""The CLI commands."""
