"""Play the roles without a model. Results are deterministic, and every word comes from a source."""
