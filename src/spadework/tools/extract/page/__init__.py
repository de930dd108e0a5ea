"""The HTML reader: parse once, walk into blocks, score them, write Markdown."""
