"""The roles of the research loop, one per module."""
