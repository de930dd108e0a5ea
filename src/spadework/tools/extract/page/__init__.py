"""Read HTML: parse, split into blocks, score them and write Markdown."""
