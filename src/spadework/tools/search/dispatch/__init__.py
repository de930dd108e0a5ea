"""Choose search providers, respect their rate limits, and cache their results."""
