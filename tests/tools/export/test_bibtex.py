"""The cited sources as BibTeX: what stands in an entry, and that no title breaks out of it."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from spadework.tools.export.bibtex import to_bibtex
from spadework.tools.text.markdown import plain
from spadework.values import CoveredTopic, Evidence, Report, Result, Section, Sentence
from tests.tools.export.results import HOSTILE, HOSTILE_URLS, evidence, full, result, source
from tests.tools.export.rich import rich

_TEX = {
    r"\textbackslash{}": "\\",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
}


def read(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """The kind, the key and the fields of every entry, as BibTeX reads them: a value goes to the
    brace that closes its first one, whatever stands before a brace.
    """
    found, at = [], 0
    while begin := re.compile(r"\s*@(\w+)\{([\w-]+),").match(text, at):
        at, fields = begin.end(), {}
        while field := re.compile(r"\s*(\w+) = (?=\{)").match(text, at):
            end = closed(text, field.end())
            assert field[1] not in fields
            fields[field[1]] = text[field.end() + 1 : end - 1]
            at = behind(r",", text, end)
        at = behind(r"\s*\}", text, at)
        found.append((begin[1], begin[2], fields))
    assert not text[at:].strip()
    return found


def behind(pattern: str, text: str, at: int) -> int:
    """Where what must stand here ends."""
    found = re.compile(pattern).match(text, at)
    assert found
    return found.end()


def closed(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    raise AssertionError("a brace is not closed")


def shown(value: str) -> str:
    """A value as TeX sets it. Fails at a character that works as a command there."""
    assert value.startswith("{")
    signs = re.findall(r"\\text\w+\{\}|\\[#$%&_]|[^\\{}#$%&_^~]", value[1:-1])
    assert "".join(signs) == value[1:-1]
    return "".join(_TEX.get(sign, sign.removeprefix("\\")) for sign in signs)


def cited(title: str, author: str, url: str) -> Result:
    own = evidence("E1", "T", "words of the quote", url)
    ledger = (Evidence.model_validate(own.model_dump() | {"author": author}),)
    document = Report(
        title="Q?",
        sections=(Section(heading="T", sentences=(Sentence(text="So.", evidence_ids=("E1",)),)),),
    )
    topics = (CoveredTopic(name="T", covered=True, score=1.0, evidence=ledger),)
    return result(document, topics, (source(7, url, title, title),))


def test_an_entry_says_what_was_cited_and_when_it_was_read() -> None:
    [first, second, third] = read(to_bibtex(rich()))
    assert first == (
        "online",
        "example-org-1",
        {
            "title": "{The guide to sluices}",
            "author": r"{Ada \& Bo}",
            "year": "2025",
            "date": "2025-05-06",
            "organization": "example.org",
            "url": "https://www.example.org/guide",
            "urldate": "2026-03-04",
        },
    )
    assert second[2]["url"] == "https://blog.example.net/a?b=1&c=2"
    assert (third[0], third[2]["howpublished"]) == ("misc", "library://notes/my plan.md")


def test_only_what_is_cited_stands_in_it_each_under_its_own_key() -> None:
    keys = [key for _, key, _ in read(to_bibtex(full()))]
    assert keys == ["example-org-1", "example-net-2", "notes-3"]
    nothing = full().model_copy(update={"document": Report(title="Q?")})
    assert to_bibtex(nothing) == ""


_words = st.lists(
    st.sampled_from((*HOSTILE, "{", "}", "\\", '"', "},\n@online{x,", "%", "and", "$^_~#&"))
    | st.text(max_size=9),
    max_size=5,
).map("".join)


@given(_words, _words, st.sampled_from(HOSTILE_URLS) | st.text(max_size=40))
def test_nothing_breaks_an_entry(title: str, author: str, url: str) -> None:
    of = cited(title, author, url)
    [(_, key, fields)] = read(to_bibtex(of))
    seen = plain(of.sources[0].title or of.sources[0].url)
    assert shown(fields["title"]).split() == seen.split()
    if "author" in fields:
        assert shown(fields["author"]).split() == plain(of.topics[0].evidence[0].author).split()
    assert key.endswith("-7")
    assert not set(fields.get("url", "")) & set("{}\\ ")
