"""Decide how much work a question gets, and forecast it."""
