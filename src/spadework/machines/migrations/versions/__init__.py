"""Numbered migrations. A released one is never changed."""
