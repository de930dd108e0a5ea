"""Embeddings of passages and questions, and nearest-neighbour search."""
