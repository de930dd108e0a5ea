"""Constants of the HTML reader. The limits were set by testing hostile pages, and the other values
by running `benchmarks/reading_sweep.py`.
"""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper than this are written at this depth.
MOST_LIST_DEPTH = 10
#: Maximum characters in a cell of a data table. A table with a longer cell counts as layout.
MOST_CELL_CHARS = 4_000
#: Minimum characters in a `<noscript>` that holds content, as in forums. A shorter `<noscript>`
#: holds a tracking image.
LEAST_NOSCRIPT_CHARS = 400
#: Maximum characters read per page.
MOST_CHARS = 10_000_000
#: Maximum tags read per page. A page of 80,000 paragraphs takes two seconds.
MOST_TAGS = 80_000
#: Maximum nesting of elements. Lexbor parses 6,000 levels in 50 ms and 40,000 in 2.3 s.
MOST_NESTING = 6_000
#: Maximum formatting elements that the parser reopens. 250,000 take 0.5 s and 60 MB.
MOST_REOPENED = 250_000
#: Pages with fewer opening tags are not checked for nesting.
HARMLESS_TAGS = 1_000
#: Pages shorter than this are not checked for long tags.
HARMLESS_BYTES = 60_000
#: Minimum characters in a known container, such as `<main>`. If it holds fewer, the rest of the
#: page is considered too.
LONG_ENOUGH = 100
#: Minimum share of a known container that is not links, repetitions or labels (0–1).
CLEAN_ENOUGH = 0.75
#: Minimum share of the page's likely content that a known container must hold.
CONTAINER_SHARE = 0.7
#: Minimum probability at which a block in a known container is kept.
CONTAINER_BAR = 0.1
#: Minimum probability at which a block is kept, as a multiple of the threshold with the best
#: expected F1.
BAR = 1.2
#: Exceptions to BAR. Articles have more noise, documentation has less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far a block's probability moves towards the mean of similar blocks (0–1).
LEVELLED = 0.5
#: On a page with at most this many blocks, everything except boilerplate markup is content.
FEW_BLOCKS = 4
#: The title is an h1 above the first kept block with at least this many characters.
TITLED_CHARS = 120
#: A definition list is kept whole if its definitions have a mean length of at least DEFINED_CHARS
#: and its probability is at least DEFINED times the page's threshold.
DEFINED_CHARS, DEFINED = 40, 0.8
#: A page with fewer expected content characters than this counts as having no content, unless it
#: is small (SMALL_PAGE_BYTES).
LIKELY_CHARS = 100
#: If the scorer finds no content, all of a page with at most this much HTML counts as content.
SMALL_PAGE_BYTES = 12_000
#: Blocks shorter than this are kept even if they are repeated.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: If a page shows fewer characters than this, text from its embedded data is added.
THIN_CHARS = 250
#: Minimum characters of a text taken from embedded data.
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known containers hold no offers or comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Minimum probability at which code is kept. It also applies to tables on pages of
#: CONTAINED_KINDS.
CODE_BAR = 0.05
#: Hidden elements with more text than this count as visible, because a script will show them.
MOST_HIDDEN_CHARS = 200
#: Maximum characters of style sheets that are read.
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell may span.
MOST_SPAN = 20
