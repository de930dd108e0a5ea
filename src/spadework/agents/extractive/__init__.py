"""Play the roles without a model. The result is deterministic, and every word is from a source."""
