"""Search the web and other collections; one provider per file."""
