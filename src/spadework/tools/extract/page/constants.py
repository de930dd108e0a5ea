"""The HTML reader's constants: limits tuned on hostile pages, others by reading_sweep.py."""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper are written at this depth.
MOST_LIST_DEPTH = 10
#: A cell longer than this is layout, not data.
MOST_CELL_CHARS = 4_000
#: A `<noscript>` with this much text is content (in forums), not a tracking image.
LEAST_NOSCRIPT_CHARS = 400
#: Maximum characters read of a page.
MOST_CHARS = 10_000_000
#: Maximum tags read of a page: 80,000 paragraphs take two seconds.
MOST_TAGS = 80_000
#: Maximum nested elements: lexbor parses 6,000 in 50 ms, 40,000 in 2.3 s.
MOST_NESTING = 6_000
#: Maximum formatting elements that the parser reopens: 250,000 take 0.5 s and 60 MB.
MOST_REOPENED = 250_000
#: Pages with fewer opening tags are not checked for nesting.
HARMLESS_TAGS = 1_000
#: Shorter pages are not checked for long tags.
HARMLESS_BYTES = 60_000
#: Minimum characters in a known container that is read alone.
LONG_ENOUGH = 100
#: Minimum cleanliness of a known container (0–1).
CLEAN_ENOUGH = 0.75
#: Minimum share of a page's likely content in a known container.
CONTAINER_SHARE = 0.7
#: Minimum chance of a block in a known container.
CONTAINER_BAR = 0.1
#: Minimum chance of a block, as a multiple of the one with the best expected F1.
BAR = 1.2
#: Exceptions to BAR: articles have more noise, documentation has less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far a block's chance moves to the mean of equal blocks (0–1).
LEVELLED = 0.5
#: A page with so few blocks is all content, except boilerplate markup.
FEW_BLOCKS = 4
#: A page's title is above its first block of this length.
TITLED_CHARS = 120
#: Minimum mean length of definitions in a list kept whole, and its chance as a share of the bar.
DEFINED_CHARS, DEFINED = 40, 0.8
#: A page with fewer likely characters has no content.
LIKELY_CHARS = 100
#: A page no longer than this is all content if the scorer finds none.
SMALL_PAGE_BYTES = 12_000
#: Shorter paragraphs may be repeated.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: A page that shows less than this is read from the text in its data.
THIN_CHARS = 250
#: Minimum length of a text in a page's data.
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known container holds no offers or comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Minimum chance of code, and of tables in CONTAINED_KINDS.
CODE_BAR = 0.05
#: Hidden elements with more text will be shown by a script.
MOST_HIDDEN_CHARS = 200
#: Maximum length of style sheets read.
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell spans.
MOST_SPAN = 20
