"""Decide how much work to spend on a question, and forecast it."""
