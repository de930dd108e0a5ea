"""Write cited sources as BibTeX: web pages as @online, library documents as @misc."""

from __future__ import annotations

import re

from spadework.tools.export.layout import runs
from spadework.tools.export.markdown_report import safe_url
from spadework.tools.export.sheet import words
from spadework.values import Evidence, Result, Source

#: TeX command names of special characters.
_COMMANDS = {"\\": "backslash", "{": "braceleft", "}": "braceright", "^": "asciicircum"}
_TEX = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in (_COMMANDS | {"~": "asciitilde"}).items()}
    | {sign: f"\\{sign}" for sign in "#$%&_"}
)
_NO_KEY = re.compile(r"[^a-z0-9]+")


def to_bibtex(result: Result) -> str:
    """Return the cited sources as BibTeX, ordered by number, or "" if there are none."""
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    cited: dict[str, Evidence] = {}
    sentences = (one for section in result.document.sections for one in section.sentences)
    for id_ in (id_ for one in sentences for id_ in one.evidence_ids if id_ in ledger):
        cited.setdefault(ledger[id_].url, ledger[id_])
    return "\n".join(_entry(s, cited[s.url]) for s in result.sources if s.url in cited)


def _entry(source: Source, quoted: Evidence) -> str:
    url = safe_url(source.url)
    web = url.startswith("http")
    fields: dict[str, str] = {
        # Double braces preserve capitals and names that contain "and" or a comma.
        "title": f"{{{_escape_tex(source.title or source.url)}}}",
        "author": f"{{{_escape_tex(quoted.author)}}}" if quoted.author.strip() else "",
        "year": f"{source.published_at:%Y}" if source.published_at else "",
        "date": source.published_at.date().isoformat() if source.published_at else "",
        "organization": _escape_tex(source.domain),
        "publisher": _escape_tex(source.published_by),
        "url" if web else "howpublished": url if web else _escape_tex(source.url),
        "urldate": quoted.fetched_at.date().isoformat(),
    }
    # For example `docs-example-org-3`.
    key = f"{_NO_KEY.sub('-', source.domain.lower()).strip('-') or 'source'}-{source.n}"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{'online' if web else 'misc'}{{{key},\n{lines}}}\n"


def _escape_tex(text: str) -> str:
    return words(runs(text)).translate(_TEX)
