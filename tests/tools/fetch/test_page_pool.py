"""Many pages at once: never more than allowed, none in vain, none left behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import given, strategies as st

from spadework.budget import Budget
from spadework.errors import BudgetSpent, TooSlow, Unreachable, Unreadable
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.exchange import Fetched
from spadework.tools.fetch.page_pool import Began, Came, Failed, Left, Limits, Outcome, read_many
from spadework.tools.fetch.page_reader import Reader
from tests.tools.fetch.conftest import until
from tests.world.sites import World

#: A time that no test waits for.
LONG = 60.0


def limits(wanted: int, **changes: float) -> Limits:
    loop = asyncio.get_running_loop()
    seconds = changes.pop("seconds", LONG)
    usual = Limits(
        wanted=wanted,
        parallel=5,
        per_group=5,
        page_seconds=LONG,
        slow_seconds=LONG,
        until=loop.time() + seconds,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


class Pages:
    """Candidates by name: `a` is read as soon as `open["a"]` is set; a name in `fail` fails. Says
    what ran and what runs.
    """

    def __init__(self, *, fail: str = "", shut: str = "", pages: int = 1_000) -> None:
        self.open: dict[str, asyncio.Event] = {}
        self.fail, self.shut = fail, shut
        self.began: list[str] = []
        self.running: set[str] = set()
        self.most = 0
        self.budget = Budget(pages=pages)

    async def read(self, name: str, seconds: float) -> str:
        self.budget.charge("pages")
        self.began.append(name)
        self.running.add(name)
        self.most = max(self.most, len(self.running))
        try:
            if name in self.shut:
                await self.open.setdefault(name, asyncio.Event()).wait()
            await asyncio.sleep(0)
            if name in self.fail:
                raise Unreadable(f"{name} is empty.")
            return f"page {name}"
        finally:
            self.running.remove(name)

    async def all(
        self, names: Sequence[str], limited: Limits, **how: object
    ) -> list[Outcome[str, str]]:
        """Every outcome. Opens what is named in `opens` once another one came."""
        opens, stop = how.get("opens", {}), how.get("stop") or asyncio.Event()
        group: Callable[[str], str] = how.get("group") or (lambda name: "")  # type: ignore[assignment]
        outcomes: list[Outcome[str, str]] = []
        async with aclosing(
            read_many(names, self.read, limited, group=group, key=lambda page: page, stop=stop)
        ) as reading:  # type: ignore[arg-type]
            async for outcome in reading:
                outcomes.append(outcome)
                if isinstance(outcome, Came) and outcome.candidate in opens:  # type: ignore[operator]
                    self.open[opens[outcome.candidate]].set()  # type: ignore[index]
        assert not self.running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return outcomes


def came(outcomes: Sequence[Outcome[str, str]]) -> str:
    return "".join(outcome.candidate for outcome in outcomes if isinstance(outcome, Came))


def left(outcomes: Sequence[Outcome[str, str]], why: str) -> str:
    return "".join(
        outcome.candidate
        for outcome in outcomes
        if isinstance(outcome, Left) and outcome.why == why
    )


async def test_as_many_as_wanted_are_read_the_best_first():
    pages = Pages()
    assert sorted(came(await pages.all("abcdefgh", limits(3)))) == ["a", "b", "c"]
    assert pages.began == ["a", "b", "c"], "and nothing was read in vain"


async def test_a_page_that_fails_is_replaced_by_the_next_at_once():
    pages = Pages(fail="bd")
    outcomes = await pages.all("abcdefgh", limits(4))
    assert sorted(came(outcomes)) == ["a", "c", "e", "f"]
    assert [outcome.candidate for outcome in outcomes if isinstance(outcome, Failed)] == ["b", "d"]
    assert pages.began == list("abcdef")


async def test_what_there_is_comes_when_too_few_can_be_read():
    assert came(await Pages(fail="ac").all("abc", limits(5))) == "b"
    assert came(await Pages().all("", limits(5))) == ""
    assert came(await Pages().all("abc", limits(0))) == ""


async def test_results_come_as_they_come():
    pages = Pages(shut="a")
    assert came(await pages.all("abc", limits(3), opens={"c": "a"})) == "bca"


async def test_no_more_are_read_at_once_than_allowed():
    pages = Pages()
    await pages.all("abcdefghij", limits(10, parallel=3))
    assert pages.most == 3


async def test_a_host_has_few_at_once_and_the_others_do_not_wait_for_it():
    pages = Pages(shut="AB")
    outcomes = await pages.all(
        "ABCDxy",
        limits(6, per_group=2),
        group=lambda name: "host" if name.isupper() else "",
        opens={"x": "A", "y": "B"},
    )
    assert pages.began[:4] == ["A", "B", "x", "y"]
    assert came(outcomes)[:2] == "xy"
    assert sorted(came(outcomes)) == list("ABCDxy")


async def test_a_worse_page_does_not_take_the_place_of_one_that_waits_for_its_host():
    pages = Pages()
    assert (
        came(
            await pages.all(
                "ABCDxy",
                limits(4, per_group=1),
                group=lambda name: "host" if name.isupper() else "",
            )
        )
        == "ABCD"
    )
    pages = Pages(fail="B")
    outcomes = await pages.all(
        "ABCDxy", limits(4, per_group=1), group=lambda name: "host" if name.isupper() else ""
    )
    assert sorted(came(outcomes)) == list("ACDx")


async def test_a_host_that_is_slow_is_not_waited_for():
    pages = Pages(shut="AB")
    limited = limits(4, per_group=2, slow_seconds=0.05)
    outcomes = await pages.all(
        "ABCDwxyz", limited, group=lambda name: "host" if name.isupper() else "", opens={"y": "A"}
    )
    assert sorted(came(outcomes)) == list("Awxy")


async def test_beside_a_slow_page_another_is_read_and_the_first_to_come_counts():
    pages = Pages(shut="a")
    outcomes = await pages.all("abc", limits(1, slow_seconds=0.05))
    assert (came(outcomes), left(outcomes, "not needed")) == ("b", "a")
    assert pages.began == ["a", "b"]


async def test_a_slow_page_that_comes_after_all_counts_while_there_is_room():
    pages = Pages(shut="ab")
    outcomes = await pages.all("abcd", limits(2, slow_seconds=0.05), opens={"c": "a"})
    # a and b are slow, c and d are read beside them: both come before a or b are let go
    assert sorted(came(outcomes)) == ["c", "d"]
    pages = Pages(shut="a", fail="b")
    outcomes = await pages.all("ab", limits(1, slow_seconds=0.05, seconds=0.3))
    assert (came(outcomes), left(outcomes, "deadline")) == ("", "a"), (
        "what failed beside it costs it nothing"
    )


async def test_a_slow_page_gets_no_more_than_one_beside_it():
    pages = Pages(shut="abcdef")
    outcomes = await pages.all("abcdef", limits(1, slow_seconds=0.03, seconds=0.4))
    assert pages.began == ["a", "b"]
    assert left(outcomes, "deadline") == "ab"


async def test_the_pages_beside_slow_ones_stay_within_what_is_allowed_at_once():
    pages = Pages(shut="abcdef")
    await pages.all("abcdef", limits(3, parallel=4, slow_seconds=0.03, seconds=0.4))
    assert pages.began == ["a", "b", "c", "d"]


async def test_a_page_has_its_own_deadline():
    pages = Pages(shut="a")
    outcomes = await pages.all("ab", limits(1, page_seconds=0.05))
    assert came(outcomes) == "b"
    [failed] = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert isinstance(failed.error, TooSlow)


@pytest.mark.timed
async def test_at_the_deadline_there_is_what_came():
    started = time.monotonic()
    outcomes = await Pages(shut="bd").all("abcd", limits(4, seconds=0.1))
    assert (came(outcomes), left(outcomes, "deadline")) == ("ac", "bd")
    assert time.monotonic() - started < 2


async def test_a_deadline_that_is_over_starts_nothing():
    pages = Pages()
    assert await pages.all("abc", limits(3, seconds=-1)) == []


async def test_it_stops_when_told_to():
    pages, stop = Pages(shut="b"), asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, stop.set)
    outcomes = await pages.all("ab", limits(2), stop=stop)
    assert (came(outcomes), left(outcomes, "stopped")) == ("a", "b")


@pytest.mark.parametrize("limit", [0, 1, 3])
async def test_the_purse_is_never_overrun(limit):
    pages = Pages(pages=limit, fail="b")
    outcomes = await pages.all("abcdefgh", limits(6, parallel=2, slow_seconds=0.01))
    assert len(pages.began) == pages.budget.used.pages == limit
    assert left(outcomes, "budget")


async def test_the_same_page_twice_fills_one_place():
    async def read(name: str, seconds: float) -> str:
        return name.lower()

    async with aclosing(
        read_many(
            "aAb",
            read,
            limits(2),
            group=lambda name: "",
            key=lambda page: page,
            stop=asyncio.Event(),
        )
    ) as reading:
        outcomes = [outcome async for outcome in reading]
    assert {outcome.result for outcome in outcomes if isinstance(outcome, Came)} == {"a", "b"}


async def test_an_error_of_our_own_is_not_taken_for_a_page_that_failed():
    async def read(name: str, seconds: float) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with aclosing(
            read_many(
                "ab",
                read,
                limits(2),
                group=lambda name: "",
                key=lambda page: page,
                stop=asyncio.Event(),
            )
        ) as reading:
            async for _ in reading:
                pass
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_who_is_cancelled_leaves_nothing_behind():
    pages = Pages(shut="abc")
    running = asyncio.create_task(pages.all("abc", limits(3)))
    await until(lambda: len(pages.running) == 3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not pages.running
    assert asyncio.all_tasks() == {asyncio.current_task()}


@given(
    st.lists(st.sampled_from(["ok", "fail", "spent"]), max_size=12),
    st.integers(0, 6),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_every_candidate_that_began_ends_once_and_the_limits_hold(
    kinds, wanted, parallel, per_group
):
    async def run() -> None:
        running, most = 0, 0

        async def read(n: int, seconds: float) -> int:
            nonlocal running, most
            running += 1
            most = max(most, running)
            try:
                await asyncio.sleep(0)
                if kinds[n] == "fail":
                    raise Unreachable("gone")
                if kinds[n] == "spent":
                    raise BudgetSpent("pages")
                return n
            finally:
                running -= 1

        allowed = limits(wanted, parallel=parallel, per_group=per_group)
        reading = read_many(
            range(len(kinds)),
            read,
            allowed,
            group=lambda n: str(n % 2),
            key=lambda n: n,
            stop=asyncio.Event(),
        )
        async with aclosing(reading):
            outcomes = [outcome async for outcome in reading]
        began = [outcome.candidate for outcome in outcomes if isinstance(outcome, Began)]
        ended = [outcome.candidate for outcome in outcomes if not isinstance(outcome, Began)]
        assert sorted(began) == sorted(ended) == sorted(set(ended))
        good = kinds.count("ok")
        assert len([outcome for outcome in outcomes if isinstance(outcome, Came)]) <= min(
            wanted, good
        )
        if "spent" not in kinds:
            assert len([outcome for outcome in outcomes if isinstance(outcome, Came)]) == min(
                wanted, good
            )
        assert most <= parallel

    asyncio.run(run())


async def read_all(web: Web, urls: Sequence[str], limited: Limits) -> list[Outcome[str, Fetched]]:
    async def read(url: str, seconds: float) -> Fetched:
        return await web.fetch(url, seconds=seconds)

    reading = read_many(
        urls, read, limited, group=lambda url: "", key=lambda page: page.url, stop=asyncio.Event()
    )
    async with aclosing(reading):
        return [outcome async for outcome in reading]


async def test_a_slow_server_is_overtaken_and_its_connection_closed(
    world: World, settings: Settings, sockets: Callable[[], int]
):
    async with Web(settings.with_(robots=False)) as web:
        urls = [world.url("odd", "/hang"), world.url("odd", "/plain"), world.url("odd", "/untyped")]
        outcomes = await read_all(web, urls, limits(1, slow_seconds=0.2))
        assert [outcome.result.url for outcome in outcomes if isinstance(outcome, Came)] == [
            urls[1]
        ]
        assert [record.path for record in world.asked("odd")] == ["/hang", "/plain"], (
            "one page beside the slow one, and no more"
        )
        await until(lambda: all(record.ended for record in world.asked("odd", "/hang")))
        assert sockets() <= 1  # the one that was answered, kept for the next request
    assert sockets() == 0


async def test_the_deadline_closes_every_connection(
    world: World, settings: Settings, sockets: Callable[[], int]
):
    async with Web(settings.with_(robots=False, parallel_per_host=10)) as web:
        urls = [world.url("odd", f"/{path}?{n}") for n in range(3) for path in ("hang", "drip")]
        outcomes = await read_all(web, urls, limits(6, seconds=0.5))
        assert not [outcome for outcome in outcomes if isinstance(outcome, Came)]
        assert sockets() == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.timed
async def test_a_hundred_pages_never_block_the_event_loop(world: World, settings: Settings):
    lag, over = 0.0, asyncio.Event()

    async def probe() -> None:
        nonlocal lag
        while not over.is_set():
            before = time.monotonic()
            await asyncio.sleep(0.005)
            lag = max(lag, time.monotonic() - before - 0.005)

    probing = asyncio.create_task(probe())
    async with Web(settings.with_(robots=False, parallel_per_host=10)) as web:
        reader = Reader(web)

        async def read(url: str, seconds: float) -> Fetched:
            return (await reader.read(url, seconds=seconds))[0]

        urls = [world.url("odd", f"/long?paragraphs={100 + n}") for n in range(100)]
        with blockbuster_ctx("spadework"):
            reading = read_many(
                urls,
                read,
                limits(100, parallel=10),
                group=lambda url: "",
                key=lambda page: page.url,
                stop=asyncio.Event(),
            )
            async with aclosing(reading):
                outcomes = [outcome async for outcome in reading]
    over.set()
    await probing
    assert sum(isinstance(outcome, Came) for outcome in outcomes) == 100
    # The servers of the world run in a thread of this process: hence not 0.05.
    assert lag < 0.15
