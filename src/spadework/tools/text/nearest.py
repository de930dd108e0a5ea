"""Which of some texts is nearest to another by its words."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import stems


def nearest(text: str, others: Sequence[str]) -> list[int]:
    """The places of those texts that share a content word with `text`, most such words first."""
    code = spoken(text)
    said = stems(text, code)
    shared = [len(said & stems(other, code)) for other in others]
    return sorted((n for n, count in enumerate(shared) if count), key=lambda n: -shared[n])
