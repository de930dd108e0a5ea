"""Which hits and pages come first, what they repeat, and how far they can be trusted."""
