"""Check evidence by code, and compute what it can add."""
