"""Figures of cited pages are shown with their captions, and nothing else is fetched for them."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from pathlib import Path

import pytest

from spadework.graph import context, pictures
from spadework.sessions.one_call import research
from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.export.html_report import to_html
from spadework.tools.text.terms import terms
from spadework.values import Result
from tests.tools.export.painted import gif, jpeg, png
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import eventually

QUESTION = "How long is the breakwater of Port Aldermere?"
QUOTE = "The breakwater of Port Aldermere is 840 metres long, and it was finished in 1911."
CAPTION = "Figure 1: the breakwater from the air, 840 metres with its lamp house."
PAGE = f"""<html><head><title>The breakwater of Port Aldermere</title></head><body><main>
<h1>The breakwater of Port Aldermere</h1><h2>Length</h2><p>{QUOTE} Its stones came by barge from
the quarries of the north shore, two days away by sail.</p>
<figure><img src="IMAGE" alt="An aerial view"><figcaption>{CAPTION}</figcaption></figure>
<h2>Festivals</h2><p>Much else is told by those who live there, and little was ever written
down by anybody. In summer a fair with music lasts for nine days, and people come from all around
to eat smoked eel, to dance and to watch the rowers.</p>
<figure><img src="/rowers.png"><figcaption>A carousel by night.</figcaption></figure>
<p>In winter there is little to see, and most of the inns are closed until the days get longer.</p>
</main></body></html>"""


@pytest.fixture
def settings(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def publish(world: World, searx: Searx, image: str = "/breakwater.png") -> None:
    url = world.put("encyclopedia", "/breakwater", PAGE.replace("IMAGE", image))
    searx.script("", [url])
    world.put("encyclopedia", "/rowers.png", png(), "image/png")


def pixels(result: Result) -> list[bytes]:
    """The stored pictures."""
    folder = Path(result.session_dir) / "pictures"
    return [path.read_bytes() for path in sorted(folder.glob("*"))]


async def test_a_figure_beside_a_cited_quote_is_shown_with_its_caption(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, searx)
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    result = await research(QUESTION, settings)
    [picture] = result.pictures
    assert picture.caption == CAPTION
    assert picture.evidence_id in {citation.evidence_id for citation in result.citations}
    assert (picture.page, picture.url) == (
        world.url("encyclopedia", "/breakwater"),
        world.url("encyclopedia", "/breakwater.png"),
    )
    assert pixels(result) == [png()]
    assert "data:image/png;base64," in to_html(result)
    assert not world.asked("encyclopedia", "/rowers.png"), "its caption belongs to no quote"


async def test_a_replay_shows_the_same_pictures_without_asking(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, searx)
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    result = await research(QUESTION, settings)
    world.reset()
    world.hang_everything = True
    again = await replay(settings.home, result.session_id)
    assert (again.same, again.missing) == (True, ())
    assert again.result.pictures == result.pictures
    assert not world.requests


async def test_a_replay_shows_the_pictures_of_the_attempt_that_ended(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, searx)
    figure = (
        '<figure><img src="IMAGE"><figcaption>The breakwater, 840 metres.</figcaption></figure>'
    )
    slow = figure.replace("IMAGE", world.url("news", "/length.png"))
    page = PAGE.replace("IMAGE", "/breakwater.png").replace("<h2>Fest", f"{slow}<h2>Fest")
    world.put("encyclopedia", "/breakwater", page)
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    world.hanging = {"news"}
    session = Session.start(QUESTION, settings=settings)
    running = asyncio.create_task(session.result())
    folder = session.folder / "pictures"
    await eventually(lambda: world.asked("news", "/length.png") and [*folder.glob("*.png")])
    running.cancel()
    await asyncio.wait({running})
    resumed = Session.resume(session.session_id, settings=settings)
    resumed.stop()
    assert (await resumed.result()).pictures == ()
    world.hanging = set()
    assert (await replay(settings.home, session.session_id)).result.pictures == ()


async def test_each_page_and_caption_is_split_into_words_once(
    world: World, searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = Counter[str]()

    def counted(text: str, code: str) -> list[str]:
        split[text] += 1
        return terms(text, code)

    monkeypatch.setattr(pictures, "terms", counted)
    publish(world, searx)
    more = "The breakwater of Port Aldermere is 12 metres wide, so how long it is surprises many."
    page = world.put("encyclopedia", "/breakwater", PAGE.replace(QUOTE, f"{QUOTE} {more}"))
    result = await research(f"{QUESTION} How wide is it?", settings)
    assert sum(quote.url == page for topic in result.topics for quote in topic.evidence) > 1
    assert split[CAPTION] == 1
    assert set(split.values()) == {1}


async def test_without_time_to_choose_there_are_no_pictures(
    world: World, searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "CHOOSING", -1.0)
    monkeypatch.setattr(context, "LEAST_SECONDS", -1.0)
    publish(world, searx)
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    result = await research(QUESTION, settings)
    assert (result.pictures, world.asked("encyclopedia", "/breakwater.png")) == ((), [])
    again = await replay(settings.home, result.session_id)
    assert (again.same, again.result.pictures) == (True, ())


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"),
        (b"<html><script>alert(1)</script></html>", "image/png"),
        (png(60_000, 60_000, whole=False), "image/png"),
        (png(16, 16), "image/png"),
        (jpeg(0, 300), "image/jpeg"),
        (gif() + bytes(1_000_000), "image/gif"),
        (b"", "image/png"),
    ],
    ids=["svg", "html", "huge", "icon", "flat", "heavy", "empty"],
)
async def test_what_is_no_picture_to_show_is_left_out(
    world: World, searx: Searx, settings: Settings, body: bytes, media_type: str
) -> None:
    publish(world, searx)
    world.put("encyclopedia", "/breakwater.png", body, media_type)
    result = await research(QUESTION, settings)
    assert (result.pictures, pixels(result)) == ((), [])
    assert QUOTE in result.report
    assert not result.problems
    assert world.asked("encyclopedia", "/breakwater.png")


async def test_a_bomb_is_not_unpacked(world: World, searx: Searx, settings: Settings) -> None:
    publish(world, searx)
    bomb = gzip.compress(gif() + bytes(40_000_000))
    headers = {"content-encoding": "gzip"}
    world.put("encyclopedia", "/breakwater.png", bomb, "image/gif", headers=headers)
    result = await research(QUESTION, settings)
    assert (result.pictures, pixels(result)) == ((), [])
    assert result.usage.bytes < 1_000_000


@pytest.mark.parametrize("direct", [True, False])
async def test_a_private_address_is_never_asked(
    world: World, searx: Searx, settings: Settings, direct: bool
) -> None:
    inside = world.url("private", "/camera.png")
    world.put("private", "/camera.png", png(), "image/png")
    publish(world, searx, inside if direct else "/breakwater.png")
    headers = {"location": inside}
    world.put("encyclopedia", "/breakwater.png", b"", status=302, headers=headers)
    result = await research(QUESTION, settings)
    assert (result.pictures, world.asked("private")) == ((), [])
    assert QUOTE in result.report


async def test_robots_txt_holds_for_pictures(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, searx)
    world.put("encyclopedia", "/robots.txt", "User-agent: *\nDisallow: /breakwater.png")
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    result = await research(QUESTION, settings)
    assert (result.pictures, world.asked("encyclopedia", "/breakwater.png")) == ((), [])


async def test_a_quick_answer_fetches_no_pictures(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, searx)
    world.put("encyclopedia", "/breakwater.png", png(), "image/png")
    result = await research(QUESTION, settings.model_copy(update={"effort": "quick"}))
    assert (result.pictures, world.asked("encyclopedia", "/breakwater.png")) == ((), [])
