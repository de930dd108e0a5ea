"""What a model call sets aside while it is under way: so much that its answer cannot cost more."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

#: Dollars for a million tokens in and out.
Price = tuple[float, float]

#: Calls that may want the same limit at once. An answer may have all the room that is allowed as
#: long as that is no larger a part of what is free; else what its role usually takes.
AT_ONCE = 16
#: Tokens that an answer needs at least; with fewer left the call is not made.
LEAST_ROOM = 200


class HoldRequest(NamedTuple):
    """What a model call may take: the tokens of its request; those that its answer usually has, and
    may have at most; its price, None where that is not known.

    `closing` calls write and check the report: they may take what is held back for that.
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
    """Set aside for a call: the room of its answer, all its tokens, dollars; is it `closing`?"""

    room: int
    tokens: int
    money: float
    closing: bool = False


class SharedLimit(Protocol):
    """What all runs of a user may take together, beside the limits of each."""

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Exchange with others what was taken, and tell them what a call that comes may take."""

    def free(self, *, settled: bool = False) -> Free:
        """What is left; `settled`: as if no call were under way."""
        ...

    def take(self, hold: Hold) -> None:
        """Set aside what a call may cost."""

    def settle(self, hold: Hold, tokens: int, money: float) -> None:
        """Give back what was set aside, and take what the call has cost."""


def cost(price: Price | None, told: int, said: int) -> float:
    """Dollars for so many tokens in and out; 0 where the price is not known."""
    return (told * price[0] + said * price[1]) / 1_000_000 if price else 0.0


def hold_share(wish: HoldRequest, free: Free, *, alone: bool) -> Hold | None:
    """What a call sets aside of what is free; None where there is no room now.

    An answer gets what is usual at least. Where there is less, and nobody is under way whose
    settlement could make it more (`alone`), what there is will do.
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
    """Tokens of the longest answer that can be paid; below 0 where not even the request can."""
    return min(int(free.tokens) - wish.told, paid_by(wish, free.money))


def paid_by(wish: HoldRequest, money: float) -> int:
    """Tokens of the longest answer that so many dollars can pay."""
    left = money - cost(wish.price, wish.told, 0)
    if wish.price is None or cost(wish.price, 0, wish.most) <= left:
        return wish.most
    return math.floor(left / wish.price[1] * 1_000_000) if wish.price[1] and left > 0 else -1
