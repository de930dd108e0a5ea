"""What code quotes for a topic: the sentences and code that answer it, from the page that is about
it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from spadework.agents.extractive.asked import left_open
from spadework.agents.extractive.assessor import assess
from spadework.agents.extractive.candidates import candidates
from spadework.agents.extractive.lead import plan
from spadework.agents.shown import Judgement, Shown
from spadework.values import Evidence, Page, Question

FERROLITE = """# ferrolite

Ferrolite is a small library that winds springs in Python. It was made for the makers of radios.

Ferrolite gives you:

- Springs that never rust.
- Tables of turns for every dial.
- A crank with a counter.

## Install

```sh
pip install ferrolite
```

## Use

To use ferrolite, create a spring and wind it:

```python
from ferrolite import Spring

spring = Spring(turns=30)
spring.wind()
print(spring.minutes)
```

Choose ferrolite when you need a spring that lasts. See the changelog for more. Click here to subscribe!
"""  # noqa: E501
OTHER = """# gearbox

Gearbox is a heavy library for wheels. It is also used by people who like ferrolite, but it does not wind springs at all.

```sh
pip install gearbox
```
"""  # noqa: E501


def page(name: str, text: str, rrf: float) -> Shown:
    made = Page(
        url=f"library://{name}-1.0/README.md",
        title=name,
        fetched_at=datetime.now(UTC),
        content_hash=name,
        chars=len(text),
        rrf=rrf,
    )
    return Shown(page=made, start=0, text=text, heading=name, score=1.0)


def judged(question: str) -> dict[str, Judgement]:
    made = plan(Question(text=question), [])
    shown = [page("ferrolite", FERROLITE, 0.03), page("gearbox", OTHER, 0.02)]
    return {topic.name: assess(made, topic, shown, []) for topic in made.topics}


def quotes(judgement: Judgement) -> str:
    return "\n".join(spot.quote for spot in judgement.spots)


def test_a_definition_comes_from_the_page_about_the_subject() -> None:
    found = judged("What is ferrolite and how do I use it?")["What ferrolite is"]
    assert found.covered
    assert found.spots[0].quote == "Ferrolite is a small library that winds springs in Python."
    assert "heavy library" not in quotes(found)


def test_a_command_that_installs_is_that_of_the_subject() -> None:
    found = judged("What is ferrolite and how do I use it?")["Installing ferrolite"]
    assert found.covered
    assert "pip install ferrolite" in quotes(found)
    assert "pip install gearbox" not in quotes(found)


def test_code_is_quoted_whole_and_exactly() -> None:
    found = judged("What is ferrolite and how do I use it?")["How to use ferrolite"]
    assert found.covered
    assert any(
        spot.quote.startswith("from ferrolite import Spring\n\nspring = Spring(turns=30)\n")
        for spot in found.spots
    )


def test_a_list_is_quoted_with_the_sentence_that_introduces_it() -> None:
    found = judged("What is ferrolite?")["Key concepts and features of ferrolite"]
    assert [spot.quote for spot in found.spots][-4:] == [
        "Ferrolite gives you:",
        "Springs that never rust.",
        "Tables of turns for every dial.",
        "A crank with a counter.",
    ]


def test_what_is_not_there_is_a_gap_with_searches_that_would_fill_it() -> None:
    found = judged("How do I bake a cake with plums?")
    assert not any(judgement.covered for judgement in found.values())
    assert all(judgement.gaps and judgement.recommendations for judgement in found.values())


def test_every_spot_stands_at_its_place() -> None:
    texts = {"ferrolite": FERROLITE, "gearbox": OTHER}
    for judgement in judged("What is ferrolite and how do I use it?").values():
        assert all(texts[s.page.content_hash][s.start : s.end] == s.quote for s in judgement.spots)


def test_chatter_and_sentences_that_lean_on_lost_ones_are_no_candidates() -> None:
    texts = [c.text for c in candidates([page("ferrolite", FERROLITE, 0.03)])]
    assert not any("subscribe" in text or "changelog" in text for text in texts)
    assert not any(text.startswith("It was made") for text in texts)
    assert any(
        text.endswith("winds springs in Python. It was made for the makers of radios.")
        for text in texts
    )


def compared(topic: str) -> Judgement:
    made = plan(Question(text="Compare ferrolite and gearbox"), [])
    text = OTHER + "\nFeatures:\n\n- Wheels of bronze for heavy mills.\n- A crank with a counter.\n"
    shown = [page("ferrolite", FERROLITE, 0.03), page("gearbox", text, 0.02)]
    return assess(made, next(t for t in made.topics if t.name.startswith(topic)), shown, [])


def test_what_only_goes_on_and_remarks_in_brackets_are_no_candidates() -> None:
    text = (
        "# A\n\nMost readers wind the spring by its crank, which is enough. (You do not need to"
        " know gearbox for that at all.)\n\nWhoever is not sure whether the wheel is needed can be"
        " told no\n\n- you should turn the crank instead of the wheel then.\n- `wind` turns the"
        " crank as often as it is told.\n- [How to wind ten thousand springs in a"
        " day](https://example.com/springs)\n"
    )
    assert [c.text for c in candidates([page("a", text, 0.1)]) if c.kind != "list"] == [
        "Most readers wind the spring by its crank, which is enough.",
        "wind turns the crank as often as it is told.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The crank turns the spring as often as it is told to.[3]\n\n- One.\n- Two.\n",
        "_The crank turns the spring as often as it is told to._\n\n- One.\n- Two.\n",
        "- **ferrolite** is a small library that winds springs in Python.\n- Two.\n",
        "- ferrolite is a small library that winds springs in Python.\n- Two.\n",
        "- [ferrolite](https://example.com/f) provides springs that never rust at all.\n- Two.\n",
    ],
)
def test_whole_sentences_before_a_list_and_items_about_small_names_are_candidates(
    text: str,
) -> None:
    assert [c.kind for c in candidates([page("a", text, 0.1)]) if c.kind != "list"] in (
        ["text"],
        ["item"],
    )


@pytest.mark.parametrize("question", ["What is IT?", "What is The Who?"])
def test_a_subject_of_stop_words_breaks_nothing(question: str) -> None:
    made = plan(Question(text=question), [])
    said = (
        "There are three kinds of departments in a large company today. The Who are an English rock"
        " band formed in London in 1964.\n"
    )
    for topic in made.topics:
        assess(made, topic, [page("a", said, 0.1)], [])


def test_an_example_stands_where_what_it_uses_is_explained() -> None:
    code = (
        "```python\nfrom ferrolite import Spring{0}\n\nspring ="
        " Spring(turns=30)\nspring.wind()\nprint(spring.minutes)\n```\n"
    )
    told = [
        ("Gauge, Crank", code.format(", Crank")),
        ("Spring", code.format("")),
        ("Dial", code.format(", Dial")),
    ]
    shown = [
        page(f"ferrolite: {title}", f"# {title}\n\nOf ferrolite.\n\n{text}", 0.03)
        for title, text in told
    ]
    made = plan(Question(text="How do I use ferrolite?"), [])
    topic = next(topic for topic in made.topics if topic.name == "How to use ferrolite")
    assert assess(made, topic, shown, []).spots[0].page.title == "ferrolite: Spring"


def test_a_difference_is_what_names_the_other_or_what_only_one_of_both_has() -> None:
    found = quotes(compared("Differences"))
    assert "Tables of turns for every dial" in found
    assert "Wheels of bronze" in found
    assert "A crank with a counter" not in found, "both have it"


def test_when_to_use_something_shows_a_cue() -> None:
    found = quotes(compared("When to use"))
    assert "Choose ferrolite when you need a spring that lasts." in found
    assert "Springs that never rust" not in found


def test_features_are_a_list_that_is_said_to_be_the_subjects_and_no_table_of_values() -> None:
    text = (
        "# ferrolite\n\nFerrolite is a library that winds springs. It is sound, and gives you the"
        " following:\n\n"
        + "".join(f"* Spring number {n} for sessions and cookies.\n" for n in range(12))
        + "* Dials.\n\n## mode\n\nThe type of the crank:\n\n- `True` enables the crank of this"
        " dial.\n- `False` lets it rest for ever.\n"
    )
    made = plan(Question(text="What is ferrolite?"), [])
    topic = next(topic for topic in made.topics if topic.name.startswith("Key concepts"))
    found = quotes(assess(made, topic, [page("ferrolite", text, 0.03)], []))
    assert found.startswith("It is sound, and gives you the following:\nSpring number 0")
    assert found.count("Spring number") == 12
    assert "crank" not in found


OPEN = "Briefly narrate the story of this ferry."
STORY = (
    "# Ferry\n\nThe story of this ferry begins in 1901, when a smith of Port Aldermere built it of"
    " oak for his two daughters.\n"
)


def test_a_question_that_does_not_say_what_it_points_to_is_not_answered_by_one_page() -> None:
    made = plan(Question(text=OPEN), [])
    judged = assess(made, made.topics[0], [page("ferry", STORY, 1.0)], [])
    assert not judged.covered
    assert "“this ferry …” and does not say which it is" in judged.gaps[-1]
    assert judged.spots
    assert judged.recommendations


def test_a_file_that_came_with_it_says_what_it_points_to() -> None:
    made = plan(Question(text=OPEN), [])
    came = page("ferry", STORY, 1.0)
    came = replace(came, page=came.page.model_copy(update={"url": "library://attached/1-ferry.md"}))
    assert not any("does not say" in gap for gap in assess(made, made.topics[0], [came], []).gaps)


@pytest.mark.parametrize(
    "question",
    [
        "What happened this year?",
        "I have an old radio. How do I repair this radio?",
        "Is this it?",
        "What are these and those?",
    ],
)
def test_times_and_what_was_named_before_are_known(question: str) -> None:
    assert left_open(question) == ""


def test_pages_that_say_nothing_new_close_no_topic_of_which_something_is_known() -> None:
    made = plan(Question(text="What is ferrolite?"), [])
    topic = made.topics[0]
    first = page("ferrolite", FERROLITE, 0.03)
    spot = assess(made, topic, [first], []).spots[0]
    known = Evidence(
        id="E1",
        topic=topic.name,
        quote=spot.quote,
        url=first.page.url,
        start=spot.start,
        end=spot.end,
        content_hash=first.page.content_hash,
        fetched_at=first.page.fetched_at,
        origin=first.page.url,
    )
    found = assess(made, topic, [page("gearbox", "# gearbox\n\nIt turns.\n", 0.02)], [known])
    assert not found.spots
    assert not found.covered
    assert found.gaps
    assert found.recommendations
