"""Detect a text's language, words and structure."""
