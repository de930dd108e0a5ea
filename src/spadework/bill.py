"""Bills: the usage of each answer, so that both are recorded in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from spadework.values import Usage

#: A sum; None if a part is unknown.
Amounts = Mapping[str, float | None]

_open: ContextVar[Bill | None] = ContextVar("bill", default=None)


class Bill:
    """Amounts by field names of Usage; `kept`: they are in the journal, or about to be."""

    def __init__(self) -> None:
        self.amounts: dict[str, float | None] = {}
        self.kept = False

    @property
    def current(self) -> Bill:
        """The bill of the current work, or this one."""
        return _open.get() or self

    def add(self, amounts: Amounts) -> None:
        """Add amounts to the bill."""
        for name, amount in amounts.items():
            before = self.amounts.get(name, 0)
            self.amounts[name] = None if amount is None or before is None else before + amount

    def take(self) -> dict[str, float | None]:
        """Return the amounts and empty the bill."""
        amounts, self.amounts = self.amounts, {}
        return amounts


@contextmanager
def meter_bill(loose: Bill) -> Iterator[Bill]:
    """Open a bill for the work inside, including its tasks."""
    outer, bill = loose.current, Bill()
    token = _open.set(bill)
    try:
        yield bill
    finally:
        _open.reset(token)
        if not bill.kept:
            outer.add(bill.amounts)


def total(bills: Iterable[Amounts]) -> Usage:
    """Return the sum of bills."""
    sum_ = Bill()
    for bill in bills:
        sum_.add(bill)
    money = sum_.amounts.pop("money", 0.0)
    whole = {name: int(amount or 0) for name, amount in sum_.amounts.items()}
    return Usage(**whole, money=None if money is None else round(money, 6))
