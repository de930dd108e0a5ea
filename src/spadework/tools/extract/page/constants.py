"""Constants of the HTML reader.
Limits were set on hostile pages, other values by `reading_sweep.py`.
"""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper than this are written at this depth.
MOST_LIST_DEPTH = 10
#: Maximum characters in a data cell. A table with a longer cell is layout.
MOST_CELL_CHARS = 4_000
#: Minimum characters in a `<noscript>` with content, as in forums. Shorter ones hold tracking
#: images.
LEAST_NOSCRIPT_CHARS = 400
#: Maximum characters read per page.
MOST_CHARS = 10_000_000
#: Maximum tags read per page. 80,000 paragraphs take two seconds.
MOST_TAGS = 80_000
#: Maximum nesting of elements. Lexbor parses 6,000 levels in 50 ms and 40,000 in 2.3 s.
MOST_NESTING = 6_000
#: Maximum formatting elements that the parser reopens. 250,000 take 0.5 s and 60 MB.
MOST_REOPENED = 250_000
#: Pages with fewer opening tags are not checked for nesting.
HARMLESS_TAGS = 1_000
#: Pages shorter than this are not checked for long tags.
HARMLESS_BYTES = 60_000
#: Minimum characters in a known container for its content alone to be read.
LONG_ENOUGH = 100
#: Minimum cleanliness of a known container, 0–1.
CLEAN_ENOUGH = 0.75
#: Minimum share of the page's likely content that a known container must hold.
CONTAINER_SHARE = 0.7
#: Minimum probability of a block in a known container.
CONTAINER_BAR = 0.1
#: Minimum probability of a block, as a multiple of the threshold with the best expected F1.
BAR = 1.2
#: Exceptions to BAR. Articles have more noise, documentation has less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far a block's probability moves to the mean of equal blocks, 0–1.
LEVELLED = 0.5
#: A page with at most this many blocks is all content, except boilerplate markup.
FEW_BLOCKS = 4
#: The title is taken from above the first block with at least this many characters.
TITLED_CHARS = 120
#: Minimum mean length of definitions in a list kept whole, and the list's minimum probability
#: relative to the page's threshold.
DEFINED_CHARS, DEFINED = 40, 0.8
#: A page with fewer likely content characters has no content, unless it is small (see below).
LIKELY_CHARS = 100
#: Maximum length of a page that is all content if the scorer finds none.
SMALL_PAGE_BYTES = 12_000
#: Blocks shorter than this may repeat.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: A page that shows fewer characters is read from its embedded data.
THIN_CHARS = 250
#: Minimum characters in a text from embedded data.
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known container holds no offers or comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Minimum probability of code, and of tables in CONTAINED_KINDS.
CODE_BAR = 0.05
#: Hidden elements with more text than this count as visible, because a script will show them.
MOST_HIDDEN_CHARS = 200
#: Maximum style sheet characters read.
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell may span.
MOST_SPAN = 20
