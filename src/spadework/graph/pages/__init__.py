"""Where pages come from, and how they are shared and cut."""
