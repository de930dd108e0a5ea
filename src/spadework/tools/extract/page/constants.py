"""The HTML reader's tuned numbers: limits by hostile pages, others by reading_sweep.py."""

from __future__ import annotations

#: Elements nested deeper than this count as standing side by side.
MOST_DEPTH = 400
#: Lists and quotations nested deeper than this are written at this depth.
MOST_LIST_DEPTH = 10
#: A cell longer than this is a part of the page, not a datum.
MOST_CELL_CHARS = 4_000
#: A `<noscript>` with more text than this is the page for readers without scripts (as forums send
#: it), not a tracking image.
LEAST_NOSCRIPT_CHARS = 400
#: So much of a page is read, in characters and in tags. 80,000 paragraphs take two seconds.
MOST_CHARS = 10_000_000
MOST_TAGS = 80_000
#: Parsing 6,000 nested elements takes lexbor 50 ms, 40,000 take 2.3 s.
MOST_NESTING = 6_000
#: Formatting elements that the parser may open again: 250,000 take half a second and 60 MB.
MOST_REOPENED = 250_000
#: So few opening tags or bytes can do no harm, and are not counted one by one.
HARMLESS_TAGS = 1_000
HARMLESS_BYTES = 60_000
#: A known container is read alone with so many characters, so clean, with so much of the likely.
LONG_ENOUGH = 100
CLEAN_ENOUGH = 0.75
CONTAINER_SHARE = 0.7
#: Inside an accepted container a block is left out only below this chance.
CONTAINER_BAR = 0.1
#: The scorer's cut, as a multiple of the one with the best expected F1: a page's word of noise
#: costs more than one lost.
BAR = 1.2
#: The same for kinds of page that other sets than the fitted ones defend: articles come with more
#: noise, documentation with less.
BARS = {"article": 1.3, "documentation": 1.0}
#: How far a block's chance moves to the mean of those of the same make.
LEVELLED = 0.5
#: So few blocks are the page itself, but for what its markup calls furniture.
FEW_BLOCKS = 4
#: A page's title stands over its first block of this length.
TITLED_CHARS = 120
#: What stands alone under a heading that is taken needs this share of the bar.
HEADED = 0.7
#: The last block of an element is taken where so many before it, alike, are: 34 blocks of 889 web
#: pages, of which no figure moves by more than .0003; newspaper4k's articles gain .001.
ALIKE = 3
#: A definition list whose definitions have this many characters on average is read whole where it
#: has this share of the bar on average: half of its terms would tell what is wrong.
DEFINED_CHARS, DEFINED = 40, 0.8
#: With fewer likely characters a page has no content (a shell for scripts, a block page).
LIKELY_CHARS = 100
#: A page with so little markup is its own content where the scorer finds nothing.
SMALL_PAGE_BYTES = 12_000
#: A paragraph from this length on is written once.
LEAST_REPEATED_CHARS = 20
FURNITURE = frozenset((
    "tag:header", "tag:footer", "tag:nav", "tag:aside", "tag:form", "tag:button",
    "role:navigation", "role:banner", "role:contentinfo",
))  # fmt: skip
#: Text of JSON data is taken when a page shows less than this, in pieces of at least so much.
THIN_CHARS = 250
LEAST_EMBEDDED_CHARS = 140
MOST_EMBEDDED_CHARS = 200_000
#: Kinds of page whose known container is read whole; others hold offers and comments in it.
CONTAINED_KINDS = frozenset(("documentation",))
#: Code is taken from this chance on, and on such pages tables as well.
CODE_BAR = 0.05
#: A script will show a hidden element with more text. So much of style sheets is looked at.
MOST_HIDDEN_CHARS = 200
MOST_STYLE_CHARS = 100_000
#: A table cell that spans more columns or rows counts as this many.
MOST_SPAN = 20
