"""Search the web and other collections through search providers."""
