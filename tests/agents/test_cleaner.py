"""A dirty page is cleaned by a model that names blocks; it can take away, but it cannot change a
word, nor take too much.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spadework.agents.cleaner import is_dirty, keep_blocks
from spadework.graph.nodes.clean import may_clean
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.text.markdown import blocks
from spadework.tools.text.sentences import cleanliness
from spadework.values import Problem, Result
from tests.tools.text.markdownish import markdown
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.slow import known_as_slow
from tests.world.timing import depth

MATTER = (
    "The lighthouse of Port Aldermere was first lit in 1887, and its lamp is seen from far away.",
    (
        "It was built by Jory Penhallow, who had never seen the sea before he came to the town that"
        " spring."
    ),
    "The keeper lives beside the tower, and tends the lamp through every night of the long winter.",
)
JUNK = (
    "Subscribe to our newsletter",
    "Follow us",
    "You may also like",
    "Share this",
    "Sign in",
    "Read more",
    "Leave a comment",
) * 12
CODE = "```\npip install lamp\n```"


def page(*parts: str) -> str:
    return "\n\n".join(parts)


DIRTY = page("# The lighthouse", *MATTER, CODE, *JUNK)


def test_a_page_of_matter_is_clean_and_one_of_notices_is_dirty() -> None:
    assert cleanliness(page("# The lighthouse", *MATTER, CODE)) == 1.0
    assert cleanliness(DIRTY) < 0.5
    assert not is_dirty(page(*MATTER * 9), "default")
    assert is_dirty(DIRTY, "default")
    assert not is_dirty(DIRTY, "off")
    assert not is_dirty(page(*JUNK[:5]), "default"), "too short to be worth it"


@pytest.mark.parametrize(
    ("numbers", "left"),
    [
        ({1, 2, 3, 4}, page("# The lighthouse", *MATTER, CODE)),  # code stays, named or not
        (set(), DIRTY),
        ({1, 9, 10}, DIRTY),  # most of what it tells would be lost
        ({-3, 0, 999}, DIRTY),
        (set(range(1, 500)), DIRTY),
    ],
)
def test_only_blocks_that_are_named_are_left_and_never_too_few(
    numbers: set[int], left: str
) -> None:
    assert keep_blocks(DIRTY, numbers) == left


@given(markdown, st.sets(st.integers(0, 12)))
def test_whatever_is_named_nothing_is_written_and_no_code_is_lost(
    text: str, numbers: set[int]
) -> None:
    left = keep_blocks(text, numbers)
    whole = {text[b.start : b.end] for b in blocks(text)}
    assert left == text or all(
        part in left or part not in text for part in whole if part.startswith("```")
    )
    assert all(line in text for line in left.split("\n"))


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A dirty page that two topics read."""
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    said = "".join(
        f"<p>{text}</p>"
        for text in (*MATTER, *(f"Offer {n}: {text}" for n, text in enumerate(JUNK)))
    )
    searx.script(
        "",
        [
            world.put(
                "blog",
                "/lamp",
                f"<title>The lighthouse</title><main><h1>The lighthouse</h1>{said}</main>",
            )
        ],
    )
    play(model, {"Lamp": "lighthouse lamp", "Keeper": "lighthouse keeper"})
    return Settings.load(iterations=1)


def asked(model: Model, role: str) -> int:
    return sum(r.schema_name == role for r in model.requests)


async def test_a_dirty_page_is_judged_and_cleaned_once_and_its_quotes_stand_in_the_cleaned_text(
    model: Model, settings: Settings
) -> None:
    model.script("JudgeAnswer", {"score": 0.1})
    model.script("CleanAnswer", {"keep": [1, 2, 3, 4]})
    result = await research("What is known about the lighthouse of Port Aldermere?", settings)
    assert (asked(model, "JudgeAnswer"), asked(model, "CleanAnswer")) == (1, 1)
    [source] = result.sources
    text = (Path(result.session_dir) / "pages" / f"{source.content_hash}.md").read_text()
    assert "Offer" not in text
    assert all(sentence in text for sentence in MATTER)
    quotes = [e for topic in result.topics for e in topic.evidence]
    assert quotes
    assert all(
        text[e.start : e.end] == e.quote and e.content_hash == source.content_hash for e in quotes
    )
    shown = [r.prompt for r in model.requests if r.schema_name == "AssessmentAnswer"]
    assert not any("Offer 3" in prompt for prompt in shown)


@pytest.mark.parametrize("answer", [{"keep": [1, 2, 3, 4]}, Fault("refusal")])
async def test_what_the_judge_finds_clean_stays_as_it_is_whatever_the_cleaner_says(
    model: Model, settings: Settings, answer: dict[str, object] | Fault
) -> None:
    model.script("JudgeAnswer", {"score": 0.9})
    model.script("CleanAnswer", answer)
    result = await research("What is known about the lighthouse of Port Aldermere?", settings)
    assert any("Offer 3" in r.prompt for r in model.requests if r.schema_name == "AssessmentAnswer")
    assert asked(model, "CleanAnswer") == 0
    assert not any(p.stage == "cleaner" for p in result.problems)


async def test_a_page_of_which_nothing_dirty_was_chosen_is_left_alone(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    told = "".join(f"<p>In year {n} of it: {' '.join(MATTER)}</p>" for n in range(13))
    junk = "".join(f"<p>{text} {n}</p>" for n, text in enumerate(JUNK * 4))
    other = f"<h2>Elsewhere</h2>{junk}"
    urls = [world.put("forum", "/half", f"<title>T</title><main><h1>T</h1>{told}{other}</main>")]
    searx.script("", urls)
    play(model, {"Lamp": "lighthouse lamp"})
    await research("What is known about the lighthouse of Port Aldermere?", settings)
    shown = [r.prompt for r in model.requests if r.schema_name == "AssessmentAnswer"]
    assert any(MATTER[0] in prompt for prompt in shown)
    assert asked(model, "JudgeAnswer") == asked(model, "CleanAnswer") == 0


@pytest.mark.timed
async def test_a_dirty_page_adds_two_waves_of_calls(model: Model, settings: Settings) -> None:
    model.delay = 0.5
    model.script("JudgeAnswer", {"score": 0.1})
    model.script("CleanAnswer", {"keep": [1, 2, 3, 4]})
    await research("What is known about the lighthouse of Port Aldermere?", settings)
    assert (asked(model, "JudgeAnswer"), asked(model, "CleanAnswer")) == (1, 1)
    # The model is examined while pages are searched and read: nothing waits for it.
    waited_for = [r for r in model.requests if r.schema_name != "VerdictsAnswer"]
    assert depth(waited_for) == 6


@pytest.mark.parametrize("role", ["JudgeAnswer", "CleanAnswer"])
async def test_where_the_model_fails_the_page_stays_as_it_was(
    model: Model, settings: Settings, role: str
) -> None:
    model.script("JudgeAnswer", {"score": 0.1})
    model.script("CleanAnswer", {"keep": []})
    model.script(role, Fault("refusal"))
    result = await research("What is known about the lighthouse of Port Aldermere?", settings)
    assert asked(model, role) == 1, "a refusal is not sent again"
    assert any(p.stage == "cleaner" for p in result.problems)
    assert any(MATTER[0] in c.sentence for c in result.citations)


async def test_cleaning_can_be_turned_off(model: Model, settings: Settings) -> None:
    await research(
        "What is known about the lighthouse of Port Aldermere?", settings.with_(clean="off")
    )
    assert asked(model, "JudgeAnswer") == 0


@pytest.mark.parametrize(
    ("left", "cleanings", "allowed"),
    [(100, 0, True), (100, 17, True), (100, 18, False), (21, 0, True), (20, 0, False)],
)
def test_cleaning_leaves_the_calls_that_eight_topics_need(
    left: int, cleanings: int, allowed: bool
) -> None:
    assert may_clean(110, left, cleanings, 8) is allowed


async def test_a_dirty_page_stays_as_it_is_where_calls_are_few(
    model: Model, settings: Settings
) -> None:
    result = await research(
        "What is known about the lighthouse of Port Aldermere?", settings.with_(calls=8)
    )
    assert asked(model, "JudgeAnswer") == 0
    assert not any(p.stage == "cleaner" for p in result.problems)


QUESTION = "What is known about the lighthouse of Port Aldermere?"


def slowness(result: Result) -> list[Problem]:
    return [p for p in result.problems if p.stage == "judge"]


async def test_a_model_known_to_be_slow_cleans_no_page_and_nothing_is_said_of_it(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    settings = settings.with_(knowledge=False)
    lamp = "".join(f"<p>{text}</p>" for text in (*MATTER, *JUNK))
    searx.script("keeper", [world.put("forum", "/keeper", f"<title>Keeper</title><main>{lamp}")])
    await research(QUESTION, settings)
    assert asked(model, "JudgeAnswer") == 2, "of a model that is fast they are cleaned"
    await known_as_slow(model, settings)
    # The same question has its plan: nothing is measured before the pages are read.
    result = await research(QUESTION, settings)
    assert asked(model, "PlanAnswer") == asked(model, "JudgeAnswer") == 0
    assert asked(model, "CleanAnswer") == 0
    assert not slowness(result)
    assert result.mode == "model"
    assert result.citations


async def test_a_model_that_is_too_late_until_pages_are_read_cleans_none(
    model: Model, settings: Settings
) -> None:
    for shape in ("PlanAnswer", "VerdictsAnswer"):
        model.script(shape, Fault("hang"))
    result = await research(QUESTION, settings.with_(model_seconds=0.5))
    assert asked(model, "PlanAnswer") == 1
    assert asked(model, "JudgeAnswer") == asked(model, "CleanAnswer") == 0
    assert not slowness(result)
