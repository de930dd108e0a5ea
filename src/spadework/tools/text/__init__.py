"""The language, words and structure of a text."""
