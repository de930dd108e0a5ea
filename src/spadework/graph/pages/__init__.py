"""Find, assign and read the pages for a research round."""
