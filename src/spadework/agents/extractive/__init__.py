"""Play the roles without a model: the result is deterministic, and every word is from a source."""
