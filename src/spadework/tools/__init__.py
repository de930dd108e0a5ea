"""Tools of the research loop: search, fetch, extract, rank, chunk, locate. No model, no graph."""
