"""URLs, connections and processes, shared by every caller."""
