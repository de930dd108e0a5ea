"""Asking the user back: the run stands still until there is an answer, and so does its clock."""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt

from spadework.events import Asked
from spadework.graph.desk import Desk


def ask_user(desk: Desk, asked: Asked) -> str:
    """What the user answers, "" for "go on". The node that asks runs again from its start when the
    answer is there.
    """
    desk.budget.pause()
    answer = interrupt(asked.model_dump(mode="json"))
    desk.budget.go_on()
    return in_words(answer)


def in_words(answer: Any) -> str:
    """An answer as text: Studio and other clients may send true, a list of topics, or an object
    that holds one.
    """
    if isinstance(answer, dict):
        answer = answer.get("topics") or answer.get("answer") or ""
    if isinstance(answer, list):
        return "\n".join(
            str(line.get("name", "") if isinstance(line, dict) else line) for line in answer
        )
    return answer.strip() if isinstance(answer, str) else ""
