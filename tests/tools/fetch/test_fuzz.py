"""Answers of random and of damaged bytes: a page or a refusal comes out of them, in time, and
nothing else.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from spadework.errors import FetchError
from spadework.settings import Settings
from spadework.tools.fetch import exchange
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from tests.world.zoo.animal import Animal
from tests.world.zoo.cage import ADDRESS, caged
from tests.world.zoo.serving import chunked, http, paths
from tests.world.zoo.texts import PAGE, WHOLE

SECONDS = 5.0
_BODY = PAGE.encode()
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"

#: Answers that are in order, before they are damaged.
SOUND = (
    http(PAGE),
    http(
        PAGE,
        "Set-Cookie: a=1; Path=/",
        "Cache-Control: max-age=60",
        'ETag: "x"',
        "Date: Sun, 22 Nov 2026 02:00:00 GMT",
        "Vary: Accept",
    ),
    http(chunked(_BODY[:200], _BODY[200:]), "Transfer-Encoding: chunked"),
    http(gzip.compress(_BODY, mtime=0), "Content-Encoding: gzip"),
    http(_BODY.decode().encode("utf-16"), media_type="text/html; charset=utf-16"),
    http("", "Location: /there", status="302 Found"),
    http('<meta http-equiv="refresh" content="0; url=/there">', "Refresh: 0; url=/there"),
    http("Later.", "Retry-After: 0", status="429 Too Many Requests"),
    http('{"light": [41, "metres"]}', media_type="application/json"),
    _HINTS + http(PAGE, "Connection: keep-alive"),
)

_Edit = tuple[str, float, bytes]
_EDITS = st.tuples(
    st.sampled_from(["cut", "put", "set", "twice", "end"]),
    st.floats(0, 1),
    st.binary(min_size=1, max_size=8)
    | st.sampled_from([b"\r\n", b"\r\n\r\n", b":", b"\0", b"-1", b"9" * 30, b"<", b"@", b"//"]),
)


def _damaged(answer: bytes, edits: Sequence[_Edit]) -> bytes:
    for kind, where, put in edits:
        # Half of the damage is done where the headers are.
        place = (
            int(where * 2 * len(answer))
            if where < 0.5
            else int((where - 0.5) * 400) % max(1, len(answer))
        )
        behind = {"cut": place + len(put), "set": place + len(put), "end": len(answer)}.get(
            kind, place
        )
        answer = (
            answer[:place]
            + {"cut": b"", "end": b"", "twice": answer[place : place + 40]}.get(kind, put)
            + answer[behind:]
        )
    return answer


_ANSWERS = st.binary(max_size=300) | st.builds(
    _damaged, st.sampled_from(SOUND), st.lists(_EDITS, min_size=1, max_size=4)
)


async def _nowhere(host: str) -> list[str]:
    """No damaged address leads out of the test."""
    raise OSError(host)


async def _outcomes(answers: Sequence[bytes]) -> list[object]:
    """What comes of pages that are answered in these ways, all at once."""
    served = {f"/{n}": answer for n, answer in enumerate(answers)}
    config = Settings(allow_hosts=(ADDRESS,), parallel_per_host=10, page_bytes=100_000)
    async with (
        caged(Animal("damage", paths(served | {"/there": http(PAGE)}), WHOLE)) as cage,
        Web(config, resolve=_nowhere) as web,
    ):
        reader = Reader(web)
        return await asyncio.gather(
            *(reader.read(cage.url + path[1:], seconds=SECONDS) for path in served),
            return_exceptions=True,
        )


@pytest.mark.timeout(240)
@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(answers=st.lists(_ANSWERS, min_size=8, max_size=8))
def test_damaged_answers_end_in_a_page_or_a_refusal(answers):
    started = time.monotonic()
    with patch.object(exchange, "FIRST_BYTE_SECONDS", 1):
        outcomes = asyncio.run(_outcomes(answers))
    assert time.monotonic() - started < SECONDS + 3
    for answer, outcome in zip(answers, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, FetchError), f"{outcome!r} for {answer!r}"
            assert ADDRESS in str(outcome)
            assert "\n" not in str(outcome)
