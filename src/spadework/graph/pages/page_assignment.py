"""Assign pages to a round's workers so that the order of their requests has no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import NamedTuple

from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.tools.ranking.relevance import reciprocal_rank_fusion
from spadework.tools.stores.journal import Journal

#: The canonical URLs that a worker wants, best first, and how many it needs.
PageRequest = tuple[Sequence[str], int]
Assignment = dict[str, list[str]]

#: Maximum seconds to wait for other workers, so that one slow search does not delay them all.
ASSIGN_SECONDS = 5.0


class How(NamedTuple):
    """Rules for assigning pages. `own`: each page goes to only one topic; `joint`: pages are
    ranked across all requests; `most`: maximum pages in total.
    """

    own: bool = True
    joint: bool = False
    most: int | None = None


OWN = How()


class PageAssignment:
    """Assigns pages to the topics in `among`. The assignment is recorded for the question and
    round in `of`, so that a resumed run can reuse it.
    """

    def __init__(
        self, journal: Journal, of: tuple[str, int], among: Sequence[str], how: How = OWN
    ) -> None:
        self._journal = journal
        self._key = {"of": of, "among": [*among]}
        self._among = among
        self._how = how
        self._wishes: dict[str, PageRequest] = {}
        self._full = asyncio.Event()
        self._dealing = asyncio.Lock()
        self._dealt: Assignment | None = None

    async def assign(
        self, topic: str, wish: PageRequest, stop: asyncio.Event, *, seconds: float
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return this topic's pages, and the pages assigned only to other topics (empty if
        `How.own` is false). Wait up to `seconds` (at most ASSIGN_SECONDS) for the requests of
        all topics. A topic whose request comes later gets pages that the rules still allow.
        """
        self._wishes[topic] = wish
        if self._wishes.keys() >= set(self._among):
            self._full.set()
        async with self._dealing:
            if self._dealt is None:
                self._dealt = await self._journal.find(
                    "deal", self._key, Assignment
                ) or await self._await_full(stop, min(ASSIGN_SECONDS, seconds))
        gone = {url for urls in self._dealt.values() for url in urls}
        others = frozenset(gone - {*self._dealt.get(topic, ())}) if self._how.own else frozenset()
        # If a worker resumed after a crash does not find its assigned pages again, it gets other
        # pages.
        mine = frozenset(url for url in self._dealt.get(topic, ()) if url in wish[0])
        return mine or self._others_pages(wish, gone), others

    def _others_pages(self, wish: PageRequest, gone: Set[str]) -> frozenset[str]:
        urls, wanted = wish
        room = wanted if self._how.most is None else min(wanted, self._how.most - len(gone))
        if self._how.own:
            return frozenset([url for url in urls if url not in gone][:room])
        first = urls[:wanted]
        new = [url for url in first if url not in gone]
        return frozenset([*(url for url in first if url in gone), *new[: max(0, room)]])

    async def _await_full(self, stop: asyncio.Event, seconds: float) -> Assignment:
        with suppress(Stopped, TimeoutError):
            await unless_stopped(stop, self._full.wait(), seconds=seconds)

        async def here() -> list[str]:
            return [name for name in self._among if name in self._wishes]

        async def work() -> Assignment:
            among = [*self._among]
            names = await self._journal.moment("in time", self._key, list[str], here, among)
            wishes = {name: self._wishes[name] for name in names if name in self._wishes}
            return assign_pages(wishes, self._how)

        # A stopped run does not wait for all page requests, so its incomplete assignment is not
        # recorded.
        if stop.is_set():
            return await work()
        return await self._journal.once("deal", self._key, Assignment, work)


def assign_pages(wishes: Mapping[str, PageRequest], how: How = OWN) -> Assignment:
    """Assign each topic its best pages, in turn, until all have enough or `how.most` pages are
    assigned. With `how.own`, no page is assigned twice.
    """
    if how.joint:
        place = {
            hit.url: n
            for n, hit in enumerate(reciprocal_rank_fusion([urls for urls, _ in wishes.values()]))
        }
        wishes = {
            topic: (sorted(urls, key=lambda url: place[url]), wanted)
            for topic, (urls, wanted) in wishes.items()
        }
    mine: Assignment = {topic: [] for topic in wishes}
    taken: set[str] = set()
    for turn in range(max((wanted for _, wanted in wishes.values()), default=0)):
        for topic, (urls, wanted) in wishes.items():
            left = [url for url in urls if url not in taken] if how.own else urls[turn : turn + 1]
            page = left[0] if turn < wanted and left else None
            if page is not None and (page in taken or how.most is None or len(taken) < how.most):
                taken.add(page)
                mine[topic].append(page)
    return mine
