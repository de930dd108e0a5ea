"""Read HTML: parse it, split it into blocks, score the blocks and write Markdown."""
