"""The text of a report: marks, sentences in context, and checks by code."""
