"""Get embeddings from any OpenAI-compatible endpoint (`POST /embeddings`)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from spadework.errors import ModelError, SettingsError, how_to_install
from spadework.settings import Settings
from spadework.tools.ranking.vectors import Passage, Vectors
from spadework.tools.web.connections import (
    ask_again,
    certificates,
    closing_lines,
    install_resolver,
    proxy_for,
    read_key,
)
from spadework.tools.web.fair_queue import far_place
from spadework.values import Problem

#: Maximum number of texts per request. Every known server accepts this many.
BATCH = 64
_BATCH_SECONDS = 60.0
#: Maximum number of characters per text, because models accept about 8,000 tokens.
MAX_CHARS = 16_000
#: Maximum number of attempts per request, and maximum number of concurrent requests.
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
    """A transient error. Retry after `after` seconds, or with exponential backoff if True."""

    def __init__(self, message: str, *, after: bool | float = True) -> None:
        super().__init__(message)
        self.after = after


class EndpointEmbedder:
    """The embedding model `name` at `url` (default OpenAI). `spend` records requests and tokens."""

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
        """Return a unit vector for each text, in order. Raises ModelError."""
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
        # Record the cost before the caller stores the vectors. Otherwise, a run that stops in
        # between and is resumed would reuse the vectors and never record their cost.
        await self.spend(1, tokens)
        return answer

    async def _answered(self, texts: Sequence[str]) -> Answer:
        install_resolver()
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
                f"The {self.name} endpoint cannot be reached ({type(error).__name__})."
            ) from None
        if reply.status_code != httpx.codes.OK:
            raise _refusal(self.name, reply)
        try:
            return Answer.model_validate_json(reply.content)
        except ValidationError:
            raise ModelError(f"The {self.name} endpoint did not return embeddings.") from None


def embedder(settings: Settings) -> EndpointEmbedder | None:
    """Return the embedding model or None. Raises SettingsError if numpy or the key is missing."""
    name = settings.embeddings.strip().removeprefix("openai:")
    if not name:
        return None
    if find_spec("numpy") is None:
        raise SettingsError(
            "SPADEWORK_EMBEDDINGS needs the package numpy.",
            hint=f"To install it, run {how_to_install('embeddings')}.",
        )
    own = settings.embeddings_url
    # `embeddings_url` may be another server, which must not receive the OpenAI key.
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
    message = f"The {name} endpoint answered with status {status}{': ' * bool(words)}{words}."
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
    found = {each.index: each.embedding for each in answer.data}
    if set(found) != set(range(count)) or len({len(vector) for vector in found.values()}) != 1:
        raise ModelError(f"The {name} endpoint returned {len(found)} vectors for {count} texts.")
    lengths = [math.hypot(*found[n]) for n in range(count)]
    if not all(math.isfinite(length) and length for length in lengths):
        raise ModelError(f"The {name} endpoint returned a vector of zeros.")
    return [[number / length for number in found[n]] for n, length in enumerate(lengths)]


QUESTION_SECONDS = 2.0
#: Seconds to wait for further questions that can be embedded in the same request.
TOGETHER_SECONDS = 0.01


class Meaning:
    """The embedding model of a run. It is not used after its first error."""

    def __init__(self, embeds: EndpointEmbedder, seconds: float = QUESTION_SECONDS) -> None:
        self.embeds = embeds
        self.broken = False
        self._seconds = seconds
        self._problems: dict[str, Problem] = {}
        self._asked: dict[str, asyncio.Task[dict[str, list[float]]]] = {}
        self._next: list[str] = []
        self._task: asyncio.Task[dict[str, list[float]]]

    @property
    def problems(self) -> list[Problem]:
        """The problems recorded in this run, one per reason."""
        return list(self._problems.values())

    async def of(self, question: str) -> list[float] | None:
        """Return a question's vector, or None after an error. Each question is embedded once."""
        if self.broken:
            return None
        if question not in self._asked:
            if not self._next:
                self._task = asyncio.create_task(self._ask(self._next))
            self._next.append(question)
            self._asked[question] = self._task
        return (await asyncio.shield(self._asked[question])).get(question)

    def fail(
        self,
        error: ModelError | TimeoutError,
        effect: str = "The remaining searches used only keyword matching.",
    ) -> None:
        """Record a fault and stop using the model in this run."""
        self.broken = True
        said = f"{error} {getattr(error, 'hint', '')}".strip()
        self.tell(said or f"No vectors were returned within {self._seconds:g} s.", effect)

    def tell(self, reason: str, effect: str) -> None:
        """Record a problem unless its reason is already recorded."""
        subject = self.embeds.name
        problem = Problem(stage="embeddings", subject=subject, reason=reason, effect=effect)
        self._problems.setdefault(reason, problem)

    async def close(self) -> None:
        """Cancel pending requests and close the connections."""
        try:
            for task in self._asked.values():
                task.cancel()
            await asyncio.gather(*self._asked.values(), return_exceptions=True)
        finally:
            await self.embeds.close()

    async def _ask(self, questions: list[str]) -> dict[str, list[float]]:
        await asyncio.sleep(TOGETHER_SECONDS)
        self._next = []
        try:
            async with asyncio.timeout(self._seconds):
                return dict(zip(questions, await self.embeds.embed(questions), strict=True))
        except (ModelError, TimeoutError) as error:
            self.fail(error)
        return {}


def meaning_of(settings: Settings) -> Meaning | None:
    """Return the configured embedding model, if any. Raises the same errors as `embedder`."""
    embeds = embedder(settings)
    return Meaning(embeds) if embeds else None


#: Minimum number of passages per batch. It is enough to fill all parallel requests.
LEAST = BATCH * PARALLEL


async def fill(
    vectors: Vectors,
    embeds: EndpointEmbedder,
    documents: Iterable[Sequence[Passage]],
    tell: Callable[[int], None] = lambda documents: None,
) -> int:
    """Embed and store passages, and return the number of texts embedded. `tell` receives the
    number of documents done. Vectors stored before a ModelError are kept.
    """
    asked = done = 0
    waiting = _batches(documents)
    while batch := await asyncio.to_thread(next, waiting, None):
        texts = await asyncio.to_thread(vectors.without_vector, [one.text for one in batch])
        made = dict(zip(texts, await embeds.embed(texts), strict=True))
        await asyncio.to_thread(vectors.keep, batch, made)
        asked += len(texts)
        done += len({one.number for one in batch})
        tell(done)
    return asked


def _batches(documents: Iterable[Sequence[Passage]]) -> Iterator[list[Passage]]:
    """Yield batches of whole documents, because a document is never stored in part."""
    batch: list[Passage] = []
    for passages in documents:
        batch += passages
        if len(batch) >= LEAST:
            yield batch
            batch = []
    if batch:
        yield batch
