"""Choice of providers, their rate limits, and cached results."""
