"""Results to export: one that has everything a report can have, and one made wholly of values that
mean harm.
"""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.tools.export.markdown_report import to_markdown
from spadework.values import (
    CoveredTopic,
    Evidence,
    Report,
    Result,
    Section,
    Sentence,
    Source,
    Usage,
)

READ = datetime(2026, 3, 4, tzinfo=UTC)
PUBLISHED = datetime(2025, 5, 6, tzinfo=UTC)
CODE = 'if a < b and "c" not in d:\n    print(`a`)\n\treturn'
WEB, BLOG, NOTES = (
    "https://www.example.org/guide",
    "https://blog.example.net/a?b=1&c=2",
    "library://notes/my plan.md",
)


def evidence(
    id_: str,
    topic: str,
    quote: str,
    url: str,
    kind: str = "text",
    published: datetime | None = None,
) -> Evidence:
    return Evidence(
        id=id_,
        topic=topic,
        quote=quote,
        url=url,
        start=0,
        end=len(quote),
        content_hash="h",
        fetched_at=READ,
        published_at=published,
        origin=url,
        kind=kind,
        language="python" if kind == "code" else "",
    )


def source(n: int, url: str, title: str, domain: str, published: datetime | None = None) -> Source:
    return Source(
        n=n,
        url=url,
        title=title,
        domain=domain,
        level=0,
        relevance=0.5,
        trust=0.5,
        published_at=published,
        content_hash="h",
    )


def result(
    document: Report, topics: tuple[CoveredTopic, ...], sources: tuple[Source, ...]
) -> Result:
    ledger = {e.id: e for topic in topics for e in topic.evidence}
    return Result(
        session_id="s",
        question=document.title,
        status="time_limited",
        mode="extractive",
        confidence=0.7,
        topics=topics,
        sources=sources,
        report=to_markdown(document, ledger, sources),
        document=document,
        usage=Usage(pages=14),
    )


def full() -> Result:
    """A report with every kind of section, block and source."""
    found = {
        "Meaning": (
            evidence(
                "E1",
                "Meaning",
                "A **sluice** is a gate for [water](http://x.org/w).",
                WEB,
                published=PUBLISHED,
            ),
            evidence("E2", "Meaning", "There are 40 sluices.", WEB),
            evidence("E3", "Meaning", "There are 52 sluices.", BLOG),
        ),
        "Use": (
            evidence("E4", "Use", "Turn the `crank` slowly.", NOTES, "item"),
            evidence("E5", "Use", "Close it again.", NOTES, "item"),
            evidence("E6", "Use", CODE, BLOG, "code"),
        ),
        "Prices": (),
    }
    sections = (
        Section(
            heading="Summary",
            kind="summary",
            sentences=(Sentence(text="A sluice is a gate for water.", evidence_ids=("E1",)),),
        ),
        Section(
            heading="Meaning",
            sentences=(
                Sentence(
                    text="A **sluice** is a gate for [water](http://x.org/w).", evidence_ids=("E1",)
                ),
                Sentence(text="Counts differ.", evidence_ids=("E2", "E3")),
            ),
        ),
        Section(
            heading="Use",
            sentences=(
                Sentence(text="Turn the `crank` slowly.", evidence_ids=("E4",)),
                Sentence(text="Close it again.", evidence_ids=("E5",)),
                Sentence(text=CODE, evidence_ids=("E6",), code=True, language="python"),
            ),
        ),
        Section(
            heading="Disagreements",
            kind="conflicts",
            sentences=(
                Sentence(text="On “Meaning”, the sources give different numbers."),
                Sentence(text="40 sluices", evidence_ids=("E2",)),
                Sentence(text="52 sluices", evidence_ids=("E3",)),
            ),
        ),
        Section(
            heading="Not found",
            kind="limits",
            sentences=(Sentence(text="“Prices” was not answered. Nothing was found."),),
        ),
        Section(
            heading="Problems",
            kind="limits",
            sentences=(Sentence(text="shop.example.com: it answered 403."),),
        ),
        Section(
            heading="About this report",
            kind="limits",
            sentences=(Sentence(text="Searched: the notes. Pages read: 14."),),
        ),
    )
    scores = {"Meaning": 1.0, "Use": 0.4, "Prices": 0.0}
    topics = tuple(
        CoveredTopic(name=name, covered=name == "Meaning", score=scores[name], evidence=own)
        for name, own in found.items()
    )
    sources = (
        source(1, WEB, "The guide to sluices", "example.org", PUBLISHED),
        source(2, BLOG, "A blog", "example.net"),
        source(3, NOTES, "", "notes"),
        source(4, "https://uncited.example.com/", "Never cited", "example.com"),
    )
    return result(Report(title="What is a sluice?", sections=sections), topics, sources)


#: What stands in every format of `full()`, white space aside.
EVERYWHERE = (
    *(
        "What is a sluice?",
        "Summary",
        "A sluice is a gate for water.",
        "Counts differ.",
        "crank",
        "Close it again.",
        "python",
        "40 sluices",
    ),
    *(
        "Disagreements",
        "On “Meaning”, the sources give different numbers",
        "Not found",
        "“Prices” was not answered. Nothing was found.",
        "Problems",
        "it answered 403.",
    ),
    *(
        "About this report",
        "Searched: the notes.",
        "Sources",
        "The guide to sluices",
        "A blog",
        "2025-05-06",
        "if a < b",
        "print(`a`)",
    ),
)
#: What the drawn formats have besides: coverage and the quotes.
DRAWN = ("14 pages read, 3 cited", "There are 52 sluices.", "time limited", "library://notes")


def squeezed(text: str) -> str:
    """Text without white space, for formats that break lines."""
    return "".join(text.split())


HOSTILE = (
    *(
        "<script>alert(1)</script>",
        "</style><img src=x onerror=alert(1)>",
        '"><svg onload=alert(1)>',
        "' onmouseover='alert(1)",
        "{{ 7 * 7 }}",
    ),
    *(
        "{% include '/etc/passwd' %}",
        "javascript:alert(1)",
        "[x](javascript:alert(1))",
        "</pre></code><iframe src=//evil.example>",
        "-->",
        "]]>",
    ),
    *(
        "<!--",
        "&lt;script&gt;",
        "\x00\x08\x1b\ufffe",
        "<w:t>",
        "`</code><b>`",
        "data:text/html,<script>alert(1)</script>",
        "\u202e",
        "a\r\n# b",
    ),
)
HOSTILE_URLS = (
    *(
        "javascript:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "//evil.example",
    ),
    *(
        "file:///etc/passwd",
        "https://a.example/\"onclick='alert(1)'<b>",
        "https://a.example/) [x](javascript:alert(1)",
        "https://u:p@a.example/",
    ),
    *(
        "http://[::1",
        "https://a b/",
        "https://a.example/%zz%",
        "library://n/<script>",
        "https://a.example/\x00\x1f",
        "",
        "HTTP://A.example/ x",
    ),
)


def hostile(words: str, url: str) -> Result:
    """A result in which every string from outside is `words`, and every page is at `url`."""
    own = (
        evidence("E1", words, words or "x", url),
        evidence("E2", words, words, url, "code"),
        evidence("E3", words, words, url, "item"),
    )
    sentences = tuple(
        Sentence(
            text=words,
            evidence_ids=(e.id,),
            code=e.kind == "code",
            language=words if e.kind == "code" else "",
        )
        for e in own
    )
    sections = (
        Section(heading=words, sentences=sentences),
        Section(heading=words, kind="limits", sentences=(Sentence(text=words),)),
    )
    topics = (CoveredTopic(name=words, covered=True, score=1.0, evidence=own),)
    return result(Report(title=words, sections=sections), topics, (source(1, url, words, words),))
