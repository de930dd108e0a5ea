"""A Qdrant server for the world: the few REST calls that a knowledge store makes, answered by the
client library's own local mode.

Requests are read with the models of the client, which take no unknown field; answers have the
envelope of a real server.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, Literal

from qdrant_client import QdrantClient, models
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.world.background import Background, listen
from tests.world.reception import asked, attend
from tests.world.record import Asked
from tests.world.waits import Silence

HOST = "127.0.1.21"
KEY = "a-key-that-nobody-may-see"

Fault = Literal["", "hang", "error", "html", "truncated", "limited"]


class Qdrant:
    """The server. `fault` meets every request; `requests` is the log."""

    key = KEY

    def __init__(self, background: Background) -> None:
        sock = listen(HOST)
        self.url = "http://{}:{}".format(*sock.getsockname())
        self.reset()
        background.serve(self, [sock])

    def reset(self) -> None:
        """No collection, an empty log, no fault."""
        self.requests: list[Asked] = []
        self.fault: Fault = ""
        self._db = QdrantClient(":memory:")

    @property
    def env(self) -> dict[str, str]:
        """The environment in which spadework keeps its pages here."""
        return {"QDRANT_URL": self.url, "QDRANT_API_KEY": self.key}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        record = asked("qdrant", scope)
        self.requests.append(record)
        await attend(record, self._answer, (scope, receive, send))

    async def _answer(self, record: Asked) -> Response:
        if self.fault:
            return _FAULTS[self.fault]()
        if record.headers.get("api-key") != self.key:
            return _said(403, "forbidden")
        _, collection, tail = f"{record.path.removeprefix('/')}/".split("/", 2)
        body = json.loads(record.body or b"null")
        call = _CALLS.get((record.method, tail.strip("/")))
        if call is None:
            return _said(404, f"no such call: {record.method} {record.path}")
        if not self._db.collection_exists(collection) and tail.strip("/") not in ("exists", ""):
            return _said(404, f"Not found: Collection `{collection}` doesn't exist!")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an index of payloads means nothing in local mode
            return JSONResponse(
                {"result": call(self._db, collection, body), "status": "ok", "time": 0.001}
            )


def _said(status: int, text: str) -> Response:
    return JSONResponse({"status": {"error": text}, "time": 0.0}, status)


def _exists(db: QdrantClient, name: str, body: Any) -> Any:
    return {"exists": db.collection_exists(name)}


def _create(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.CreateCollection.model_validate(body)
    return db.create_collection(
        name, vectors_config=asked.vectors or {}, sparse_vectors_config=asked.sparse_vectors
    )


def _index(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.CreateFieldIndex.model_validate(body)
    return _plain(db.create_payload_index(name, asked.field_name, asked.field_schema))


def _upsert(db: QdrantClient, name: str, body: Any) -> Any:
    return _plain(db.upsert(name, models.PointsList.model_validate(body).points))


def _retrieve(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.PointRequest.model_validate(body)
    return _plain(
        db.retrieve(
            name, asked.ids, with_payload=True if asked.with_payload is None else asked.with_payload
        )
    )


def _delete(db: QdrantClient, name: str, body: Any) -> Any:
    return _plain(db.delete(name, models.FilterSelector.model_validate(body)))


def _count(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.CountRequest.model_validate(body)
    return _plain(db.count(name, asked.filter, exact=bool(asked.exact)))


def _scroll(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.ScrollRequest.model_validate(body)
    points, following = db.scroll(
        name,
        asked.filter,
        limit=asked.limit or 10,
        offset=asked.offset,
        with_payload=True if asked.with_payload is None else asked.with_payload,
    )
    return {"points": _plain(points), "next_page_offset": following}


def _query(db: QdrantClient, name: str, body: Any) -> Any:
    asked = models.QueryRequest.model_validate(body)
    query: Any = (
        asked.query.nearest if isinstance(asked.query, models.NearestQuery) else asked.query
    )
    found = db.query_points(
        name,
        query=query,
        using=asked.using,
        prefetch=asked.prefetch,
        query_filter=asked.filter,
        limit=asked.limit or 10,
        with_payload=True,
    )
    return _plain(found)


def _plain(value: Any) -> Any:
    return (
        [one.model_dump(mode="json") for one in value]
        if isinstance(value, list)
        else value.model_dump(mode="json")
    )


_CALLS: dict[tuple[str, str], Callable[[QdrantClient, str, Any], Any]] = {
    ("GET", "exists"): _exists,
    ("PUT", ""): _create,
    ("PUT", "index"): _index,
    ("PUT", "points"): _upsert,
    ("POST", "points"): _retrieve,
    ("POST", "points/delete"): _delete,
    ("POST", "points/count"): _count,
    ("POST", "points/scroll"): _scroll,
    ("POST", "points/query"): _query,
}
_FAULTS: dict[str, Callable[[], Response]] = {
    "hang": Silence,
    "error": lambda: _said(500, "Service internal error"),
    "html": lambda: HTMLResponse("<title>It works!</title>"),
    "truncated": lambda: Response(b'{"result": {"exi', media_type="application/json"),
    "limited": lambda: _said(429, "rate limit"),
}
