"""Which code is wanted: source code, or one that another word names."""

from __future__ import annotations

import pytest

from spadework.agents.evidence.expectation import wants_code


@pytest.mark.parametrize(
    "asked",
    [
        "Show me example code for a pump",
        "What is the code to reverse a list?",
        "How do I write code that stops a pump?",
        "Give me Python code that stops a pump",
        "write code for a pump",
        "Which command stops the pump?",
    ],
)
def test_source_code_is_wanted(asked: str) -> None:
    assert wants_code(asked)


@pytest.mark.parametrize(
    "asked",
    [
        "What is the exit code when the pump stops?",
        "Which dress code applies on the pier?",
        "What do the error codes of the pump mean?",
        "What does code P0420 mean?",
        "exit code of the pump",
        "Welchen Exit-Code liefert die Pumpe?",
        "What does the pump cost?",
    ],
)
def test_a_code_that_is_named_is_no_source_code(asked: str) -> None:
    assert not wants_code(asked)
