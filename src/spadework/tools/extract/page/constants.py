"""Constants of the HTML reader. Limits guard against hostile pages. Other values come from
`benchmarks/reading_sweep.py`.
"""

from __future__ import annotations

#: Elements nested deeper than this are treated as siblings.
MOST_DEPTH = 400
#: Lists and quotations nested deeper than this are written at this depth.
MOST_LIST_DEPTH = 10
#: Maximum characters in a cell of a data table. A table with a longer cell counts as layout.
MOST_CELL_CHARS = 4_000
#: A `<noscript>` element with fewer characters than this counts as a tracking image.
LEAST_NOSCRIPT_CHARS = 400
#: Maximum characters read per page.
MOST_CHARS = 10_000_000
#: Maximum number of tags read per page. Parsing 80,000 paragraphs takes two seconds.
MOST_TAGS = 80_000
#: Maximum nesting depth of elements. Lexbor parses 6,000 levels in 50 ms and 40,000 in 2.3 s.
MOST_NESTING = 6_000
#: Maximum number of times that the parser may reopen formatting elements on a page. 250,000 times
#: take 0.5 s and 60 MB.
MOST_REOPENED = 250_000
#: Pages with fewer opening tags than this are not checked for excessive nesting.
HARMLESS_TAGS = 1_000
#: Pages with at most this many characters are not checked for long tags.
HARMLESS_BYTES = 60_000
#: A known container (such as `<main>`) with fewer characters than this is ignored.
LONG_ENOUGH = 100
#: A known container is used only if at least this fraction of its text is outside links,
#: repetitions and labels.
CLEAN_ENOUGH = 0.75
#: A known container is used only if it holds at least this fraction of the page's likely content.
CONTAINER_SHARE = 0.7
#: A block in a known container is kept if its probability of being content exceeds this.
CONTAINER_BAR = 0.1
#: A block is kept if its probability of being content exceeds BAR times the threshold that
#: maximizes the page's expected F1.
BAR = 1.2
#: Values that replace BAR for some page kinds. Articles have more noise, documentation has less.
BARS = {"article": 1.3, "documentation": 1.0}
#: A block's probability of being content is moved toward the mean of similar blocks by this
#: fraction (0–1) of the difference.
LEVELLED = 0.5
#: On pages with at most this many blocks, everything outside boilerplate elements is content.
FEW_BLOCKS = 4
#: If no h1 heading is among the content blocks, the last h1 above the first long content block is
#: added as the title. A block with at least this many characters is long.
TITLED_CHARS = 120
#: A definition list is kept whole if its definitions have at least DEFINED_CHARS characters on
#: average, and if its mean probability of being content exceeds DEFINED times the page's threshold.
DEFINED_CHARS, DEFINED = 40, 0.8
#: A page longer than SMALL_PAGE_BYTES counts as empty if the expected length of its content is less
#: than this many characters.
LIKELY_CHARS = 100
#: If the scorer finds no content in HTML of at most this length, all text outside boilerplate
#: elements is content.
SMALL_PAGE_BYTES = 12_000
#: Blocks with fewer characters than this are kept even if they are repeated.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: If a page's content has fewer characters than this, text from embedded data is added.
THIN_CHARS = 250
#: Texts from embedded data with fewer characters than this are ignored.
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Page kinds whose known containers (such as `<main>`) hold no offers or comments.
CONTAINED_KINDS = frozenset(("documentation",))
#: Code is kept if its probability of being content exceeds this. On pages of CONTAINED_KINDS, this
#: also applies to tables.
CODE_BAR = 0.05
#: Hidden elements with more characters than this count as visible, because scripts will show them.
MOST_HIDDEN_CHARS = 200
#: Maximum characters read from style sheets.
MOST_STYLE_CHARS = 100_000
#: Maximum columns or rows that a cell may span.
MOST_SPAN = 20
