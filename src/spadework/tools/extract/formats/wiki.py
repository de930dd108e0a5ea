"""Read an article that MediaWiki rendered without its surrounding page."""

from __future__ import annotations

from html import escape
from urllib.parse import unquote, urlsplit

from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.html import extract


def extract_article(body: bytes, url: str) -> Extracted:
    """Return the article, with a title taken from the URL. Raises TooLarge or Unreadable."""
    title = escape(unquote(urlsplit(url).path.rpartition("/wiki/")[2]).replace("_", " "))
    return extract(
        f"<title>{title}</title><main><h1>{title}</h1>{decode(body, 'utf-8')}</main>", url
    )


FORMAT = Format("wiki", extract_article, media_types=("text/x-mediawiki-rendered",))
