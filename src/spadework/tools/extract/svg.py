"""Drawings (SVG) as Markdown: their title, what they say of themselves, and the words that stand in
them.
"""

from __future__ import annotations

from collections.abc import Iterator

from spadework.errors import Unreadable
from spadework.tools.dates import moment
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.kinds import file_name
from spadework.tools.extract.writing import blocks, heading, plain
from spadework.tools.extract.xml_tree import Element, attribute, below, child, tag, text


def read_svg(root: Element, url: str) -> Extracted:
    """The words of a drawing in the order of the file. Raises Unreadable where there are none."""
    about = next(below(root, "Work"), None)
    title = text(child(root, "title")) or text(child(about, "title"))
    parts = [heading(title, 1), plain(text(child(root, "desc"))), *_words(root)]
    markdown = blocks(parts)
    if not markdown:
        raise Unreadable("The drawing has no words in it.")
    return Extracted(
        title=title or file_name(url),
        markdown=markdown,
        author=text(child(about, "creator")),
        published_at=moment(text(child(about, "date"))),
        language=attribute(root, "lang").split("-")[0].lower(),
        kind="image",
    )


def _words(root: Element) -> Iterator[str]:
    """Each text that is shown; of those for programs that cannot show HTML, none."""
    for element in below(root, "text", "foreignObject"):
        around = element.getparent()
        instead = (
            tag(element) == "text"
            and tag(around) == "switch"
            and child(around, "foreignObject") is not None
        )
        if (
            not instead
            and attribute(element, "display") != "none"
            and attribute(element, "visibility") != "hidden"
        ):
            yield plain(" ".join(" ".join(element.itertext()).split()))
