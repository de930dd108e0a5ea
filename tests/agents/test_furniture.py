"""What is quoted of pages is whole, and not what they show beside their matter."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.judge import assess
from spadework.agents.extractive.lead import plan
from spadework.values import Page, Question

LINKS = (
    "\n\n| Prev | Up | Next |\n|--|--|--|\n| Springs of {0} | Home | Cranks |\n",
    "\n\n- Wind a spring\n- Buy a spring\n- Ask for {0}\n",
    "\n\nAsk the makers of springs about winding a spring\n",
)
TOLD = "# Spring {0}\n\nThe spring {0} is wound by hand {1} times."


def quotes(question: str, *pages: tuple[str, str]) -> list[str]:
    """What is quoted of pages, each an address and a text."""
    made = plan(Question(text=question), [])
    shown = [
        PassageView(
            Page(
                url=url,
                title=text.split("\n")[0].removeprefix("# "),
                fetched_at=datetime.now(UTC),
                content_hash=url,
                chars=len(text),
            ),
            0,
            text,
            score=1.0,
        )
        for url, text in pages
    ]
    return [spot.quote for spot in assess(made, made.topics[0], shown, ()).spots]


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize(("hosts", "quoted"), [(("a", "a"), False), (("a", "b"), True)])
def test_lines_on_several_pages_of_a_host_are_not_quoted(
    links: str, hosts: tuple[str, str], quoted: bool
) -> None:
    pages = [
        (f"https://{host}.example/{name}", (TOLD + links).format(name, times))
        for name, host, times in zip(("Alo", "Bem"), hosts, (30, 50), strict=True)
    ]
    found = quotes("Where may one ask makers, by hand or at times, next to cranks?", *pages)
    told = [page.split("\n\n")[1] for _, page in pages]
    assert {*told} & {*found}
    assert bool({*found} - {*told}) == quoted


def test_sentences_on_several_pages_of_a_host_are_quoted() -> None:
    told = "Wind a spring by hand.\n\n- Wind it in summer.\n- Wind it in winter.\n"
    pages = [(f"https://a.example/{n}", f"# {n}\n\n{told}") for n in "ab"]
    found = quotes("When do I wind a spring by hand?", *pages)
    assert {"Wind a spring by hand.", "Wind it in winter."} <= {*found}


def test_a_list_of_the_headings_of_a_page_is_not_quoted() -> None:
    text = (
        "# Springs\n\nThis page tells how springs are wound:\n\n- Winding springs\n"
        "- 2. Oiling springs\n\n## 1. Winding springs\n\nSprings are wound by hand.\n"
    )
    url = "https://a.example/springs"
    found = quotes("How are springs wound?", (url, text))
    assert found == ["Springs are wound by hand."]


def test_a_caption_leads_to_no_row_of_its_table_and_a_sentence_does() -> None:
    table = "| Spring | Turns | Maker |\n|---|---|---|\n| Alo | 30 | Norland |\n"
    question = "How many turns has the spring Alo of Norland?"
    for above, quoted in (("**Table 3.1. Turns of springs**", False), ("Of turns it has:", True)):
        found = quotes(question, ("https://a.example/alo", f"# Alo\n\n{above}\n\n{table}"))
        assert any("| Alo | 30" in quote for quote in found)
        assert any("urns of springs" in quote or quote == above for quote in found) == quoted


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (
            "(The spring Alo is wound in summer. It is wound by hand.)",
            "(The spring Alo is wound in summer. It is wound by hand.)",
        ),
        (
            "The spring Alo of the makers of Norland is wound by hand,\n\nas often as its crank"
            " turns in summer.",
            "is wound by hand,+as often as its crank turns in summer.",
        ),
    ],
)
def test_what_is_one_sentence_is_quoted_whole(text: str, whole: str) -> None:
    question = "How is the spring Alo wound by hand, and what turns its crank in summer?"
    found = "+".join(quotes(question, ("https://a.example/alo", f"# Alo\n\n{text}\n")))
    assert whole in found


@pytest.mark.parametrize(
    "text", ["How is the spring Alo wound by hand?", "Winding the spring Alo..."]
)
def test_what_leads_to_what_is_not_there_is_not_quoted(text: str) -> None:
    told = "The spring Alo is wound by hand."
    url = "https://a.example/alo"
    assert quotes("How is the spring Alo wound?", (url, f"# Alo\n\n{text}\n\n{told}\n")) == [told]


@pytest.mark.parametrize(
    "dateline", ["KELLING, Vess. (VPA) — ", "PORT KELLING — ", "(VPA) — ", "ST. KELLING (VPA) – "]
)
def test_the_dateline_of_a_story_is_not_quoted(dateline: str) -> None:
    text = f"# Ferry\n\n{dateline}The ferry of Kelling leaves on May 4 again.\n"
    found = quotes("When does the ferry leave?", ("https://a.example/ferry", text))
    assert found == ["The ferry of Kelling leaves on May 4 again."]


def test_bylines_and_lists_of_headlines_are_not_quoted_and_a_list_of_linked_names_is() -> None:
    menu = "\n".join(
        f"- [Cranks of the {n} close for springs](https://a.example/{n})" for n in "abc"
    )
    names = "\n".join(f"- [{n} springs](https://a.example/{n})" for n in ("Long", "Short"))
    text = (
        f"# News of springs\n\nBy Lena Springs, staff writer\n\nThe springs are wound by hand.\n\n"
        f"## Most read\n\n{menu}\n\n## Springs there are\n\n{names}\n"
    )
    told = " ".join(quotes("Which springs are there?", ("https://a.example/1", text)))
    assert "Long" in told and "wound by hand" in told
    assert "Cranks" not in told and "Lena" not in told
