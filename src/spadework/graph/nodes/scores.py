"""Score events of a round: each topic's coverage before and after, and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spadework.events import Scored
from spadework.values import Coverage


def score_topics(
    round_: int, before: Mapping[str, Coverage], after: Mapping[str, Coverage]
) -> Iterator[Scored]:
    """Yield an event for each topic judged in a round. Only a model rates quality."""
    for name, coverage in after.items():
        old = before.get(name)
        known = old.evidence_ids if old else ()
        new = tuple(id_ for id_ in coverage.evidence_ids if id_ not in known)
        yield Scored(
            topic=name,
            round=round_,
            before=old.score if old else 0.0,
            score=coverage.score,
            quality_before=old.quality.mean if old and old.quality else None,
            quality=coverage.quality.mean if coverage.quality else None,
            by="model" if coverage.quality else "code",
            why=_why(old, coverage, len(new)),
            evidence=new,
        )


def checked_scores(
    round_: int, before: Mapping[str, Coverage], after: Mapping[str, Coverage]
) -> Iterator[Scored]:
    """Yield events for topics whose score changed when the report was verified."""
    for name, coverage in after.items():
        old = before.get(name)
        if old is not None and old.score != coverage.score:
            yield Scored(
                topic=name,
                round=round_,
                step="verify",
                before=old.score,
                score=coverage.score,
                by="code",
                why="Quotes that no longer stand in their pages prove nothing.",
            )


def _why(old: Coverage | None, coverage: Coverage, new: int) -> str:
    if new:
        said = f"{new} new {'quote' if new == 1 else 'quotes'}"
        return f"{said} of {len(coverage.evidence_ids)} in all."
    if old is None:
        return "Nothing was found that proves it."
    if old.score == coverage.score:
        return "Nothing new was proven, so it stays."
    same = len(coverage.evidence_ids)
    return f"Judged anew on the same {'quote' if same == 1 else f'{same} quotes'}."
