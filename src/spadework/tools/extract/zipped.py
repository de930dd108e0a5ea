"""Zip files by what is in them: Office documents, OpenDocument, e-books, or archives."""

from __future__ import annotations

from collections.abc import Callable

from spadework.tools.extract.archive import ReadMember, extract_zip_archive
from spadework.tools.extract.docx import extract_docx
from spadework.tools.extract.epub import extract_epub
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.odt import extract_odt
from spadework.tools.extract.package import Package
from spadework.tools.extract.pptx import extract_pptx
from spadework.tools.extract.xlsx import extract_xlsx

#: Office files by the folder of their main part.
_OFFICE: dict[str, Callable[[Package, str], Extracted]] = {
    "word": extract_docx,
    "xl": extract_xlsx,
    "ppt": extract_pptx,
}


def extract_zip(body: bytes, url: str, read: ReadMember | None) -> Extracted:
    """The content of a zip file; `read` reads the members of an archive, None leaves it closed.

    Raises Unreadable when it is damaged or encrypted, TooLarge over a limit.
    """
    package = Package(body, "file")
    reader = _OFFICE.get(package.main.partition("/")[0])
    if reader:
        return reader(package, url)
    if "META-INF/container.xml" in package.names:
        return extract_epub(package, url)
    if "content.xml" in package.names and "mimetype" in package.names:
        return extract_odt(package, url)
    return extract_zip_archive(body, url, read)
