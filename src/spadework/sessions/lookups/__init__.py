"""Searching and reading pages without a report."""
