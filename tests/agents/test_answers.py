"""What an answer must hold, and what a page is about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.extractive.about import home, is_about
from spadework.agents.extractive.answers import answer_to
from spadework.tools.facts import stems
from spadework.values import Page


@pytest.mark.parametrize(
    ("question", "subject", "answer", "no_answer"),
    [
        (
            "Who invented the Quillon?",
            "Quillon",
            "The Quillon was invented by Ada Brant in 1911.",
            "The Quillon was invented long ago.",
        ),
        (
            "Who invented the Quillon?",
            "Quillon",
            "Ada Brant invented it.",
            "The Quillon is sold in Port Aldermere.",
        ),
        (
            "Who leads Ferrol Works?",
            "Ferrol Works",
            "Since May, Ferrol Works is led by Hugo Lind.",
            "Ferrol Works is led well.",
        ),
        (
            "Who wrote Starlette?",
            "Starlette",
            "Starlette was created by Tom Lind.",
            "As Starlette's `FileResponse` does, headers match GET.",
        ),
        (
            "Who wrote Starlette?",
            "Starlette",
            "It is Tom Lind's work.",
            "Like Starlette's JSONResponse, it takes Python's None.",
        ),
        (
            "Who wrote Starlette?",
            "Starlette",
            "Author: Tom Lind",
            "Create Telemetry spans for requests.",
        ),
        (
            "How many cranes has the port?",
            "port",
            "The port has twelve cranes.",
            "The port has many cranes.",
        ),
        (
            "When was the port founded?",
            "port",
            "It was founded in 1204.",
            "It was founded by fishermen.",
        ),
    ],
)
def test_an_answer_holds_what_its_question_asks_for(
    question: str, subject: str, answer: str, no_answer: str
) -> None:
    holds = answer_to(question, stems(subject))
    assert holds is not None
    assert holds(answer)
    assert not holds(no_answer)


def test_any_text_may_answer_another_question() -> None:
    assert answer_to("Why is the sky blue?", stems("sky")) is None


def page(url: str, title: str) -> Page:
    return Page(url=url, title=title, fetched_at=datetime.now(UTC), content_hash="h", chars=1)


@pytest.mark.parametrize(
    ("url", "title", "subject", "told"),
    [
        ("library://git/git-rebase.html", "git-rebase(1)", "git rebase", True),
        (
            "https://docs.example.org/x",
            "multiprocessing — Processes — Python 3.11.2 documentation",
            "multiprocessing",
            True,
        ),
        ("library://python/x.html", "13.1. Introduction", "python", True),
        (
            "library://filelock-4.2/filelock/asyncio.py",
            "filelock.asyncio: An asyncio-based lock",
            "asyncio",
            False,
        ),
        ("https://example.org/", "How to use git with pandas", "git", False),
    ],
)
def test_a_page_is_about_what_its_site_or_title_names(
    url: str, title: str, subject: str, told: bool
) -> None:
    assert is_about(page(url, title), [stems(subject)]) is told


def test_the_home_of_a_page_is_its_collection_without_version() -> None:
    assert home(page("library://python-3.11.7/argparse.py", "argparse")) == {"python"}
