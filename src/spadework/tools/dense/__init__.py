"""Dense retrieval: embeddings of passages and questions, and nearest-neighbour search."""
