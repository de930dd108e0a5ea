"""`spadework search` shows every hit with the numbers that a run uses, and says why it would be
read or not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spadework.tools.ranking.relevance import POSITION_WEIGHT, SNIPPET_WEIGHT, TITLE_WEIGHT
from tests.apps.process import Terminal
from tests.world.searx import Searx
from tests.world.sites import World


@pytest.fixture
def terminal(world: World, searx: Searx, tmp_path: Path) -> Terminal:
    return Terminal({**world.env, **searx.env}, tmp_path)


def test_every_hit_comes_with_the_parts_of_its_score_and_the_reason(
    terminal: Terminal, searx: Searx
):
    code, out, err = terminal.run("search", "census Port Aldermere", "--json")
    assert (code, err) == (0, "")
    hits = json.loads(out)
    assert len(hits) > 3
    for hit in hits:
        parts = hit["parts"]
        whole = (
            POSITION_WEIGHT * parts["position"]
            + TITLE_WEIGHT * parts["title"]
            + SNIPPET_WEIGHT * parts["snippet"]
        )
        assert hit["relevance"] == pytest.approx(whole, abs=0.002)
        assert [(found["provider"], found["rank"]) for found in hit["found_by"]] == [
            ("searxng", hit["position"])
        ]
        assert hit["rrf"] == pytest.approx(2 / (60 + hit["position"]))
        assert hit["reason"].startswith(
            "Selected as number " if hit["selected"] else "In reserve, as number "
        )
    assert [hit["rrf"] for hit in hits] == sorted((hit["rrf"] for hit in hits), reverse=True)
    assert any(hit["selected"] for hit in hits)


@pytest.mark.full
def test_a_lowered_threshold_and_a_crowded_domain_and_a_full_list_are_said(
    terminal: Terminal, searx: Searx
):
    searx.script(
        "crowd",
        [f"https://one.example/crowd/{n}" for n in range(9)]
        + [f"https://n{n}.example/crowd" for n in range(6)],
    )
    reasons = {
        hit["url"]: hit["reason"]
        for hit in json.loads(terminal.run("search", "crowd", "--json")[1])
    }
    assert sum(reason.startswith("Selected") for reason in reasons.values()) == 10
    assert (
        "enough better pages from one.example were selected"
        in reasons["https://one.example/crowd/8"]
    )
    assert "better hits already reach the maximum" in reasons["https://n5.example/crowd"]
    searx.script("weak", [f"https://w{n}.example/" for n in range(3)])
    weak = [hit["reason"] for hit in json.loads(terminal.run("search", "weak unseen", "--json")[1])]
    assert len(weak) == 3
    searx.script("faint", [f"https://f{n}.example/" for n in range(12)])
    faint = [
        hit["reason"] for hit in json.loads(terminal.run("search", "faint unseen", "--json")[1])
    ]
    assert any("is below the threshold of 0.30" in reason for reason in faint)


def test_a_threshold_that_was_lowered_is_said_with_every_hit(
    terminal: Terminal, searx: Searx, tmp_path: Path
):
    searx.script("faint", [f"https://f{n}.example/" for n in range(9)])
    settings = Terminal({**terminal.env, "SPADEWORK_PRESET": "precise"}, tmp_path)
    reasons = [
        hit["reason"] for hit in json.loads(settings.run("search", "faint unseen", "--json")[1])
    ]
    assert all("the threshold was lowered from 0.5 to 0.3" in reason for reason in reasons)


def test_the_plain_view_is_short(terminal: Terminal):
    code, out, _ = terminal.run("search", "census Port Aldermere", "--limit", "2")
    assert code == 0
    first = out.split("\n 2. ")[0].splitlines()
    assert first[0].startswith(" 1. Census: Port Aldermere")
    assert first[2].startswith("    relevance ")
    assert "searxng 1" in first[2]
    assert first[3].startswith("    Selected as number 1: ")
    assert len(first) == 5


def test_where_every_provider_fails_it_says_so(terminal: Terminal, searx: Searx):
    searx.fail("unresponsive")
    code, out, err = terminal.run("search", "census", "--json")
    assert (code, out.strip()) == (1, "[]")
    assert "None of SearXNG's engines answered" in err


def test_what_is_wished_of_a_search_reaches_it(terminal: Terminal, searx: Searx, world: World):
    inside = world.url("encyclopedia", "/wiki/Port_Aldermere")
    searx.script("census", [inside, "https://elsewhere.example/census"])
    host = inside.partition("://")[2].partition("/")[0].partition(":")[0]
    wishes = ("--country", "DE", "--search-language", "de", "--kind", "news", "--site", host)
    code, out, err = terminal.run("search", "census", "--json", "--relevance", "0.95", *wishes)
    assert (code, err) == (0, "")
    assert [hit["url"] for hit in json.loads(out)] == [inside]
    asked = searx.requests[-1].args
    assert (asked["language"], asked["categories"]) == ("de-DE", "news")
    assert "lowered from 0.95 to " in json.loads(out)[0]["reason"]


def test_a_wish_that_cannot_be_is_refused(terminal: Terminal):
    code, out, err = terminal.run("search", "census", "--since", "last week")
    assert (code, out) == (2, "")
    assert "search_since must be a date, YYYY-MM-DD, not 'last week'." in err
