"""The cache of pages: the rules of HTTP, one fault of server, disk or neighbour at a time, and
never a secret in it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from email.utils import formatdate
from importlib import import_module
from pathlib import Path

import pytest
import zstandard

from spadework.errors import Blocked, FetchError, NotAllowed, TooLarge, Unreachable, Unreadable
from spadework.settings import Settings
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.fetch import client as extraction_cache
from spadework.tools.fetch.client import Cleaned, Web
from spadework.tools.fetch.exchange import Fetched
from spadework.tools.fetch.http_cache import Store
from tests.tools.fetch.site import BODY, Site
from tests.world.sites import World

FRESH = {"cache-control": "max-age=3600"}
CHECKED = {"cache-control": "max-age=0", "etag": '"one"'}


@pytest.fixture
def settings(world: World) -> Settings:
    return Settings(allow_hosts=(*world.hosts, "127.0.0.1"))


async def fetch(url: str, settings: Settings, *, seconds: float = 10) -> Fetched:
    """What a new session gets."""
    async with Web(settings) as web:
        return await web.fetch(url, seconds=seconds)


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*/*/*") if path.is_file()]


def files(settings: Settings) -> list[Path]:
    return kept(settings.home / "cache")


async def test_a_fresh_copy_is_used_by_the_next_session_without_asking(settings: Settings):
    async with Site(FRESH) as site:
        first = await fetch(site.url, settings)
        second = await fetch(site.url, settings)
    assert len(site.asked) == 1
    assert (first.from_cache, second.from_cache, second.stale) == (False, True, False)
    assert second.body == first.body == BODY
    assert second.dated is not None
    assert abs(second.dated.timestamp() - time.time()) < 5


async def test_a_fresh_copy_needs_no_server_at_all(settings: Settings):
    async with Site(FRESH) as site:
        await fetch(site.url, settings)
        await site.leave()
        copy = await fetch(site.url, settings)
    assert (copy.from_cache, copy.stale) == (True, False)


async def test_an_old_copy_is_checked_with_the_server(world: World, settings: Settings):
    url = world.url("odd", "/kept?age=0")
    first, second = [await fetch(url, settings) for _ in range(2)]
    asked = world.asked("odd", "/kept")
    assert [one.status for one in asked] == [200, 304]
    assert asked[1].headers["if-none-match"]
    assert asked[1].headers["if-modified-since"]
    assert (second.from_cache, second.stale, second.status) == (True, False, 200)
    assert second.body == first.body


async def test_what_a_check_says_of_freshness_counts(settings: Settings):
    async with Site(CHECKED | {"date": "Sat, 21 Nov 2020 10:00:00 GMT"}) as site:
        await fetch(site.url, settings)
        site.status, site.headers = 304, FRESH
        await fetch(site.url, settings)
        await fetch(site.url, settings)
    assert len(site.asked) == 2


async def test_a_page_that_has_changed_replaces_its_copy(settings: Settings):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        site.body, site.headers = b"<p>Low tide.</p>", FRESH | {"etag": '"two"'}
        changed, again = await fetch(site.url, settings), await fetch(site.url, settings)
    assert (changed.from_cache, again.from_cache) == (False, True)
    assert changed.body == again.body == b"<p>Low tide.</p>"


async def test_a_304_of_another_copy_makes_us_ask_plainly(settings: Settings):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        site.status, site.headers = 304, {"etag": '"quite another"'}
        with pytest.raises(Unreadable, match="304"):
            await fetch(site.url, settings)
    assert ["if-none-match" in head for head in site.asked] == [False, True, False]


@pytest.mark.parametrize("rule", ["no-store", "no-store, max-age=3600"])
async def test_what_must_not_be_kept_is_not(settings: Settings, rule):
    async with Site({"cache-control": rule}) as site:
        await fetch(site.url, settings)
        assert not any(
            b"Tides" in zstandard.decompress(path.read_bytes()) for path in files(settings)
        )
        assert not (await fetch(site.url, settings)).from_cache
    assert len(site.asked) == 2


async def test_a_page_that_becomes_private_property_is_forgotten(settings: Settings):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        site.headers = {"cache-control": "no-store"}
        await fetch(site.url, settings)
        assert not any(
            b"Tides" in zstandard.decompress(path.read_bytes()) for path in files(settings)
        )


async def test_a_private_answer_is_kept_since_the_cache_is_private(settings: Settings):
    async with Site({"cache-control": "private, max-age=3600"}) as site:
        await fetch(site.url, settings)
        assert (await fetch(site.url, settings)).from_cache


@pytest.mark.parametrize("vary", ["User-Agent", "accept-language, USER-AGENT"])
async def test_an_answer_that_varies_is_only_for_those_who_ask_alike(settings: Settings, vary):
    async with Site(FRESH | CHECKED | FRESH | {"vary": vary}) as site:
        await fetch(site.url, settings)
        assert (await fetch(site.url, settings)).from_cache
        assert not (await fetch(site.url, settings.with_(user_agent="another/1.0"))).from_cache
    assert not any("if-none-match" in head for head in site.asked), (
        "a check could confirm the wrong one"
    )


async def test_an_answer_that_varies_with_everything_is_not_used(settings: Settings):
    async with Site(FRESH | {"vary": "*"}) as site:
        assert [(await fetch(site.url, settings)).from_cache for _ in range(2)] == [False, False]


async def test_an_answer_that_varies_with_nothing_we_send_is_used(settings: Settings):
    async with Site(FRESH | {"vary": "X-Theme"}) as site:
        assert [(await fetch(site.url, settings)).from_cache for _ in range(2)] == [False, True]


async def test_no_secret_is_kept(world: World, settings: Settings):
    async with Site(FRESH | {"set-cookie": "session=tell-nobody"}) as site:
        await fetch(site.url, settings)
        assert (await fetch(site.url, settings)).from_cache
    await fetch(world.url("odd", "/cookie-wall"), settings)
    everything = b"".join(zstandard.decompress(path.read_bytes()) for path in files(settings))
    assert b"Tides" in everything
    assert b"tell-nobody" not in everything
    assert b"seen=1" not in everything
    assert b"A plain page" not in everything, "what was asked for with a cookie is for one visitor"


@pytest.mark.parametrize("status", [302, 403, 404, 500])
async def test_only_pages_are_kept(world: World, settings: Settings, status):
    world.put(
        "archive",
        "/odd",
        "<p>Something else.</p>",
        status=status,
        headers=FRESH | {"location": world.url("odd", "/plain")},
    )
    for _ in range(2):
        with suppress(FetchError):
            await fetch(world.url("archive", "/odd"), settings)
    assert len(world.asked("archive", "/odd")) > 1


async def test_a_page_that_has_moved_for_good_is_not_asked_where_it_was(
    world: World, settings: Settings
):
    world.put(
        "archive", "/old", "", status=301, headers=FRESH | {"location": world.url("odd", "/plain")}
    )
    for _ in range(2):
        assert (await fetch(world.url("archive", "/old"), settings)).url == world.url(
            "odd", "/plain"
        )
    assert len(world.asked("archive", "/old")) == 1
    assert len(world.asked("odd", "/plain")) == 2


async def test_a_kept_redirect_is_judged_like_a_new_one(world: World, settings: Settings):
    world.put(
        "archive",
        "/trap",
        "",
        status=301,
        headers=FRESH | {"location": world.url("private", "/secret")},
    )
    for _ in range(2):
        with pytest.raises(NotAllowed):
            await fetch(world.url("archive", "/trap"), settings)
    assert not world.asked("private")


async def test_who_may_not_visit_a_host_gets_no_copy_of_its_pages(settings: Settings):
    async with Site(FRESH) as site:
        await fetch(site.url, settings)
        with pytest.raises(NotAllowed):
            await fetch(site.url, settings.with_(allow_hosts=("127.0.1.1",)))


async def test_a_server_that_is_gone_is_stood_in_for_by_a_copy_that_says_so(settings: Settings):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        await site.leave()
        copy = await fetch(site.url, settings)
    assert (copy.body, copy.from_cache, copy.stale) == (BODY, True, True)
    assert copy.dated is not None


async def test_a_page_that_has_moved_is_stood_in_for_too(world: World, settings: Settings):
    async with Site(CHECKED) as site:
        world.put("archive", "/old", "", status=301, headers=CHECKED | {"location": site.url})
        await fetch(world.url("archive", "/old"), settings)
        await site.leave()
        copy = await fetch(world.url("archive", "/old"), settings)
    assert (copy.url, copy.body, copy.stale) == (site.url, BODY, True)


@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_that_fails_is_stood_in_for_by_a_copy_that_says_so(
    settings: Settings, status
):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        site.status, site.body = status, b"broken"
        copy = await fetch(site.url, settings)
        assert (copy.body, copy.stale) == (BODY, True)
        site.status, site.body = 200, b"mended"
        assert (await fetch(site.url, settings)).body == b"mended"


@pytest.mark.parametrize(
    "headers",
    [
        {"cache-control": "max-age=0, must-revalidate"},
        {"cache-control": "no-cache"},
        {"date": formatdate(time.time() - 8 * 86_400, usegmt=True)},
        {
            "date": formatdate(time.time() - 100, usegmt=True),
            "cache-control": "max-age=10, stale-if-error=60",
        },
    ],
)
async def test_a_copy_that_must_not_stand_in_does_not(settings: Settings, headers):
    async with Site(headers) as site:
        await fetch(site.url, settings)
        await site.leave()
        with pytest.raises(Unreachable):
            await fetch(site.url, settings)


async def test_a_refusal_is_not_covered_up_by_a_copy(settings: Settings):
    async with Site(CHECKED) as site:
        await fetch(site.url, settings)
        site.status = 410
        with pytest.raises(Blocked, match="410"):
            await fetch(site.url, settings)
        await site.leave()
        with pytest.raises(Unreachable):  # and then there is no copy any more
            await fetch(site.url, settings)


async def test_an_answer_from_the_future_grows_old_all_the_same(settings: Settings):
    async with Site(FRESH | {"date": "Fri, 01 Jan 2100 00:00:00 GMT"}) as site:
        await fetch(site.url, settings)
        copy = await fetch(site.url, settings)
    assert copy.dated is not None
    assert copy.dated.timestamp() <= time.time()


@pytest.mark.parametrize(
    "headers",
    [
        {"etag": '"\xe9t\xe9"'},
        {"expires": "soon", "last-modified": "Whenever"},
        {"cache-control": "max-age=\xb2"},
        {"date": "Mon, 01 Jan 2020 00:00:00 +9999999999999999"},
    ],
)
async def test_odd_headers_do_no_harm(settings: Settings, headers):
    async with Site(headers) as site:
        assert [(await fetch(site.url, settings)).body for _ in range(2)] == [BODY, BODY]


async def test_a_damaged_copy_is_as_good_as_none(settings: Settings):
    async with Site(FRESH) as site:
        await fetch(site.url, settings)
        for path in files(settings):
            whole = path.read_bytes()
            for damaged in (
                b"",
                b"junk",
                whole[:-5],
                whole[:20] + b"\x00" + whole[21:],
                zstandard.compress(b"[]\n"),
                zstandard.compress(b"\n"),
            ):
                path.write_bytes(damaged)
                assert (await fetch(site.url, settings)).body == BODY
        assert (await fetch(site.url, settings)).from_cache, "it was replaced"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_a_disk_that_takes_nothing_does_no_harm(settings: Settings):
    (settings.home / "cache").mkdir(parents=True, mode=0o500)
    async with Site(FRESH) as site:
        assert (await fetch(site.url, settings)).body == BODY


async def test_a_file_where_the_folder_should_be_does_no_harm(settings: Settings):
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "cache").write_text("not a folder")
    async with Site(FRESH) as site:
        assert (await fetch(site.url, settings)).body == BODY


async def test_the_cache_can_be_turned_off(settings: Settings):
    off = settings.with_(cache_mb=0)
    async with Site(FRESH) as site:
        assert [(await fetch(site.url, off)).from_cache for _ in range(2)] == [False, False]
        assert not (settings.home / "cache").exists()
        await fetch(site.url, settings)
        await fetch(site.url, off)
        assert (await fetch(site.url, settings)).from_cache, "what others cached stays"


async def test_a_copy_is_subject_to_the_limit_of_a_page(settings: Settings):
    async with Site(FRESH, body=b"tide " * 1_000) as site:
        await fetch(site.url, settings)
        with pytest.raises(TooLarge):
            await fetch(site.url, settings.with_(page_bytes=1_000))


PROGRAM = """
import asyncio, sys
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
async def main(base):
    async with Web(Settings()) as web:
        pages = await asyncio.gather(*(web.fetch(f"{base}?n={n}", seconds=20) for n in range(20)))
    print(sum(page.from_cache for page in pages), len({page.body for page in pages}))
asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.process
async def test_processes_share_the_cache(world: World, settings: Settings):
    url = world.put("archive", "/tides", "<p>The winter tide.</p>", headers=FRESH)

    async def process() -> list[str]:
        env = (
            os.environ
            | world.env
            | {"SPADEWORK_HOME": str(settings.home), "SPADEWORK_PARALLEL_PER_HOST": "4"}
        )
        started = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, url, env=env, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            return (await started.communicate())[0].decode().split()

    together = await asyncio.gather(process(), process())
    assert [bodies for _, bodies in together] == ["1", "1"]
    before = len(world.asked("archive", "/tides"))
    assert before <= 40
    assert await process() == ["20", "1"]
    assert len(world.asked("archive", "/tides")) == before


def test_the_least_recently_used_goes_when_there_is_no_room(tmp_path: Path):
    store, noise = Store(tmp_path, 1_000_000), os.urandom(30_000)
    for n in range(30):
        store.put("http", f"{n}", noise)
        for path in tmp_path.glob("*/*/*"):  # a file is as old as it looks
            os.utime(path, (path.stat().st_atime - 10, path.stat().st_mtime - 10))
    assert store.get("http", "0") == noise  # used last
    for n in range(30, 40):
        store.put("http", f"{n}", noise)
    taken = sum(path.stat().st_size for path in tmp_path.glob("*/*/*"))
    assert taken < 1_050_000
    assert store.get("http", "0") == noise
    assert store.get("http", "1") is None
    assert store.get("http", "39") == noise


def test_what_is_too_large_for_the_cache_does_not_push_everything_out(tmp_path: Path):
    store = Store(tmp_path, 1_000_000)
    store.put("http", "small", b"tide")
    store.put("http", "large", b"old")
    store.put("http", "large", os.urandom(200_000))
    assert store.get("http", "large") is None, "not even what it replaces"
    assert store.get("http", "small") == b"tide"


TEXT = Extracted("Tides", "High tide.", links=(Link("http://example.com/", "a link"),))


def page(body: bytes = BODY, url: str = "http://example.com/tides") -> Fetched:
    return Fetched(url, 200, "text/html", "utf-8", body)


class Readings:
    """Counts how often a page was really read."""

    count = 0

    async def read(self) -> Extracted:
        self.count += 1
        return TEXT


async def test_a_body_that_has_not_changed_is_read_once(tmp_path: Path):
    readings = Readings()
    for _ in range(2):  # two sessions
        assert await Cleaned(Store(tmp_path, 10**6)).read_once(page(), readings.read) == TEXT
    assert readings.count == 1
    await Cleaned(Store(tmp_path, 10**6)).read_once(page(b"changed"), readings.read)
    await Cleaned(Store(tmp_path, 10**6)).read_once(
        page(url="http://example.com/other"), readings.read
    )
    assert readings.count == 3


async def test_what_readers_go_by_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    readings, cleaned = Readings(), Cleaned(Store(tmp_path / "cache", 10**6))
    for file in ("extract/weights.txt", "text/lang/en.toml", "extract/html.py"):
        package, path = import_module(f"spadework.tools.{file.partition('/')[0]}"), tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(package, "__file__", str(tmp_path / file.partition("/")[0] / "a.py"))
        for said in ("one", "two", "two"):
            path.write_text(said)
            extraction_cache._readers.cache_clear()  # another process
            await cleaned.read_once(page(), readings.read)
    extraction_cache._readers.cache_clear()
    assert readings.count == 6


async def test_a_damaged_text_is_read_anew(tmp_path: Path):
    readings, cleaned = Readings(), Cleaned(Store(tmp_path, 10**6))
    await cleaned.read_once(page(), readings.read)
    for path in kept(tmp_path):
        for damaged in (
            b"junk",
            zstandard.compress(b"{}"),
            zstandard.compress(b"[1]"),
            zstandard.compress(b'{"found": {"title": 1}}'),
        ):
            path.write_bytes(damaged)
            assert await cleaned.read_once(page(), readings.read) == TEXT
    assert readings.count == 5


async def test_a_failure_to_read_is_not_kept(tmp_path: Path):
    cleaned = Cleaned(Store(tmp_path, 10**6))

    async def fail() -> Extracted:
        raise Unreachable("It broke.")

    with pytest.raises(Unreachable):
        await cleaned.read_once(page(), fail)
    assert await cleaned.read_once(page(), Readings().read) == TEXT
