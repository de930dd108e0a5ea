"""What is scarce is shared by all sessions of an event loop: no more at once than one may, and none
left behind for another's sake.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from spadework.tools.web import fair_queue as slots
from spadework.tools.web.fair_queue import Room, place


class Shop:
    """Customers of a place: who is inside, in which order they came in, how many at most."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.inside, self.most = 0, 0

    async def visit(self, party: str, most: int, seconds: float = 0.002) -> None:
        async with place("the shop", party, most):
            self.came.append(party)
            self.inside += 1
            self.most = max(self.most, self.inside)
            await asyncio.sleep(seconds)
            self.inside -= 1


async def test_no_more_are_inside_than_may_whoever_they_are():
    shop = Shop()
    await asyncio.gather(*(shop.visit(f"session {n % 5}", 2) for n in range(20)))
    assert len(shop.came) == 20
    assert shop.most == 2


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_one_session_with_much_to_do_does_not_hold_up_another(most: int):
    shop = Shop()
    many = [asyncio.create_task(shop.visit("busy", most)) for _ in range(20)]
    await asyncio.sleep(0)
    await asyncio.gather(*(shop.visit("late", most) for _ in range(3)))
    served = [n for n, party in enumerate(shop.came) if party == "late"]
    assert served[0] == most
    assert served[-1] <= most + 5
    await asyncio.gather(*many)


async def test_those_of_one_session_go_in_their_order():
    order: list[int] = []

    async def visit(n: int) -> None:
        async with place("the shop", "one", 1):
            order.append(n)
            await asyncio.sleep(0)

    await asyncio.gather(*(visit(n) for n in range(10)))
    assert order == list(range(10))


async def test_each_is_held_to_what_it_may_itself():
    shop = Shop()
    await asyncio.gather(*(shop.visit("bold", 3) for _ in range(3)), shop.visit("shy", 1))
    assert shop.most == 3
    assert shop.came[-1] == "shy"


async def test_who_may_be_less_at_once_has_its_turn_all_the_same():
    shop = Shop()
    many = [asyncio.create_task(shop.visit("bold", 3)) for _ in range(30)]
    await asyncio.sleep(0)
    await shop.visit("shy", 1)
    assert shop.came.index("shy") == 3
    await asyncio.gather(*many)


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
async def test_who_leaves_the_queue_takes_no_place_along(moment: int):
    shop = Shop()
    first = asyncio.create_task(shop.visit("one", 1, 0))
    leaving = asyncio.create_task(shop.visit("two", 1))
    for _ in range(moment):
        await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(first, leaving, return_exceptions=True)
    async with asyncio.timeout(2):
        await shop.visit("three", 1)


async def test_places_of_other_things_are_other_places():
    async with place("one", "me", 1), asyncio.timeout(2), place("two", "me", 1):
        pass


async def test_how_many_may_go_in_may_change_while_they_wait():
    room, most = Room(), 0
    waiting = asyncio.create_task(_through(room, lambda: most))
    await asyncio.sleep(0)
    most = 1
    room.look_again()
    async with asyncio.timeout(2):
        await waiting


def test_nothing_is_remembered_of_what_nobody_waits_for():
    async def visits() -> None:
        shop = Shop()
        await asyncio.gather(*(shop.visit("me", 1) for _ in range(3)))
        assert slots.ROOMS.visited == frozenset()
        async with place("kept", "me", 1):
            assert slots.ROOMS.visited == {"kept"}

    asyncio.run(visits())
    gc.collect()
    asyncio.run(visits())


async def _through(room: Room, most) -> None:
    async with room.place("me", most):
        pass


def test_event_loops_of_other_threads_share_the_places():
    class Counted(Shop):
        lock = threading.Lock()

        async def visit(self, party: str, most: int, seconds: float = 0.002) -> None:
            async with place("the shop", party, most):
                with self.lock:
                    self.came.append(party)
                    self.inside += 1
                    self.most = max(self.most, self.inside)
                await asyncio.sleep(seconds)
                with self.lock:
                    self.inside -= 1

    shop = Counted()

    async def visits(n: int) -> None:
        await asyncio.gather(*(shop.visit(f"thread {n}", 2) for _ in range(10)))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: asyncio.run(visits(n)), range(6)))
    assert len(shop.came) == 60
    assert shop.most == 2


def test_who_waited_in_an_event_loop_that_is_closed_keeps_nobody_out():
    room = Room()

    async def inside(entered: threading.Event, leave: threading.Event) -> None:
        async with room.place("one", lambda: 1):
            entered.set()
            await asyncio.to_thread(leave.wait)

    entered, leave = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(asyncio.run, inside(entered, leave))
        assert entered.wait(5)
        dropped = asyncio.new_event_loop()
        waiting = dropped.create_task(_through(room, lambda: 1))
        dropped.run_until_complete(asyncio.sleep(0))
        waiting._log_destroy_pending = False  # it is dropped on purpose
        dropped.close()
        leave.set()
        first.result(5)

    async def goes_in() -> None:
        async with asyncio.timeout(2):
            await _through(room, lambda: 1)

    asyncio.run(goes_in())
