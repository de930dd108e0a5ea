"""One migration per file, in order of their numbers; a released one is never changed."""
