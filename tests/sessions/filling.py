"""Sessions in a process that may write no file larger than so many bytes: to the programs of a run
that is a disk without room. Each is then taken up without that limit.

`python -m tests.sessions.filling QUESTION LIMIT…` writes a line of JSON a limit.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys

from spadework.errors import SessionNotFound, SpadeworkError
from spadework.sessions.session import Session


async def main(question: str, limits: list[int]) -> None:
    """Run a session under each limit; the first without any."""
    _tell(report=(await Session.start(question).result()).report)
    for limit in limits:
        session = Session.start(question)
        said = await _ended(session, limit)
        kept = sorted(path.name for path in (session.folder / "pages").glob("*"))
        try:
            result = await Session.resume(session.session_id).result()
        except SessionNotFound:
            _tell(**said, folder=session.folder.exists())
            continue
        there = {path.name for path in (session.folder / "pages").glob("*")}
        _tell(**said, report=result.report, kept=len(kept), lost=len(set(kept) - there))


async def _ended(session: Session, limit: int) -> dict[str, str]:
    """How a session ends that may write so much."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        await session.result()
    except SpadeworkError as error:
        return {"error": type(error).__name__, "said": str(error), "hint": error.hint}
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    return {"error": "", "said": "", "hint": ""}


def _tell(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], [int(limit) for limit in sys.argv[2:]]))
