"""The dense half of a search: passages and questions as vectors, and which are nearest."""
