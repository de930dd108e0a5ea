"""Sources that disagree, through the whole loop: copies are one origin, and a majority of copies
does not win.
"""

from __future__ import annotations

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.ranking import selection
from tests.world.searx import Searx
from tests.world.sites import World

RIGHT = "The lighthouse of Port Aldermere was first lit in 1887."
WRONG = "The lighthouse of Port Aldermere was first lit in 1999."
STORY = " ".join(
    f"<p>In its {n} year the keeper of the {kind} wrote {n * 7} letters to the harbour office about"
    f" the {thing} that he had seen there.</p>"
    for n, (kind, thing) in enumerate(
        [
            ("tower", "seals"),
            ("lamp", "boats"),
            ("stairs", "gulls"),
            ("door", "fog"),
            ("roof", "ice"),
        ],
        2,
    )
)


@pytest.fixture
def settings(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(selection, "PAGES_PER_DOMAIN", 20)
    return Settings.load(preset="recall", iterations=1)


def page(title: str, *paragraphs: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{''.join(paragraphs)}</main></body></html>"  # noqa: E501


async def test_copies_with_a_changed_number_are_one_side_of_a_conflict_and_do_not_win(
    world: World, searx: Searx, settings: Settings
) -> None:
    sites = ("docs", "news", "mirror", "forum", "archive")
    copies = [
        world.put(
            site,
            f"/story-{n}",
            page(
                "The lighthouse of Port Aldermere",
                f"<p>{WRONG}</p>",
                STORY,
                f"<p>This was printed {n + 1} times by the {site}.</p>",
            ),
        )
        for n in range(2)
        for site in sites
    ]
    honest = [
        world.put(
            "encyclopedia",
            "/lamp",
            page(
                "The lighthouse of Port Aldermere",
                f"<p>{RIGHT}</p><p>It stands on a rock west of the town.</p>",
            ),
        ),
        world.put(
            "blog",
            "/lamp",
            page(
                "The lighthouse of Port Aldermere",
                "<p>The lighthouse in Port Aldermere was lit in 1887 for the first time.</p>",
            ),
        ),
    ]
    searx.script("", [*copies[:5], *honest, *copies[5:]])
    result = await research("When was the lighthouse of Port Aldermere first lit?", settings)
    [conflict] = result.conflicts
    evidence = {e.id: e for topic in result.topics for e in topic.evidence}
    first, second = conflict.sides
    assert "1887" in first.claim
    assert second.claim == WRONG
    assert first.weight > second.weight
    assert len({evidence[id_].origin for id_ in second.evidence_ids}) == 1
    told = result.report.partition("## Disagreements")[2]
    assert "The first version is better supported" in told
    assert RIGHT.split()[-1] in told
    assert WRONG in told


async def test_a_text_that_is_spread_over_many_pages_makes_no_topic(
    world: World, searx: Searx, settings: Settings
) -> None:
    said = (
        "<p>The lighthouse of Port Aldermere sells wonder lamps, and wonder lamps are all that"
        " matters about Port Aldermere.</p>"
    )
    sites = ("docs", "news", "mirror", "forum", "archive")
    spread = [
        world.put(
            site, "/wonder", page(f"Port Aldermere in the {site}", said, f"<p>From the {site}.</p>")
        )
        for site in sites
    ]
    honest = world.put(
        "blog",
        "/town",
        page(
            "Port Aldermere",
            "<p>Port Aldermere is a harbour town on the west coast, with a lighthouse.</p>",
        ),
    )
    searx.script("", [*spread, honest])
    result = await research("The lighthouse of Port Aldermere", settings)
    assert not [topic.name for topic in result.topics if "wonder" in topic.name.lower()]
