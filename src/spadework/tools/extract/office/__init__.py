"""Office files: Word, PowerPoint, Excel, OpenDocument, RTF."""
