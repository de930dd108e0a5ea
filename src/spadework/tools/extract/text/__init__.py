"""Readers for text formats: Markdown, reStructuredText, feeds, e-mail and tables."""
