"""Events of a run as a whole: start, questions to the user, report, and end."""

from __future__ import annotations

from typing import ClassVar, Literal

from spadework.events.timed import Timed
from spadework.values import Forecast, Plan, Problem, Result

#: First question about a plan.
APPROVE = "Is this the plan?"


class Started(Timed):
    """A session began or was resumed."""

    type: Literal["started"] = "started"
    session_id: str
    question: str
    mode: str
    searching: tuple[str, ...] = ()
    resumed: bool = False
    follows: str = ""


class Notice(Timed):
    """Something the user should know, such as that the web is unreachable."""

    type: Literal["notice"] = "notice"
    about: ClassVar[tuple[str, ...]] = ("text",)
    text: str


class Asked(Timed):
    """A question to the user: what the question means (answered in words or with one of `options`),
    or whether the plan is right.

    The answer to `approve` is empty for "as it is", or the wanted topics, one per line. A line
    "change: …" asks for another change in words, and the plan is shown again unless the last line
    is "yes".
    """

    type: Literal["asked"] = "asked"
    kind: Literal["clarify", "approve"]
    text: str
    options: tuple[str, ...] = ()
    plan: Plan | None = None
    forecast: Forecast | None = None


class Answered(Timed):
    """The user's answer; empty if the run continued without one."""

    type: Literal["answered"] = "answered"
    kind: Literal["clarify", "approve"]
    text: str


class Planned(Timed):
    """The plan is made, with an estimate of the run."""

    type: Literal["planned"] = "planned"
    about: ClassVar[tuple[str, ...]] = ("plan",)
    plan: Plan
    forecast: Forecast | None = None


class Troubled(Timed):
    """Something failed; the run continues."""

    type: Literal["problem"] = "problem"
    about: ClassVar[tuple[str, ...]] = ("problem",)
    problem: Problem


class Wrote(Timed):
    """The report so far; `final` once verified."""

    type: Literal["report"] = "report"
    about: ClassVar[tuple[str, ...]] = ("markdown", "final")
    markdown: str
    final: bool = False


class Finished(Timed):
    """The run is over."""

    type: Literal["finished"] = "finished"
    result: Result


class Ended(Timed):
    """The run ended without a result: cancelled, or failed for the reason in `text`."""

    type: Literal["ended"] = "ended"
    how: Literal["cancelled", "failed"]
    text: str = ""
