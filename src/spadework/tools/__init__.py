"""The hands of the loop: search, fetch, extract, rank, cut, locate. No model, no graph."""
