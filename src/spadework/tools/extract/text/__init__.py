"""Formats of text: Markdown, reStructuredText, feeds, mail, tables."""
