"""XML: feeds as entries, anything else as code, indented if its lines are long."""

from __future__ import annotations

import lxml.etree as etree

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import fence
from spadework.tools.extract.text.feed import FEEDS, read_feed
from spadework.tools.extract.xml import tag, xml_tree

#: XML with a longer line is machine-written and gets indented.
LONG_LINE = 1_000


def extract_xml(text: str, url: str) -> Extracted:
    """Return an XML file. Raises TooLarge with too many tags, Unreadable without any, or if a
    drawing.
    """
    root = xml_tree(text.encode("utf-8", "replace"), "XML")
    if tag(root) in FEEDS:
        return read_feed(root, url)
    if tag(root) == "svg":
        raise Unreadable("A drawing (SVG) is not read.")
    if tag(root) == "html":
        return extract(text, url)
    if max(map(len, text.split("\n"))) > LONG_LINE:
        etree.indent(root)
        text = etree.tostring(root, encoding="unicode")
    return Extracted(
        title=file_name(url), markdown=fence(text.replace("\r\n", "\n").strip(), "xml"), kind="xml"
    )
