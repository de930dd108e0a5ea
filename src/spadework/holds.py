"""Reservations of running model calls, large enough for any answer."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

#: Dollars per million tokens in and out.
Price = tuple[float, float]

#: Calls that may compete for a limit. An answer gets its maximum room if that is within this
#: fraction of what is free, else what its role usually takes.
AT_ONCE = 16
#: Minimum tokens of an answer; with fewer left the call is not made.
LEAST_ROOM = 200


class HoldRequest(NamedTuple):
    """What a model call may take: tokens of its request, usual and maximum tokens of its answer,
    and its price, None if unknown.

    `closing` calls write and check the report, and may use the reserve.
    """

    told: int
    usual: int
    most: int
    price: Price | None = None
    closing: bool = False


class Free(NamedTuple):
    """What is left of two limits for one call."""

    tokens: float
    money: float


class Hold(NamedTuple):
    """A reservation for a call: room of its answer, total tokens, dollars; and whether it is
    `closing`.
    """

    room: int
    tokens: int
    money: float
    closing: bool = False


class SharedLimit(Protocol):
    """The shared limit of a user's runs, in addition to each run's own."""

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Exchange usage with other machines, and announce a coming call."""

    def free(self, *, settled: bool = False) -> Free:
        """Return what is left; `settled`: as if no calls were running."""
        ...

    def take(self, hold: Hold) -> None:
        """Reserve what a call may cost."""

    def settle(self, hold: Hold, tokens: int, money: float) -> None:
        """Release a reservation and charge the call's cost."""


def cost(price: Price | None, told: int, said: int) -> float:
    """Return the dollars for tokens in and out; 0 if the price is unknown."""
    return (told * price[0] + said * price[1]) / 1_000_000 if price else 0.0


def hold_share(wish: HoldRequest, free: Free, *, alone: bool) -> Hold | None:
    """Return a call's reservation from what is free; None if there is no room now.

    An answer gets at least its usual size. With less, and no running call whose settlement could
    help (`alone`), it gets what there is.
    """
    most = min(wish.most, longest(wish, free))
    least = min(LEAST_ROOM, wish.most)
    usual = max(least, min(wish.usual, wish.most))
    if most >= usual:
        share = longest(wish, Free(free.tokens / AT_ONCE, free.money / AT_ONCE))
        room = max(usual, min(most, share))
    elif alone and most >= least:
        room = most
    else:
        return None
    return Hold(room, wish.told + room, cost(wish.price, wish.told, room), wish.closing)


def longest(wish: HoldRequest, free: Free) -> int:
    """Return the tokens of the longest affordable answer; negative if not even the request is."""
    return int(min(free.tokens - wish.told, paid_by(wish, free.money)))


def paid_by(wish: HoldRequest, money: float) -> int:
    """Return the tokens of the longest answer that the dollars pay for."""
    left = money - cost(wish.price, wish.told, 0)
    if wish.price is None or cost(wish.price, 0, wish.most) <= left:
        return wish.most
    return math.floor(left / wish.price[1] * 1_000_000) if wish.price[1] and left > 0 else -1
