"""Search the web and other collections, with one provider per file."""
