"""The web interface, with all its assets."""
