"""What is told of a call of a model: what it took, and whether its answer has the asked shape."""

from __future__ import annotations

import time
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from spadework.agents.answer_shape import fault, parse_answer
from spadework.agents.refusals import Unsupported
from spadework.bill import Amounts
from spadework.errors import BudgetSpent, SpadeworkError, TooLong
from spadework.events import Called, Verdict
from spadework.tools.stores.event_record import Record
from spadework.tools.stores.exchanges import Request
from spadework.tools.stores.journal import Journal

#: Characters of a digest that tell one request from another.
DIGEST_CHARS = 16


class Call(NamedTuple):
    """A request to a model of a role, and when it began on the clock of `time.monotonic`."""

    role: str
    request: Request
    began: float

    def late(self, said: str, charge: Amounts) -> Called:
        """Return what is told of one that was not answered in time, and of what it took."""
        return self._told("late", said, charge)

    async def answered(
        self, record: Record, journal: Journal, text: str, shape: type[BaseModel]
    ) -> None:
        """Tell of one that was answered."""
        try:
            parse_answer(text, shape)
        except ValidationError as error:
            await self._tell(record, journal, "misshapen", fault(error))
        else:
            await self._tell(record, journal, "fits", "")

    async def failed(
        self, record: Record, journal: Journal, error: SpadeworkError | BudgetSpent
    ) -> None:
        """Tell of one that has failed."""
        verdict: Verdict = "failed"
        for kind, said in _VERDICTS.items():
            if isinstance(error, kind):
                verdict = said
        await self._tell(record, journal, verdict, str(error))

    async def _tell(self, record: Record, journal: Journal, verdict: Verdict, reason: str) -> None:
        record.tell(self._told(verdict, reason, await journal.charge(self.request)))

    def _told(self, verdict: Verdict, reason: str, charge: Amounts) -> Called:
        content, money = self.request.content, charge.get("money", 0.0)
        return Called(
            role=self.role,
            model=content["model"],
            shape=content["shape"],
            method=content.get("method", ""),
            asked=self.request.key[:DIGEST_CHARS],
            verdict=verdict,
            reason=reason[:300],
            seconds=round(time.monotonic() - self.began, 3),
            tokens_in=int(charge.get("tokens_in") or 0),
            tokens_out=int(charge.get("tokens_out") or 0),
            money=None if money is None else round(money, 6),
        )


_VERDICTS: dict[type[Exception], Verdict] = {
    Unsupported: "unsupported",
    TooLong: "too long",
    BudgetSpent: "unpaid",
}
