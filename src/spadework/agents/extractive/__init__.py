"""The roles without a model: deterministic, and every word they write is in a source."""
