"""Find the language, words and structure of a text."""
