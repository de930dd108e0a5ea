"""Bills: which use belongs to which answer, so that both are written down in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from spadework.values import Usage

#: A sum; None where one of its parts is not known.
Amounts = Mapping[str, float | None]

_open: ContextVar[Bill | None] = ContextVar("bill", default=None)


class Bill:
    """Amounts by field names of Usage; `kept`: they stand in the journal, or are about to."""

    def __init__(self) -> None:
        self.amounts: dict[str, float | None] = {}
        self.kept = False

    @property
    def current(self) -> Bill:
        """The bill of the work that is done now, this one where none is open."""
        return _open.get() or self

    def add(self, amounts: Amounts) -> None:
        """Put amounts on the bill."""
        for name, amount in amounts.items():
            before = self.amounts.get(name, 0)
            self.amounts[name] = None if amount is None or before is None else before + amount

    def taken(self) -> dict[str, float | None]:
        """What stands on the bill, which is empty then."""
        amounts, self.amounts = self.amounts, {}
        return amounts


@contextmanager
def meter_bill(loose: Bill) -> Iterator[Bill]:
    """A bill for the work inside, also that of the tasks it starts."""
    outer, bill = loose.current, Bill()
    token = _open.set(bill)
    try:
        yield bill
    finally:
        _open.reset(token)
        if not bill.kept:
            outer.add(bill.amounts)


def total(bills: Iterable[Amounts]) -> Usage:
    """The sum of bills."""
    sum_ = Bill()
    for bill in bills:
        sum_.add(bill)
    money = sum_.amounts.pop("money", 0.0)
    whole = {name: int(amount or 0) for name, amount in sum_.amounts.items()}
    return Usage(**whole, money=None if money is None else round(money, 6))
