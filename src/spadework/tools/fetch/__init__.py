"""Fetch pages from the web safely."""
