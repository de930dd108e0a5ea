"""The web page: ask, watch, read, check. All assets are in this package."""
