"""The roles without a model: deterministic, and every word they write stands in a source."""
