"""Decide how much work a question gets, and estimate it."""
