"""What is kept of the attempts to have a page, be it read or not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from spadework.errors import Blocked, FetchError, TooSlow, Unreadable
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from spadework.tools.stores.exchanges import error_from_text, error_to_text
from spadework.values import Attempt
from tests.world.sites import World

ARTICLE = f"<title>Tides</title><main><h1>Tides</h1><p>{'The tide turns twice a day. ' * 20}</p>"


@pytest.fixture
async def reader(world: World) -> AsyncIterator[Reader]:
    async with Web(Settings(allow_hosts=world.hosts, max_level=1)) as web:
        yield Reader(web)


def bare(attempts: tuple[Attempt, ...]) -> list[tuple[int | None, int, bool]]:
    return [(one.level, one.status, bool(one.reason)) for one in attempts]


async def test_a_page_that_was_read_has_its_attempt_and_a_cached_one_took_nothing(
    world: World, reader: Reader
) -> None:
    url = world.put("archive", "/tides", ARTICLE, headers={"cache-control": "max-age=60"})
    assert not await reader.holds(url)
    first, _ = await reader.read(url, seconds=20)
    assert await reader.holds(url)
    [made] = first.attempts
    assert bare(first.attempts) == [(0, 200, False)]
    assert made.seconds > 0
    assert made.bytes == len(first.body)
    again, _ = await reader.read(url, seconds=20)
    assert again.attempts == (Attempt(level=0, status=200, cached=True),)


async def test_a_page_that_was_refused_has_one_for_every_level(
    world: World, reader: Reader
) -> None:
    with pytest.raises(Blocked) as refused:
        await reader.read(world.put("archive", "/shut", "no", status=403), seconds=20)
    attempts = refused.value.attempts
    assert bare(attempts) == [(0, 403, True), (1, 403, True)]
    assert attempts[-1].reason == str(refused.value)
    assert all(attempt.seconds > 0 for attempt in attempts)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("<title>Robot check</title><form><p>Complete the captcha.</p></form>", 200, Blocked),
        ("<p></p>", 200, Unreadable),
        ("gone", 404, Blocked),
        ("broken", 500, FetchError),
    ],
)
async def test_the_last_attempt_says_why_there_is_no_page(
    world: World, reader: Reader, body: str, status: int, kind: type[FetchError]
) -> None:
    with pytest.raises(kind) as failed:
        await reader.read(world.put("archive", "/none", body, status=status), seconds=20)
    last = failed.value.attempts[-1]
    assert (last.status, last.reason) == (status, str(failed.value))


async def test_one_that_was_given_up_took_its_time(world: World, reader: Reader) -> None:
    world.hanging = {"archive"}
    with pytest.raises(TooSlow) as late:
        await reader.read(world.url("archive", "/never"), seconds=0.6)
    [made] = late.value.attempts
    assert made.seconds == pytest.approx(0.6, abs=0.3)
    assert made.reason == str(late.value)


async def test_the_attempts_of_a_failure_are_kept_with_it(world: World, reader: Reader) -> None:
    with pytest.raises(Blocked) as refused:
        await reader.read(world.put("archive", "/shut", "no", status=403), seconds=20)
    kept = error_from_text(error_to_text(refused.value))
    assert tuple(Attempt.model_validate(one) for one in kept.attempts) == refused.value.attempts
