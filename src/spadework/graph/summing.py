"""The summary: written last from what holds. Should its first sentence not hold, the answer that
the outline gave in short stands in its place, which was checked with the sections.
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents import writer
from spadework.agents.model import Model
from spadework.agents.outline import is_summary
from spadework.agents.verifier import Checked, Findings
from spadework.graph.holding import keep_what_holds
from spadework.values import Plan, Problem, Section

#: A report with no more sentences than this needs no summary.
SUMMED_UP = 4


def summable(sections: Sequence[Section], code: str) -> bool:
    """Whether sections need a summary: not where little is said, nor where one of them is one."""
    has_one = any(is_summary(one.heading, code) for one in sections)
    return not has_one and sum(len(one.sentences) for one in sections) > SUMMED_UP


async def summed_up(
    model: Model,
    plan: Plan,
    sections: Sequence[Section],
    first: Sequence[Checked],
    *,
    seconds: float,
    asked_on: str,
) -> tuple[Section, list[Problem]]:
    """The summary of sections that hold, where they need one. Who writes it is told what was found
    of the answer that the outline gave `first`.
    """
    if not summable(sections, plan.language):
        return writer.in_short("", plan.language), []
    told = [one for one in sections if one.sentences]
    return await writer.summarise(model, plan, told, first, seconds=seconds, asked_on=asked_on)


def best_of(made: Sequence[Checked], findings: Findings) -> tuple[list[Checked], list[Problem]]:
    """Of summaries the first that still begins as it was written once what does not hold is taken
    out, else the first of which anything is left, if any; and what was taken out of it.
    """
    kept = [(each, *keep_what_holds(each, findings)) for each in made]
    left = [(one, lost) for _, one, lost in kept if one.section.sentences]
    whole = [
        (one, lost)
        for each, one, lost in kept
        if each.section.sentences[:1] == one.section.sentences[:1] != ()
    ]
    for one, lost in [*whole, *left][:1]:
        return [one], lost
    return [], [problem for _, _, lost in kept for problem in lost]
