"""reStructuredText as Markdown, by docutils without all that reaches outside the text."""

from __future__ import annotations

from docutils import nodes
from docutils.core import Publisher
from docutils.io import NullOutput, StringInput
from docutils.parsers.rst import Parser
from docutils.readers.standalone import Reader
from docutils.writers.null import Writer

from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks
from spadework.tools.extract.text.plain_text import extract_text
from spadework.tools.extract.text.rst_lenient import lenient_parser
from spadework.tools.extract.text.rst_walker import Walker

_SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "line_length_limit": 1_000_000,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "sectsubtitle_xform": False,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "traceback": True,
    "warning_stream": "",
}
#: docutils takes a time that grows with the square of a paragraph's length.
_MAX_PARAGRAPH = 20_000


def extract_rst(text: str, url: str) -> Extracted:
    """reStructuredText as Markdown, code with its language; images and comments go.

    Roles and directives that docutils does not know (Sphinx's) keep their text; those that only
    steer a site are left out. What is no sensible reStructuredText (endless paragraphs, endless
    nesting) is read as plain text.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if max(map(len, text.split("\n\n"))) > _MAX_PARAGRAPH:
        return extract_text(text, url)
    walker = Walker(url)
    try:
        document = _parse(text)
        markdown = blocks(walker.read(document)) if document else ""
    except RecursionError:  # nested deeper than any text that is meant to be read
        return extract_text(text, url)
    return Extracted(
        title=walker.title,
        markdown=markdown + "\n" if markdown else "",
        links=tuple(dict.fromkeys(walker.links)),
        kind="documentation",
    )


def _parse(text: str) -> nodes.document | None:
    parser: Parser = lenient_parser()
    publisher = Publisher(
        Reader(parser), parser, Writer(), source_class=StringInput, destination_class=NullOutput
    )
    publisher.process_programmatic_settings(None, _SETTINGS, None)
    publisher.set_source(text, "document")
    publisher.publish()
    return publisher.document
