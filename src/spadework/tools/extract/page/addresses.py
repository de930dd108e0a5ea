"""Links of a page made absolute and safe to stand in Markdown."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

_ENCODED = str.maketrans(
    {sign: f"%{ord(sign):02X}" for sign in ' ()<>\\"'} | dict.fromkeys("\n\t\r", "")
)


class Addresses:
    """Resolves the `href` values of one page against its address (or its `<base>`)."""

    def __init__(self, url: str, base: str = "") -> None:
        self._known: dict[str, str] = {}
        self._base = _join(url, base) if base else url
        try:
            parts = urlsplit(self._base)
            self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        except ValueError:
            self._origin = ""

    def absolute(self, href: str | None) -> str:
        """The absolute http(s) address of `href`; "" for a place on the page and other schemes."""
        href = (href or "").strip()
        if not href or href[0] == "#":
            return ""
        if href not in self._known:
            self._known[href] = self._resolved(href)
        return self._known[href]

    def _resolved(self, href: str) -> str:
        if href.startswith(("https://", "http://")):
            url = href
        elif href[0] == "/" and href[1:2] not in ("/", "\\") and self._origin:
            url = self._origin + href
        else:
            url = _join(self._base, href)
            if not url.startswith(("https://", "http://")):
                return ""
        return url.translate(_ENCODED)


def _join(base: str, href: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:  # such as "http://[broken"
        return ""
