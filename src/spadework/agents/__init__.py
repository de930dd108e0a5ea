"""Play the roles of the loop, one per module."""
