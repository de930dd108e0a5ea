"""Finished sessions written into a home folder, as a run would have left them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from spadework.tools.export.markdown_report import to_markdown
from spadework.values import (
    Citation,
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


def put(home: Path, result: Result, pages: dict[str, str]) -> str:
    """Write a session with its pages by content hash; its id."""
    folder = home / "sessions" / result.session_id
    (folder / "pages").mkdir(parents=True)
    metadata = {
        "id": result.session_id,
        "created_at": READ.isoformat(),
        "query": result.question,
        "status": result.status,
        "results_summary": {
            "covered": sum(topic.covered for topic in result.topics),
            "topics": len(result.topics),
            "evidence": result.evidence_count,
        },
    }
    (folder / "session_metadata.json").write_text(
        json.dumps(metadata | {"attachments": [], "settings": {}, "limits": {}, "follows": ""})
    )
    (folder / "result.json").write_text(result.model_dump_json())
    ledger = [e for topic in result.topics for e in topic.evidence]
    (folder / "evidence.jsonl").write_text("".join(e.model_dump_json() + "\n" for e in ledger))
    for name, text in pages.items():
        (folder / "pages" / f"{name}.md").write_text(text)
    return result.session_id


def large(
    session_id: str, *, sources: int = 200, sections: int = 20, sentences: int = 25
) -> tuple[Result, dict[str, str]]:
    """A report of about 20 printed pages over many sources, each sentence with a quote of its
    own.
    """
    ledger, pages, topics, made = {}, {}, [], []
    for s in range(sections):
        own = []
        for i in range(sentences):
            n = s * sentences + i
            quote = (
                f"In the year {1500 + n} the harbour master wrote down {n} ships, their cargo, and"
                " the names of those who sailed them home."
            )
            source = n % sources
            text = pages.get(f"h{source}", f"# Register {source}\n")
            start = len(text) + 1
            pages[f"h{source}"] = f"{text}\n{quote}\n"
            own.append(
                Evidence(
                    id=f"E{n + 1}",
                    topic=f"Period {s}",
                    quote=quote,
                    url=f"https://register{source}.example/{source}",
                    start=start,
                    end=start + len(quote),
                    content_hash=f"h{source}",
                    fetched_at=READ,
                    origin=f"o{source}",
                )
            )
        ledger |= {e.id: e for e in own}
        topics.append(
            CoveredTopic(name=f"Period {s}", covered=True, score=0.9, evidence=tuple(own))
        )
        made.append(
            Section(
                heading=f"Period {s}",
                sentences=tuple(Sentence(text=e.quote, evidence_ids=(e.id,)) for e in own),
            )
        )
    listed = tuple(
        Source(
            n=n + 1,
            url=f"https://register{n}.example/{n}",
            title=f"Register {n} of the harbour",
            domain=f"register{n}.example",
            level=0,
            relevance=0.5,
            trust=0.6,
            content_hash=f"h{n}",
        )
        for n in range(sources)
    )
    document = Report(title="What do the registers say?", sections=tuple(made))
    citations = tuple(
        Citation(sentence=e.quote, evidence_id=e.id, verdict="supported") for e in ledger.values()
    )
    result = Result(
        session_id=session_id,
        question=document.title,
        status="completed",
        mode="model",
        confidence=0.9,
        topics=tuple(topics),
        sources=listed,
        report=to_markdown(document, ledger, listed),
        document=document,
        citations=citations,
        usage=Usage(pages=sources),
    )
    return result, pages
