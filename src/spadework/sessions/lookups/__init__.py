"""Searches and pages without a report."""
