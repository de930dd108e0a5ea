"""Tools for searching, reading, ranking and storing, without a model or the graph."""
