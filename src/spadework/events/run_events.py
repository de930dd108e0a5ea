"""What is told of a run as a whole: how it began, what it asked, wrote, and how it ended."""

from __future__ import annotations

from typing import ClassVar, Literal

from spadework.events.timed import Timed
from spadework.values import Forecast, Plan, Problem, Result

#: What is asked of a plan the first time.
APPROVE = "Is this the plan?"


class Started(Timed):
    """A session began or was taken up again."""

    type: Literal["started"] = "started"
    session_id: str
    question: str
    mode: str
    searching: tuple[str, ...] = ()
    resumed: bool = False
    follows: str = ""


class Notice(Timed):
    """Something the user should know, such as that the web cannot be reached."""

    type: Literal["notice"] = "notice"
    about: ClassVar[tuple[str, ...]] = ("text",)
    text: str


class Asked(Timed):
    """The user is asked back: what the question means (an answer in words, or one of `options`), or
    whether the plan is right.

    The answer to `approve` is empty for "as it stands", or the names of the topics wanted, one a
    line; a line "change: …" says in words what else shall change, and the plan is shown again,
    unless the last line is "yes".
    """

    type: Literal["asked"] = "asked"
    kind: Literal["clarify", "approve"]
    text: str
    options: tuple[str, ...] = ()
    plan: Plan | None = None
    forecast: Forecast | None = None


class Answered(Timed):
    """What the user said to what was asked; empty when the run went on without an answer."""

    type: Literal["answered"] = "answered"
    kind: Literal["clarify", "approve"]
    text: str


class Planned(Timed):
    """The plan is made. The forecast says what it will take."""

    type: Literal["planned"] = "planned"
    about: ClassVar[tuple[str, ...]] = ("plan",)
    plan: Plan
    forecast: Forecast | None = None


class Troubled(Timed):
    """Something could not be done; the run goes on."""

    type: Literal["problem"] = "problem"
    about: ClassVar[tuple[str, ...]] = ("problem",)
    problem: Problem


class Wrote(Timed):
    """The report as far as it stands; `final` when it is verified."""

    type: Literal["report"] = "report"
    about: ClassVar[tuple[str, ...]] = ("markdown", "final")
    markdown: str
    final: bool = False


class Finished(Timed):
    """The run is over."""

    type: Literal["finished"] = "finished"
    result: Result


class Ended(Timed):
    """The run ended without a result: cancelled by the user, or failed for the reason in `text`."""

    type: Literal["ended"] = "ended"
    how: Literal["cancelled", "failed"]
    text: str = ""
