"""Sources of pages, their distribution and chunking."""
