"""Fetching pages from the web, safely."""
