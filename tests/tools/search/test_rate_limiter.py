"""Providers are asked at their own pace, in the order of asking, by all sessions of the process
together.
"""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from spadework.errors import QuotaSpent, Throttled
from spadework.settings import Settings
from spadework.tools.search import rate_limiter
from spadework.tools.search.failover import Manners, Search
from spadework.tools.search.rate_limiter import (
    DEFAULT,
    LIMITS,
    MOST_PAUSE_SECONDS,
    Limit,
    RateLimiter,
    RateLimiters,
    limit_of,
)
from spadework.values import Hit, Query
from tests.world.timing import eventually

ASKED = Query(text="census Port Aldermere")


class Asked:
    """A provider that counts how many ask it at once, and when; the first `limited` are told to
    come back.
    """

    describes = "the test"

    def __init__(
        self,
        name: str = "asked",
        seconds: float = 0.0,
        limited: int = 0,
        retry_after: float | None = 0.3,
        busy: bool = False,
    ) -> None:
        self.busy = busy
        self.name = name
        self.seconds, self.limited, self.retry_after = seconds, limited, retry_after
        self.began: list[float] = []
        self.queries: list[str] = []
        self.now = self.most = 0

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        self.began.append(time.monotonic())
        self.queries.append(query.text)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.now -= 1
        if len(self.began) <= self.limited:
            raise QuotaSpent("Too many.", retry_after=self.retry_after, busy=self.busy)
        return [Hit(url="https://a.example/")]

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.began, self.began[1:], strict=False)]


def search(provider: Asked, limiters: RateLimiters, per_second: float, at_once: int) -> Search:
    return Search(
        [provider], Manners(limiters=limiters, limits={provider.name: (per_second, at_once)})
    )


async def ask(search: Search, text: str = "q", seconds: float = 5.0) -> list[Hit]:
    return await search.ask(search.providers[0], Query(text=text), limit=5, seconds=seconds)


async def test_searches_of_two_sessions_share_one_pace():
    limiters, provider = RateLimiters(), Asked()
    one, two = search(provider, limiters, 20, 5), search(provider, limiters, 20, 5)
    await asyncio.gather(
        *(ask(session, str(n)) for n, session in enumerate([one, one, two, two, one]))
    )
    assert min(provider.gaps) >= 0.045
    assert provider.queries == list("01234")


async def test_no_more_are_asked_at_once_than_allowed():
    provider = Asked(seconds=0.05)
    session = search(provider, RateLimiters(), 1000, 2)
    await asyncio.gather(*(ask(session) for _ in range(6)))
    assert (provider.most, len(provider.began)) == (2, 6)


@pytest.mark.timed
async def test_one_provider_does_not_hold_up_another():
    limiters, slow, fast = RateLimiters(), Asked("slow"), Asked("fast")
    session = Search(
        [slow, fast], Manners(limiters=limiters, limits={"slow": (1, 1), "fast": (100, 9)})
    )
    queue = asyncio.gather(*(session.ask(slow, ASKED, limit=5, seconds=5) for _ in range(2)))
    before = time.monotonic()
    await session.ask(fast, ASKED, limit=5, seconds=5)
    assert time.monotonic() - before < 0.5
    queue.cancel()
    with pytest.raises(asyncio.CancelledError):
        await queue


@pytest.mark.timed
async def test_a_turn_that_would_come_too_late_is_refused_at_once():
    session = search(Asked(), RateLimiters(), 0.1, 1)
    await ask(session)
    before = time.monotonic()
    with pytest.raises(
        Throttled,
        match=(
            r"^asked was not queried: it is queried at most once every 10 s, and this query's turn"
            r" would have come too"
        ),
    ):
        await ask(session, seconds=2)
    assert time.monotonic() - before < 0.5
    assert session.waits.news() == ("1 query to asked was skipped because of its rate limit.",)


async def test_waiting_for_others_to_end_is_bounded_by_the_deadline():
    session = search(Asked(seconds=1), RateLimiters(), 1000, 1)
    first = asyncio.create_task(ask(session))
    await asyncio.sleep(0)
    with pytest.raises(Throttled, match="other queries were ahead of this one"):
        await ask(session, seconds=0.1)
    assert await first


async def test_throttling_does_not_count_as_a_failure_of_the_provider():
    provider = Asked()
    session = search(provider, RateLimiters(), 2, 1)
    await ask(session)
    for _ in range(5):
        with pytest.raises(Throttled):
            await ask(session, seconds=0.01)
    assert await ask(session)


async def test_who_gives_up_leaves_the_queue_in_order():
    provider = Asked(seconds=0.1)
    session = search(provider, RateLimiters(), 1000, 1)
    waiting = [asyncio.create_task(ask(session, str(n))) for n in range(5)]
    await eventually(lambda: provider.began)
    waiting[1].cancel()
    waiting[3].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert provider.queries == ["0", "2", "4"]


async def test_a_time_to_come_back_counts_for_everybody_and_is_waited_for():
    limiters, provider = RateLimiters(), Asked(limited=1)
    one, two = search(provider, limiters, 1000, 5), search(provider, limiters, 1000, 5)
    first = asyncio.create_task(ask(one, "first"))
    await eventually(lambda: provider.began)
    await asyncio.sleep(0.02)
    await asyncio.gather(first, ask(two, "second"))
    assert provider.gaps[0] >= 0.28
    assert sorted(provider.queries) == ["first", "first", "second"]


async def test_a_time_to_come_back_after_the_deadline_refuses_the_others_without_asking():
    limiters, provider = RateLimiters(), Asked(limited=9, retry_after=60)
    session = search(provider, limiters, 1000, 5)
    with pytest.raises(QuotaSpent):
        await ask(session)
    for _ in range(4):
        with pytest.raises(
            Throttled,
            match=(
                r"asked was not queried: it received too many requests and asks to wait"
                r" until \d\d:\d\d:\d\d UTC\."
            ),
        ):
            await ask(search(provider, limiters, 1000, 5))
    assert len(provider.began) == 1


async def test_a_provider_that_keeps_refusing_is_asked_twice_for_a_query():
    provider = Asked(limited=9, retry_after=0.05)
    with pytest.raises(QuotaSpent):
        await ask(search(provider, RateLimiters(), 1000, 5))
    assert len(provider.began) == 2


async def test_one_that_names_no_time_is_asked_again_more_slowly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limiter, "FIRST_SPACING", 0.1)
    limiters, provider = RateLimiters(), Asked(limited=2, retry_after=None, busy=True)
    assert await ask(search(provider, limiters, 1000, 5)) != []
    assert provider.gaps == [pytest.approx(0.1, abs=0.09), pytest.approx(0.2, abs=0.09)]
    await ask(search(provider, limiters, 1000, 5))
    assert provider.gaps[-1] > 0.15, "the next run of the process keeps to what was learned"


async def test_refusals_that_come_together_teach_one_thing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limiter, "FIRST_SPACING", 0.1)
    limiters = RateLimiters()
    provider = Asked(seconds=0.05, limited=4, retry_after=None, busy=True)
    session = search(provider, limiters, 1000, 5)
    await asyncio.gather(*(ask(session) for _ in range(4)))
    assert len(provider.began) == 8
    assert max(provider.gaps[-3:]) < 0.19


async def test_waits_are_counted_and_worded():
    session = search(Asked(), RateLimiters(), 1.6, 5)
    await asyncio.gather(*(ask(session) for _ in range(3)))
    assert session.waits.news() == (
        "2 queries to asked waited up to 1 s to respect its rate limit.",
    )
    assert session.waits.news() == ()


def test_threads_with_event_loops_of_their_own_share_the_queue():
    limiter, began, most, now = RateLimiter(), [], [0], [0]
    lock = threading.Lock()

    async def turns() -> None:
        for _ in range(5):
            async with limiter.turn(Limit(0.01, 2), 20):
                with lock:
                    began.append(time.monotonic())
                    now[0] += 1
                    most[0] = max(most[0], now[0])
                await asyncio.sleep(0.005)
                with lock:
                    now[0] -= 1

    threads = [threading.Thread(target=lambda: asyncio.run(turns())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    began.sort()
    assert len(began) == 20
    assert most[0] <= 2
    assert began[-1] - began[0] >= 0.18


def test_the_settings_say_otherwise_than_the_defaults():
    settings = Settings.load(search_limits={"arxiv": (5, 3)})
    assert limit_of("arxiv", settings.search_limits) == Limit(0.2, 3)
    assert limit_of("arxiv", {}) == LIMITS["arxiv"] == Limit(3.0, 1)
    assert (limit_of("of-mine", {}), limit_of("library", {})) == (DEFAULT, None)


async def test_a_wrong_time_to_come_back_silences_nobody_for_days():
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])
    limiter.pause(10**9)
    now[0] = MOST_PAUSE_SECONDS
    async with limiter.turn(DEFAULT, 1) as waited:
        assert waited == 0
