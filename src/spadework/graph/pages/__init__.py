"""Find, assign and read the pages of a round."""
