"""`spadework replay`: a finished session once more, from what it has heard."""

from __future__ import annotations

import asyncio
from pathlib import Path

from spadework.apps.ending import FAILED
from spadework.apps.outputs import Output, print_report, write_output
from spadework.apps.saying import say
from spadework.sessions.replaying import Replayed, replay
from spadework.settings import Settings

#: What lacks is told in so many lines at most: after another plan, everything does.
MOST_LINES = 20
#: How runs end at a moment that no replay knows.
_ELSEWHERE = {
    "stop": "Its user has stopped the session, at a moment that a replay does not know.",
    "time": "The clock has ended the session, at a moment that a replay may not meet.",
}


def replay_one(home: Path, session_id: str, model: str | None, to: Path | None) -> int:
    """Replay a session and print its report, or write it to a file; the exit code: 1 where the
    report is another, or may be, and no model was to make it one.
    """
    output = Output(to).checked()
    anew = Settings.load(home=home, model=model) if model else None
    done = asyncio.run(replay(home, session_id, anew))
    if output.file:
        write_output(done.result, output.file)
    else:
        print_report(done.result)
    for line in _said(done):
        say(line, err=True)
    return 0 if model or (done.same and not done.missing) else FAILED


def _said(done: Replayed) -> list[str]:
    """What a replay has to tell."""
    lacking = [f"Not recorded: {missing}" for missing in dict.fromkeys(done.missing)]
    if len(lacking) > MOST_LINES:
        lacking = [*lacking[:MOST_LINES], f"{len(lacking) - MOST_LINES} more were not recorded."]
    unlike = [] if done.same else [_ELSEWHERE.get(done.before.stopped_by, "")]
    report = "The report is the same, byte for byte." if done.same else "The report is another."
    left = len(done.missing) - done.new
    counted = f"{done.replayed} exchanges replayed, {done.new} new"
    return [
        *lacking,
        *filter(None, unlike),
        f"{counted}{f', {left} without an answer' if left else ''}. {report}",
    ]
