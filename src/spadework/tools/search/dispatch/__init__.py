"""Which providers are asked, how often, and what is remembered of it."""
