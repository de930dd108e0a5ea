"""What was wrong with a run, in sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.hostile.attack import Attack
from tests.hostile.running import Ran

#: What a program says that was not ready for what happened.
_UNREADY = re.compile(
    r"Traceback \(most recent|Exception ignored|never retrieved|never awaited|Unclosed|Warning:"
    r"|Task was destroyed|Fatal Python"
)
_REASON = re.compile(r"^(spadework|failed|Interrupted)\b.*", re.MULTILINE)
#: How a run may end, how by a signal, which it may also be too quick for, and how before it has
#: begun anything.
_BY_ITSELF = {0, 1, 3}
_BY_SIGNAL = {
    "Ctrl-C": {130},
    "Ctrl-C twice": {130, -2},
    "terminated": {130},
    "hung up": {-1},
    "killed": {-9},
}
_BEFORE = {"terminated": {-15}}


def may_be_late(seconds: float) -> float:
    """Seconds after its deadline until which a run must have ended."""
    return max(2.0, 0.01 * seconds)


def faults(attack: Attack, run: Ran) -> list[str]:
    """Everything that must not be so."""
    return [*_in_time(attack, run), *_ended(attack, run), *_clean(attack, run)]


def _in_time(attack: Attack, run: Ran) -> Iterator[str]:
    if run.code is None:
        said = f"{run.out[-500:]}\n{run.err[-8000:]}"
        yield f"It had not ended {run.took - attack.seconds:.1f} s after its deadline:\n{said}"
    elif (late := lateness(attack, run)) > may_be_late(attack.seconds):
        yield f"It ended {late:.2f} s late."
    if (late := run.printed - attack.seconds) > may_be_late(attack.seconds):
        yield f"It spoke {late:.2f} s late."


def lateness(attack: Attack, run: Ran) -> float:
    """Seconds from the deadline to the end, below 0 before it. A program that uses spadework ends
    when it likes: there the end of the report counts, or that of the reason why there is none.
    """
    return (run.printed if attack.door == "code" else run.took) - attack.seconds


def _ended(attack: Attack, run: Ran) -> Iterator[str]:
    by_signal = _BY_SIGNAL.get(attack.signals, set())
    disk = {2} if attack.disk else set()  # what the system says of the folder is the user's to mend
    before = _BEFORE.get(attack.signals, set()) if not run.begun else set()
    if run.code not in {*_BY_ITSELF, *by_signal, *before, *disk}:
        yield f"Its exit code is {run.code}."
    if run.code in (0, 3) and not _told(attack, run):
        yield f"It gave no report, with exit code {run.code}:\n{run.out[-500:]}\n{run.err[-2000:]}"
    if run.code in (1, 2, 130) and not (_REASON.search(run.err) or attack.door == "closed pipe"):
        yield f"It gave no reason for exit code {run.code}."


def _told(attack: Attack, run: Ran) -> bool:
    """Whether the report was told as it was to be, and stands in the session's folder."""
    if not run.report and not attack.disk:
        return False
    match attack.door:
        case "json":
            return bool(_last(run.out).get("report"))
        case "events":
            return bool(_last(run.out).get("result", {}).get("report"))
        case "closed pipe":
            return True
    return "\n# " in f"\n{run.out}"


def _last(out: str) -> dict[str, Any]:
    """The object in the last line; empty where there is none."""
    try:
        said: dict[str, Any] = json.loads(out.splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return said


def _clean(attack: Attack, run: Ran) -> Iterator[str]:
    for said in (run.out, run.err):
        if found := _UNREADY.search(said):
            yield f"It said {found[0]!r}."
    for each in run.left:
        yield f"It left the {each}."
    if run.intruded:
        yield f"It visited a private server, {run.intruded} times."
    if attack.door == "code" and run.code == 0:
        left = _last(run.out)
        if not left:
            yield "It did not say what it left."
        for what, names in left.items():
            if names:
                yield f"It left {what}: {names}."
