"""The web page: ask, watch, read, check; everything it shows comes from this package."""
