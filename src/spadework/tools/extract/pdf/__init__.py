"""PDF files, scans and images."""
