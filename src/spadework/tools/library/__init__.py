"""The library: an index of the user's folders, or of the documentation installed with Python."""
