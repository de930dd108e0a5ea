"""One migration per file, in the order of their numbers; a released one is never changed."""
