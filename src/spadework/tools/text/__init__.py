"""Analyze the language, words and structure of text."""
