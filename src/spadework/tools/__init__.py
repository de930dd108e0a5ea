"""Tools for searching, fetching, extracting, ranking and storing, without a model or the graph."""
