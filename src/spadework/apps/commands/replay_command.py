"""The `replay` command: rerun a finished session from its recording."""

from __future__ import annotations

import asyncio
from pathlib import Path

from spadework.apps.exit import FAILED
from spadework.apps.messages import number_of, say
from spadework.apps.outputs import Output, print_report, write_output
from spadework.sessions.replay import Replayed, replay
from spadework.settings import Settings

#: Maximum number of unrecorded requests to list. If the plan has changed, all requests can be
#: unrecorded.
MOST_LINES = 20
_LATE = "The session ran out of time during a step. A replay cannot reproduce this."


def replay_one(home: Path, session_id: str, model: str | None, to: Path | None) -> int:
    """Replay a session, and print its report or write it to the file `to`. Return the exit code: 1
    if, without a `model`, the report differs or a recorded answer is missing, else 0.
    """
    output = Output(to).check()
    roles = dict.fromkeys(("model", "judge_model", "writer_model"), model)
    asking = Settings.load(home=home, **roles) if model else None
    done = asyncio.run(replay(home, session_id, asking))
    if output.file:
        write_output(done.result, output.file)
    else:
        print_report(done.result)
    for line in _describe_replay(done):
        say(line, err=True)
    return 0 if model or (done.same and not done.missing) else FAILED


def _describe_replay(done: Replayed) -> list[str]:
    lacking = [f"Not recorded: {missing}" for missing in dict.fromkeys(done.missing)]
    if len(lacking) > MOST_LINES:
        lacking = [*lacking[:MOST_LINES], f"Not recorded: {len(lacking) - MOST_LINES} more"]
    late = [_LATE] if not done.same and done.before.stopped_by == "time" else []
    report = "The report is the same, byte for byte." if done.same else "The report differs."
    left = len(done.missing) - done.new
    counted = f"{number_of(done.replayed, 'exchange')} replayed, {done.new} new"
    return [*lacking, *late, f"{counted}{f', {left} without an answer' if left else ''}. {report}"]
