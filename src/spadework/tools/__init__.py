"""Tools of the research loop, without model or graph: search, fetch, extract, rank, store."""
