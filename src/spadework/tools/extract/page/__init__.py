"""Read HTML: parse once, split into blocks, score them and write Markdown."""
