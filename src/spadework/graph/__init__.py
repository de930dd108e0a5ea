"""The loop: start reading at research.py."""
