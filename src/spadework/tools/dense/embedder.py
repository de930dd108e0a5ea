"""Get embeddings from any OpenAI-compatible endpoint (`POST /embeddings`)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from spadework.errors import ModelError, SettingsError, how_to_install
from spadework.settings import Settings
from spadework.tools.web import name_lookup
from spadework.tools.web.connections import certificates, closing_lines, proxy_for, read_key
from spadework.tools.web.fair_queue import far_place
from spadework.tools.web.retries import ask_again

#: Texts per request. Every known server accepts this many.
BATCH = 64
_BATCH_SECONDS = 60.0
#: Maximum characters per text. Models accept about 8,000 tokens.
MAX_CHARS = 16_000
#: Attempts per request, and concurrent requests.
ATTEMPTS, PARALLEL = 3, 4
_OPENAI = "https://api.openai.com/v1"
_WORDS_CHARS = 200


class Vector(BaseModel):
    """The embedding of the text at `index`."""

    index: int
    embedding: list[float]


class Spent(BaseModel):
    """The token usage reported by an endpoint."""

    total_tokens: int = 0


class Answer(BaseModel):
    """An endpoint's response."""

    data: list[Vector]
    usage: Spent | None = None


class Passing(ModelError):
    """A transient fault. Retry after `after` seconds, or with exponential backoff if True."""

    def __init__(self, message: str, *, after: bool | float = True) -> None:
        super().__init__(message)
        self.after = after


class EndpointEmbedder:
    """The embedding model `name` at `url`, by default OpenAI's.
    `requests` and `tokens` count usage so far. `spend` receives the usage of each request.
    """

    def __init__(self, name: str, url: str = "", key: str = "", *, seconds: float = 60.0) -> None:
        self.name = name
        self.requests = 0
        self.tokens = 0
        self.spend: Callable[[int, int], Awaitable[None]] = _free
        self._seconds = seconds
        address = url or _OPENAI
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = closing_lines(
            httpx.AsyncClient(
                base_url=address,
                headers=headers,
                timeout=None,
                trust_env=False,
                proxy=proxy_for(address),
                verify=False if address.startswith("http://") else certificates(),
            )
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text, in order. Raises ModelError."""
        batches = [texts[n : n + BATCH] for n in range(0, len(texts), BATCH)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._turn(batch)) for batch in batches]
        except ExceptionGroup as failed:  # the first fault cancels the other batches
            raise failed.exceptions[0] from None
        return [vector for task in tasks for vector in task.result()]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _turn(self, texts: Sequence[str]) -> list[list[float]]:
        async with far_place(f"embeddings at {self._client.base_url}", id(self), PARALLEL):
            answer = await ask_again(partial(self._ask, texts), _wait, ATTEMPTS)
        return _vectors(self.name, answer, len(texts))

    async def _ask(self, texts: Sequence[str]) -> Answer:
        self.requests += 1
        try:
            answer = await self._answered(texts)
        except ModelError:
            await self.spend(1, 0)
            raise
        tokens = answer.usage.total_tokens if answer.usage else 0
        self.tokens += tokens
        # Record the cost before the vectors are stored. A resumed run does not pay for stored
        # vectors.
        await self.spend(1, tokens)
        return answer

    async def _answered(self, texts: Sequence[str]) -> Answer:
        name_lookup.install_resolver()
        body = {
            "model": self.name,
            "input": [text[:MAX_CHARS] or " " for text in texts],
            "encoding_format": "float",
        }
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self._client.post("embeddings", json=body)
        except TimeoutError:
            raise ModelError(
                f"{self.name} returned no embeddings within {self._seconds:g} s."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Passing(
                f"The endpoint of {self.name} cannot be reached ({type(error).__name__})."
            ) from None
        if reply.status_code != httpx.codes.OK:
            raise _refusal(self.name, reply)
        try:
            return Answer.model_validate_json(reply.content)
        except ValidationError:
            raise ModelError(f"The endpoint of {self.name} did not return embeddings.") from None


def embedder(settings: Settings) -> EndpointEmbedder | None:
    """Return the embedder that the settings name, or None.
    Raises SettingsError if its key or numpy is missing.
    """
    name = settings.embeddings.strip().removeprefix("openai:")
    if not name:
        return None
    if find_spec("numpy") is None:
        raise SettingsError(
            "SPADEWORK_EMBEDDINGS needs the package numpy.",
            hint=f"To install it, run {how_to_install('embeddings')}.",
        )
    own = settings.embeddings_url
    # The OpenAI key is not sent to `embeddings_url`.
    secret = settings.embeddings_api_key or (None if own else settings.openai_api_key)
    url = own or settings.openai_base_url
    if not url and not secret:
        raise SettingsError(
            f"The embeddings model {name[:80]} needs an API key. Set OPENAI_API_KEY, or set"
            " SPADEWORK_EMBEDDINGS_URL to use your own server."
        )
    named = "SPADEWORK_EMBEDDINGS_API_KEY" if settings.embeddings_api_key else "OPENAI_API_KEY"
    key = read_key(secret, named) if secret else ""
    return EndpointEmbedder(name, url, key, seconds=_BATCH_SECONDS)


async def _free(requests: int, tokens: int) -> None:
    """Ignore the usage of a request."""


def _wait(error: BaseException) -> bool | float:
    return error.after if isinstance(error, Passing) else False


def _refusal(name: str, reply: httpx.Response) -> ModelError:
    words = _words(reply)
    status = reply.status_code
    message = f"The endpoint of {name} answered with status {status}{': ' * bool(words)}{words}."
    if status != httpx.codes.TOO_MANY_REQUESTS and status < httpx.codes.INTERNAL_SERVER_ERROR:
        return ModelError(message)
    after = reply.headers.get("retry-after", "")
    return Passing(message, after=float(after) if after.replace(".", "", 1).isdecimal() else True)


def _words(reply: httpx.Response) -> str:
    try:
        said: Any = reply.json()["error"]["message"]
    except (ValueError, LookupError, TypeError):
        return ""
    return " ".join(str(said).split())[:_WORDS_CHARS].rstrip(".")


def _vectors(name: str, answer: Answer, count: int) -> list[list[float]]:
    """Return the vectors in order, scaled to length 1. Raises ModelError for an unusable vector."""
    found = {each.index: each.embedding for each in answer.data}
    if set(found) != set(range(count)) or len({len(vector) for vector in found.values()}) != 1:
        raise ModelError(f"The endpoint of {name} returned {len(found)} vectors for {count} texts.")
    lengths = [math.hypot(*found[n]) for n in range(count)]
    if not all(math.isfinite(length) and length for length in lengths):
        raise ModelError(f"The endpoint of {name} returned a vector of zeros.")
    return [[number / length for number in found[n]] for n, length in enumerate(lengths)]
