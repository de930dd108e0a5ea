"""Run the research loop; start reading at research.py."""
