"""Which reader reads which kind of document. Each is loaded with the first document of its kind:
most runs meet two kinds, and the libraries of all take longer to load than a page to read.
"""

from __future__ import annotations

from collections.abc import Callable

from spadework.tools.extract.extracted import Extracted

ReadText = Callable[[str, str], Extracted]
ReadBytes = Callable[[bytes, str], Extracted]
#: Reads what holds other documents: it is told how to read these, or None where none is opened.
ReadHolder = Callable[[bytes, str, ReadBytes | None], Extracted]


def text_reader(kind: str) -> ReadText | None:
    """What reads a kind of text, given the text and its URL."""
    match kind:
        case "html":
            from spadework.tools.extract.html import extract

            return extract
        case "markdown":
            from spadework.tools.extract.markdown import clean_markdown

            return clean_markdown
        case "rst":
            from spadework.tools.extract.rst import extract_rst

            return extract_rst
        case "text":
            from spadework.tools.extract.text import extract_text

            return extract_text
        case "xml":
            from spadework.tools.extract.xml_text import extract_xml

            return extract_xml
        case "delimited":
            from spadework.tools.extract.delimited import extract_delimited

            return extract_delimited
    return None


def bytes_reader(kind: str) -> ReadBytes | None:
    """What reads a kind of document that is no text, given its bytes and its URL."""
    match kind:
        case "pdf":
            from spadework.tools.extract.pdf import extract_pdf

            return extract_pdf
        case "mail":
            from spadework.tools.extract.mail import extract_mail

            return extract_mail
        case "rtf":
            from spadework.tools.extract.rtf import extract_rtf

            return extract_rtf
        case "image":
            from spadework.tools.extract.image import extract_image

            return extract_image
    return None


def holder_reader(kind: str) -> ReadHolder | None:
    """What reads a kind of document that holds others."""
    match kind:
        case "zip":
            from spadework.tools.extract.zipped import extract_zip

            return extract_zip
        case "tar":
            from spadework.tools.extract.archive import extract_tar

            return extract_tar
        case "packed":
            from spadework.tools.extract.archive import extract_packed

            return extract_packed
    return None
