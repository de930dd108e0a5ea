"""Numbered migrations. A released migration is never changed."""
