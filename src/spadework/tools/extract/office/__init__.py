"""Readers for Office files: Word, PowerPoint, Excel, OpenDocument and RTF."""
