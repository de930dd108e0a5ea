"""Required evidence, and what code can find in it."""
