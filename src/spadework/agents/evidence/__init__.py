"""Check evidence by code, and derive facts from it."""
