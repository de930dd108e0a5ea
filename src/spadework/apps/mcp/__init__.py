"""The interface for models: six tools over the Model Context Protocol."""
