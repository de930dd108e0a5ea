"""A question with what the user answered when asked back."""

from __future__ import annotations

import pytest

from spadework.agents.lead import clarify_question


@pytest.mark.parametrize(
    ("question", "answer", "asked", "made"),
    [
        ("What is Mercury?", "the planet", "", "What is Mercury (the planet)?"),
        ("What is it?", "Heron", "", "What is Heron?"),
        ("What is it?", "the old harbour", "", "What is the old harbour?"),
        ("What is it?", "it is about Heron", "", "What is it (it is about Heron)?"),
        ("Who sold it?", "Heron", "", "Who sold it (Heron)?"),
        ("What is it?", "Heron", "Which thing?", "What is it (Which thing? Heron)?"),
        ("What is it?", "", "", "What is it?"),
    ],
)
def test_an_answer_is_part_of_the_question(
    question: str, answer: str, asked: str, made: str
) -> None:
    assert clarify_question(question, answer, asked) == made
