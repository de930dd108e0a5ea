"""Readers for PDF files, scans and images."""
