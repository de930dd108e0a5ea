"""Cited sources as BibTeX: web addresses are @online, library documents @misc."""

from __future__ import annotations

import re

from spadework.tools.export.layout import runs
from spadework.tools.export.markdown_report import safe_url
from spadework.tools.export.sheet import words
from spadework.values import Evidence, Result, Source

#: Escapes of TeX's special characters. Braces in values must be balanced.
_COMMANDS = {"\\": "backslash", "{": "braceleft", "}": "braceright", "^": "asciicircum"}
_TEX = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in (_COMMANDS | {"~": "asciitilde"}).items()}
    | {sign: f"\\{sign}" for sign in "#$%&_"}
)
_NO_KEY = re.compile(r"[^a-z0-9]+")


def to_bibtex(result: Result) -> str:
    """Return the cited sources of a result in order of their numbers; "" if there are none."""
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    cited: dict[str, Evidence] = {}
    for section in result.document.sections:
        for sentence in section.sentences:
            for id_ in sentence.evidence_ids:
                if id_ in ledger:
                    cited.setdefault(ledger[id_].url, ledger[id_])
    entries = [_entry(s, cited[s.url]) for s in result.sources if s.url in cited]
    return "\n".join(entries)


def _entry(source: Source, quoted: Evidence) -> str:
    url = safe_url(source.url)
    web = url.startswith("http")
    fields: dict[str, str] = {
        # Double braces keep capitals, and keep a name with "and" or a comma whole.
        "title": f"{{{_escape_tex(source.title or source.url)}}}",
        "author": f"{{{_escape_tex(quoted.author)}}}" if quoted.author.strip() else "",
        "year": f"{source.published_at:%Y}" if source.published_at else "",
        "date": source.published_at.date().isoformat() if source.published_at else "",
        "organization": _escape_tex(source.domain),
        "publisher": _escape_tex(source.published_by),
        "url" if web else "howpublished": url if web else _escape_tex(source.url),
        "urldate": quoted.fetched_at.date().isoformat(),
    }
    # Host and number in the report, such as `docs-example-org-3`.
    key = f"{_NO_KEY.sub('-', source.domain.lower()).strip('-') or 'source'}-{source.n}"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{'online' if web else 'misc'}{{{key},\n{lines}}}\n"


def _escape_tex(text: str) -> str:
    return words(runs(text)).translate(_TEX)
