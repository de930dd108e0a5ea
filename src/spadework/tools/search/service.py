"""Asking a search service over HTTP: one request within a deadline, every failure a SearchError."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx

from spadework.errors import SearchError
from spadework.tools.fetch.server_faults import reason as broken_by
from spadework.tools.search.failure import OPEN, Access, failure, parse_json, without_results
from spadework.tools.stores.exchanges import Piece
from spadework.tools.web.connections import certificates, closing_lines, proxy_for
from spadework.tools.web.http_dates import RATE_LIMIT_HEADERS
from spadework.tools.web.recorded_traffic import over_the_wire

#: How we name ourselves where nobody says otherwise.
AGENT = "spadework"
#: The largest answer that is read, in bytes; a hundred results with abstracts take a tenth of it.
MOST_BYTES = 5_000_000
#: The headers that are looked at.
_TELLING = ("content-type", "retry-after", *RATE_LIMIT_HEADERS)
#: Both are undone in small pieces, so that the limit is met before memory is.
_ENCODINGS = "gzip, deflate"


class Service:
    """The service `label` at the address `url`. It is asked as `agent`."""

    def __init__(self, label: str, url: str, access: Access = OPEN, agent: str = AGENT) -> None:
        self._label = label
        self._url = url.rstrip("/")
        self._access = access
        self._headers = {"User-Agent": agent, "Accept-Encoding": _ENCODINGS, **access.headers}
        self._verify = certificates() if url.lower().startswith("https://") else False

    async def json(
        self,
        path: str,
        *,
        seconds: float,
        params: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> Any:
        """The JSON of a GET, or with a `body` of a POST. Raises SearchError within `seconds`."""
        answer = await self._heard(path, seconds, params, body)
        found = parse_json(answer)
        if found is None:
            kind = answer.headers.get("content-type", "").partition(";")[0]
            raise SearchError(
                f"{self._label} did not answer with whole JSON ({kind[:40] or 'of no type'})."
            )
        return found

    async def content(self, path: str, *, seconds: float, params: Mapping[str, str]) -> bytes:
        """The bytes that the service answers to a GET. Errors as for `json`."""
        return (await self._heard(path, seconds, params, None)).content

    def results(self, answer: Any, *path: str) -> list[dict[str, Any]]:
        """The objects in the list at `path` of an answer. Errors as for `listed`."""
        return [item for item in self.listed(answer, *path) if isinstance(item, dict)]

    def listed(self, answer: Any, *path: str) -> list[Any]:
        """The list at `path`. Raises SearchError (QuotaSpent), in the service's words, without."""
        found = answer
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, list):
            raise without_results(self._label, self._access, answer)
        return found

    def late(self, seconds: float) -> SearchError:
        """The error of an answer that did not come in time."""
        return SearchError(f"{self._label} did not answer within {seconds:.3g} s.")

    async def _heard(
        self, path: str, seconds: float, params: Mapping[str, str] | None, body: Any
    ) -> httpx.Response:
        """The answer as it came. Raises SearchError for another status than 200."""

        async def send() -> Piece:
            answer = await self._ask(path, seconds, params, body)
            said = {"status": answer.status_code, "headers": dict(answer.headers)}
            # What is asked with a key may say it again.
            secret = self._access.secret.encode()
            return Piece(said, answer.content.replace(secret, b"") if secret else answer.content)

        asked = {name: text for name, text in (params or {}).items() if text != self._access.secret}
        piece = await over_the_wire([self._label, path, asked, body], send)
        answer = httpx.Response(
            piece.head["status"], headers=piece.head["headers"], content=piece.body
        )
        if answer.status_code != httpx.codes.OK:
            raise failure(self._label, self._access, answer)
        return answer

    async def _ask(
        self, path: str, seconds: float, params: Mapping[str, str] | None, body: Any
    ) -> httpx.Response:
        method, url = "GET" if body is None else "POST", self._url + path
        client = closing_lines(
            httpx.AsyncClient(
                verify=self._verify, proxy=proxy_for(url), trust_env=False, timeout=None
            )
        )
        try:
            async with asyncio.timeout(seconds), client:
                request = client.build_request(
                    method, url, params=params, json=body, headers=self._headers
                )
                redirects = not self._access.secret  # a key goes nowhere else
                return await self._whole(
                    await client.send(request, follow_redirects=redirects, stream=True)
                )
        except TimeoutError:
            raise self.late(seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            why = self._access.shown(broken_by(error)) or type(error).__name__
            raise SearchError(f"{self._label} could not be asked: {why}.") from None

    async def _whole(self, answer: httpx.Response) -> httpx.Response:
        """The answer with its body. Raises SearchError for one without end."""
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_BYTES:
                raise SearchError(f"{self._label} answered with more than {MOST_BYTES / 1e6:g} MB.")
        kept = {name: text for name, text in answer.headers.items() if name in _TELLING}
        return httpx.Response(answer.status_code, headers=kept, content=bytes(body))
