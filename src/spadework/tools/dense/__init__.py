"""Embed passages and questions, and search for nearest neighbours."""
