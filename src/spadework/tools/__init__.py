"""Tools for searching, fetching, extracting, ranking and storing, without model or graph."""
