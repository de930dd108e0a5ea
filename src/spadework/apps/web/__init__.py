"""The web page: ask, watch, read, check; all assets are in this package."""
