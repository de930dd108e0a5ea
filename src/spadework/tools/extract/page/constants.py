"""The HTML reader's tuned numbers: limits by hostile pages, the rest by reading_sweep.py."""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper are written at this depth.
MOST_LIST_DEPTH = 10
#: A longer cell is part of the layout, not data.
MOST_CELL_CHARS = 4_000
#: A `<noscript>` with more text is the page for readers without scripts (as in forums), not a
#: tracking image.
LEAST_NOSCRIPT_CHARS = 400
#: Maximum characters and tags read of a page. 80,000 paragraphs take two seconds.
MOST_CHARS = 10_000_000
MOST_TAGS = 80_000
#: Parsing 6,000 nested elements takes lexbor 50 ms, 40,000 take 2.3 s.
MOST_NESTING = 6_000
#: Maximum formatting elements that the parser reopens: 250,000 take 0.5 s and 60 MB.
MOST_REOPENED = 250_000
#: Fewer opening tags or bytes are harmless and not counted one by one.
HARMLESS_TAGS = 1_000
HARMLESS_BYTES = 60_000
#: A known container is read alone with this many characters, this clean, with this share of the
#: likely content.
LONG_ENOUGH = 100
CLEAN_ENOUGH = 0.75
CONTAINER_SHARE = 0.7
#: Inside an accepted container a block is dropped only below this chance.
CONTAINER_BAR = 0.1
#: The scorer's threshold, as a multiple of the one with the best expected F1: a word of noise
#: costs more than a lost one.
BAR = 1.2
#: The same for page kinds checked on other data sets: articles have more noise, documentation
#: less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far a block's chance moves to the mean of equal blocks.
LEVELLED = 0.5
#: With so few blocks, all except boilerplate markup is content.
FEW_BLOCKS = 4
#: A page's title belongs to its first block of this length.
TITLED_CHARS = 120
#: A definition list with definitions of this average length is kept whole from this share of the
#: threshold on average: half of its terms would mislead.
DEFINED_CHARS, DEFINED = 40, 0.8
#: With fewer likely characters a page has no content (a script shell, a block page).
LIKELY_CHARS = 100
#: A page with so little markup is all content where the scorer finds nothing.
SMALL_PAGE_BYTES = 12_000
#: Paragraphs of at least this length are written once.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: JSON text is used when a page shows less than this, in pieces of at least this length.
THIN_CHARS = 250
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known container is read whole; in others it holds offers and comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Minimum chance for code, and for tables on such pages.
CODE_BAR = 0.05
#: A hidden element with more text will be shown by a script. Style sheets are read this far.
MOST_HIDDEN_CHARS = 200
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell spans.
MOST_SPAN = 20
