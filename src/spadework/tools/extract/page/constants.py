"""Constants of the HTML reader. Limits come from hostile pages, other values from
`benchmarks/reading_sweep.py`.
"""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper are written at this depth.
MOST_LIST_DEPTH = 10
#: Maximum characters in a data table's cell. Longer cells indicate layout.
MOST_CELL_CHARS = 4_000
#: Minimum characters in a `<noscript>` with content. A shorter one is a tracking image.
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
#: Minimum characters in a known container (`<main>`). Below it, the whole page is considered.
LONG_ENOUGH = 100
#: Minimum share of a known container that is not links, repetitions or labels (0–1).
CLEAN_ENOUGH = 0.75
#: Minimum share of a page's likely content in a known container.
CONTAINER_SHARE = 0.7
#: Minimum probability of a block kept in a known container.
CONTAINER_BAR = 0.1
#: Minimum probability of kept blocks, as a multiple of the best-F1 threshold.
BAR = 1.2
#: Exceptions to BAR. Articles have more noise, documentation has less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far probabilities move towards the mean of similar blocks (0–1).
LEVELLED = 0.5
#: Pages with at most this many blocks are content, except boilerplate markup.
FEW_BLOCKS = 4
#: The title is an h1 above the first kept block of this length.
TITLED_CHARS = 120
#: A definition list is kept whole if its definitions average DEFINED_CHARS and its probability is
#: at least DEFINED times the page's threshold.
DEFINED_CHARS, DEFINED = 40, 0.8
#: With fewer expected characters, a page counts as empty, unless small (SMALL_PAGE_BYTES).
LIKELY_CHARS = 100
#: Maximum HTML of a page that is all content if the scorer finds none.
SMALL_PAGE_BYTES = 12_000
#: Shorter blocks are kept even if they are repeated.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: Pages with fewer characters also show text from embedded data.
THIN_CHARS = 250
#: Minimum characters of a text taken from embedded data.
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known containers hold no offers or comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Minimum probability of kept code, and of tables on pages of CONTAINED_KINDS.
CODE_BAR = 0.05
#: Hidden elements with more text count as visible, because scripts will show them.
MOST_HIDDEN_CHARS = 200
#: Maximum characters of style sheets that are read.
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell may span.
MOST_SPAN = 20
