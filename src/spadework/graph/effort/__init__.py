"""Effort of a run: estimate, policy for models, further rounds."""
