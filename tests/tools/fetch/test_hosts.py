"""What hosts want is remembered by the next session and the next process, up to a date."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spadework.errors import Blocked, Unreachable
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.hosts import LEVEL_SECONDS, MOST_SECONDS, REFUSED_SECONDS, Hosts
from spadework.tools.fetch.page_reader import Reader
from tests.world.sites import World

HOST = "pages.example:80"
URL = f"http://{HOST}/page"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def settings(world: World) -> Settings:
    return Settings.load(allow_hosts=world.hosts, cache_mb=0, max_level=1)


async def fetched(settings: Settings, url: str) -> int:
    """The level at which a session of its own has fetched a page."""
    async with Web(settings) as web:
        return (await web.fetch(url, seconds=20)).level


def known(settings: Settings) -> dict[str, dict[str, float]]:
    return json.loads((settings.home / "cache" / "hosts.json").read_text())


async def test_the_level_that_worked_is_where_the_next_session_begins(
    world: World, settings: Settings
) -> None:
    url = world.url("odd", "/bot-wall")
    assert await fetched(settings, url) == 1
    before = len(world.asked("odd", "/bot-wall"))
    assert await fetched(settings, url) == 1
    assert len(world.asked("odd", "/bot-wall")) == before + 1, "it is not asked plainly"


def busy(world: World, path: str, status: int) -> str:
    """A page that is to be asked for again in an hour."""
    return world.put("blog", path, "<p>busy</p>", status=status, headers={"Retry-After": "3600"})


async def test_a_host_that_limits_how_often_it_is_asked_is_left_alone_by_the_next_session(
    world: World, settings: Settings
) -> None:
    with pytest.raises(Blocked, match="429"):
        await fetched(settings, busy(world, "/busy", 429))
    asked = len(world.asked("blog"))
    with pytest.raises(Blocked, match=r"asked spadework to wait until \d{4}-\d\d-\d\d") as told:
        await fetched(settings, world.url("blog", "/other"))
    assert not told.value.final, "a resumed run may ask again"
    assert len(world.asked("blog")) == asked
    [of] = known(settings).values()
    assert of["blocked_until"] > 0
    await fetched(settings, world.url("encyclopedia", "/wiki/Port_Aldermere"))


async def test_one_page_that_is_out_of_order_silences_only_itself(
    world: World, settings: Settings
) -> None:
    world.put("blog", "/other", "<p>Anyone may read this.</p>")
    one, another = (busy(world, f"/busy-{n}", 503) for n in range(2))
    async with Web(settings) as web:
        with pytest.raises(Unreachable, match="503"):
            await web.fetch(one, seconds=20)
        asked = len(world.asked("blog", "/busy-0"))
        with pytest.raises(Blocked, match=r"/busy-0 asked spadework to wait until") as told:
            await web.fetch(one, seconds=20)
        assert not told.value.final
        assert len(world.asked("blog", "/busy-0")) == asked
        await web.fetch(world.url("blog", "/other"), seconds=20)
        with pytest.raises(Unreachable, match="503"):
            await web.fetch(another, seconds=20)
        await web.fetch(world.url("blog", "/other?again"), seconds=20)


async def test_a_host_that_is_out_of_order_is_left_alone_by_the_next_session(
    world: World, settings: Settings
) -> None:
    async with Web(settings) as web:
        for url in [busy(world, f"/busy-{n}", 503) for n in range(2)]:
            with pytest.raises(Unreachable, match="503"):
                await web.fetch(url, seconds=20)
    asked = len(world.asked("blog"))
    with pytest.raises(Blocked, match="asked spadework to wait until"):
        await fetched(settings, world.url("blog", "/other"))
    assert len(world.asked("blog")) == asked


async def test_a_date_that_is_over_counts_no_more(tmp_path: Path) -> None:
    clock = Clock()
    hosts = Hosts(tmp_path / "hosts.json", clock)
    await hosts.gave(HOST, 2)
    await hosts.later(URL, 429, 60)
    clock.now += 59
    with pytest.raises(Blocked):
        hosts.check(URL)
    clock.now += 2
    hosts.check(URL)
    assert hosts.level(HOST) == 2
    clock.now += LEVEL_SECONDS
    assert hosts.level(HOST) == 0
    await hosts.gave("other.example", 1)
    assert set(json.loads((tmp_path / "hosts.json").read_text())) == {"other.example"}


async def test_a_wrong_header_silences_no_host_for_long(tmp_path: Path) -> None:
    clock = Clock()
    hosts = Hosts(tmp_path / "hosts.json", clock)
    await hosts.later(URL, 429, 1e12)
    clock.now += MOST_SECONDS + 1
    hosts.check(URL)


async def test_a_host_that_refuses_is_left_alone_for_a_day_by_later_sessions(
    world: World, settings: Settings
) -> None:
    first, second, third = (
        world.put("forum", f"/closed-{n}", "<p>closed to you</p>", status=403) for n in range(3)
    )
    async with Web(settings) as web:
        reader = Reader(web)
        for url in (first, second):  # it may be one page alone
            with pytest.raises(Blocked, match="403"):
                await reader.read(url, seconds=20)
    asked = len(world.asked("forum"))
    async with Web(settings) as web:
        with pytest.raises(Blocked, match="refused a page and will not be tried again before"):
            await Reader(web).read(third, seconds=20)
    assert len(world.asked("forum")) == asked


async def test_one_refusal_is_enough_and_a_wall_is_one(world: World, settings: Settings) -> None:
    wall = "<title>Robot check</title><form><p>Complete the captcha to go on.</p><input></form>"
    url = world.put("forum", "/walled", wall)
    for expected in ("behind a captcha", "refused a page"):
        async with Web(settings) as web:
            with pytest.raises(Blocked, match=expected):
                await Reader(web).read(url, seconds=20)


async def test_a_host_that_gives_pages_has_not_refused_by_one_that_it_keeps(tmp_path: Path) -> None:
    clock = Clock()
    hosts = Hosts(tmp_path / "hosts.json", clock)
    await hosts.refused(HOST, "/1", 2)
    with pytest.raises(Blocked):
        hosts.check_refusal(URL, 2)
    await hosts.let_in(HOST)
    for n in (2, 2, 3):
        hosts.check_refusal(URL, 2)
        await hosts.refused(HOST, f"/{n}", 2)
    hosts.check_refusal(URL, 2)
    await hosts.refused(HOST, "/4", 2)
    with pytest.raises(Blocked):
        hosts.check_refusal(URL, 2)
    clock.now += REFUSED_SECONDS
    hosts.check_refusal(URL, 2)


async def test_who_has_a_browser_asks_where_none_was_refused(tmp_path: Path) -> None:
    hosts = Hosts(tmp_path / "hosts.json", Clock())
    await hosts.refused(HOST, "/1", 1)
    hosts.check_refusal(URL, 2)
    with pytest.raises(Blocked):
        hosts.check_refusal(URL, 1)


async def test_two_processes_keep_what_the_other_has_learned(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "hosts.json"
    one, other = Hosts(path, clock), Hosts(path, clock)
    await one.gave("one.example", 1)
    await other.gave("other.example", 2)
    assert set(json.loads(path.read_text())) == {"one.example", "other.example"}


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"a": 1}', b"\xff"])
async def test_a_file_that_cannot_be_read_is_learned_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "home" / "cache" / "hosts.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    hosts = await Hosts.open(tmp_path / "home")
    assert hosts.level(HOST) == 0
    await hosts.gave(HOST, 1)
    assert set(json.loads(path.read_text())) == {HOST}
