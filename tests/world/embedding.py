"""A server of embeddings that knows a few synonyms, so that a text is near to a question with which
it shares no word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Literal

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.world.background import Background, listen
from tests.world.fault import refusal
from tests.world.ranking import terms
from tests.world.reception import asked, attend
from tests.world.record import Asked
from tests.world.vectors import vector
from tests.world.waits import Silence

HOST = "127.0.1.32"
SYNONYMS = {
    "automobile": "car",
    "vehicle": "car",
    "vessel": "ferry",
    "inhabitant": "people",
    "physician": "doctor",
}

Fault = Literal["", "hang", "error", "limited", "short"]


class Embeddings:
    """The server. `texts` are all it has embedded; `fault` meets every request after the first
    `spared`.

    `meanwhile` is done before every answer.
    """

    def __init__(self, background: Background) -> None:
        sock = listen(HOST)
        self.url = "http://{}:{}/v1".format(*sock.getsockname())
        self.reset()
        background.serve(self, [sock])

    def reset(self) -> None:
        """An empty log, no fault."""
        self.requests: list[Asked] = []
        self.texts: list[str] = []
        self.fault: Fault = ""
        self.spared = 0
        self.meanwhile: Callable[[], object] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        record = asked("embeddings", scope)
        self.requests.append(record)
        await attend(record, self._answer, (scope, receive, send))

    async def _answer(self, record: Asked) -> Response:
        await asyncio.to_thread(self.meanwhile)
        fault = self.fault if len(self.requests) > self.spared else ""
        if fault == "hang":
            return Silence()
        if fault in ("error", "limited"):
            return refusal(500 if fault == "error" else 429, "Not now.", retry_after=0.01)
        texts = json.loads(record.body)["input"]
        self.texts += texts
        made = [
            vector([SYNONYMS.get(word, word) for word in terms(text)])[
                : 7 if fault == "short" else None
            ]
            for text in texts
        ]
        data = [
            {"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(made)
        ]
        return JSONResponse(
            {
                "object": "list",
                "data": data,
                "usage": {"total_tokens": sum(len(text.split()) for text in texts)},
            }
        )
