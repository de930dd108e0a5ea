"""Tools of the research loop: search, fetch, extract, rank, chunk. No model, no graph."""
