"""Open the parts of a session: journal, models, search providers and pages. A run continues
without the knowledge store if the store fails.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from pydantic import Field, SecretStr

from spadework.agents.llm.client import Model
from spadework.agents.llm.probe import default_model
from spadework.budget import Budget
from spadework.deadline import WRITE_NOW, shares_of
from spadework.errors import KnowledgeError, ModelError, SpadeworkError
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.guard import is_owned
from spadework.tools.knowledge import Entry, Knowledge, Recalled, knowledge_of
from spadework.tools.knowledge.entry import worth_keeping
from spadework.tools.library.library import Library
from spadework.tools.ranking.embedder import Meaning, meaning_of
from spadework.tools.search.failover import Search
from spadework.tools.search.provider import Provider
from spadework.tools.search.provider_choice import PROVIDERS, Choice, Spare, choose
from spadework.tools.stores.cassette import Recording
from spadework.tools.stores.journal import Journal
from spadework.tools.stores.private_files import private_folder
from spadework.tools.web.urls import host_of
from spadework.values import Hit, Page, Problem, Query, Value

if TYPE_CHECKING:
    from spadework.graph.context import SessionContext

#: Names of secret settings, which are never stored.
SECRETS = {
    name
    for name, field in Settings.model_fields.items()
    if SecretStr in (field.annotation, *get_args(field.annotation))
}
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")
_NOBODY = ("", "")


class Opened(Value):
    """A record of the model, providers and settings that a session uses, excluding secrets."""

    model: str = ""
    providers: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(
        cls, settings: Settings, model: str, choice: Choice, problems: Sequence[Problem]
    ) -> Opened:
        """Return a record of the model, providers and settings in use."""
        return cls(
            model=model,
            providers=tuple((one.name, one.describes) for one in choice.providers),
            notices=choice.notices,
            problems=tuple(problems),
            settings={
                name: _USERINFO.sub("", value) if isinstance(value, str) else value
                for name, value in settings.model_dump(mode="json").items()
                if name not in SECRETS | {"home"}
            },
        )

    def settings_again(self, home: Path) -> Settings:
        """Return the recorded settings for a replay, without the user's current API keys."""
        kept = {name: told for name, told in self.settings.items() if name in Settings.model_fields}
        settings = Settings.load(**{**kept, "home": home})
        keys: dict[str, SecretStr | None] = dict.fromkeys(SECRETS)
        if self.model and not (settings.model or settings.openai_base_url):
            # The recorded run chose its models because this key was set, so set a placeholder.
            keys["openai_api_key"] = SecretStr("replayed")
        return settings.model_copy(update=keys)

    def as_json(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        return self.model_dump(mode="json")

    def choice(self, settings: Settings) -> Choice:
        """Return the recorded providers, which answer only from the recording."""
        return Choice(
            tuple(provider_again(*named, settings) for named in self.providers), self.notices
        )


@dataclass(frozen=True)
class Replay:
    """A session to rerun from its recording. `new_model` answers requests missing from it."""

    recording: Recording
    new_model: Settings | None = None


@dataclass(frozen=True)
class PagesAlone:
    """Options for gathering pages without a model. `providers` are the caller's own search
    providers. If `search` is False, no provider is opened.
    """

    providers: Sequence[Any] = ()
    search: bool = True


@dataclass(frozen=True)
class _Recorded:
    """A provider that cannot be created by name. Its hits come only from the recording."""

    name: str
    describes: str

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        return []


def provider_again(name: str, describes: str, settings: Settings) -> Provider:
    """Return a provider that answers only from the recording."""
    keyed = settings.model_copy(update={key: SecretStr("replayed") for key in SECRETS})
    known = PROVIDERS.get(name)
    return known.make(keyed) if known else _Recorded(name, describes)


_NO_TIME = Choice((), ("There was no time to connect to any search provider.",))

#: The model's name, the problems that occurred in choosing the model, and the chosen providers.
Chosen = tuple[str, list[Problem], Choice]


class Parts(NamedTuple):
    """The opened parts of a session.
    - `asked`: the model that receives requests (in a replay, the new model or None).
    - `problems`: problems with the choice of the model.
    - `cleanings`: number of pages already cleaned.
    """

    journal: Journal
    model: Model | None
    asked: Model | None
    search: Search
    choice: Choice
    problems: list[Problem]
    web: Web
    browser: Browser
    libraries: list[Library]
    page_cache: PageCache
    cleanings: int


async def open_parts(
    folder: Path,
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    progress: Callable[[str], None] | None,
    providers: Sequence[Any] | Replay | PagesAlone,
) -> Parts:
    """Open the journal in a folder, then the providers and the model."""
    replay = providers if isinstance(providers, Replay) else None
    libraries: list[Library] = []
    await asyncio.to_thread(private_folder, folder / "pages")
    async with AsyncExitStack() as opened:
        meaning = None if replay else meaning_of(settings)
        if meaning:
            opened.push_async_callback(meaning.close)
        journal = await _journal(folder, budget, replay, meaning)
        opened.push_async_callback(journal.close)

        async def open_library() -> Library:
            budget.pause()  # Indexing does not count as run time.
            try:
                paths, home = settings.library, settings.common
                one = await Library.open(
                    paths, home=home, progress=progress, meaning=meaning, lazily=True
                )
                # Sessions that only gather pages index the library now. Other sessions index it
                # after their forecast.
                if isinstance(providers, PagesAlone):
                    await one.build()
            finally:
                budget.go_on()
            opened.push_async_callback(one.close)
            libraries.append(one)
            return one

        if isinstance(providers, Replay):
            name, problems, choice = await _chosen_again(settings, journal)
        else:
            begun = await journal.noted("opened", "", before=True)
            late = not begun and budget.under(WRITE_NOW)
            name, problems, choice = await _chosen_now(
                settings, budget, stop, open_library, providers, late=late
            )
        # A replay needs no rate limits.
        search = Search(choice.providers) if replay else choice.search(settings)
        opened.push_async_callback(search.close)
        budget.shares = shares_of(settings.effort, model=bool(name))
        model, asked = _models(settings, budget, journal, name, replay)
        if model:
            opened.push_async_callback(model.close)
        await journal.note("opened", "", Opened.of(settings, name, choice, problems).as_json())
        cleanings = await journal.count("clean")
        store = None if replay else knowledge_of(settings, meaning)
        web = await opened.enter_async_context(Web(settings))
        opened.pop_all()
    page_cache = PageCache(store, settings, budget.until_closing, meaning)
    found = (journal, model, asked, search, choice, problems)
    return Parts(*found, web, Browser(settings), libraries, page_cache, cleanings)


async def _journal(
    folder: Path, budget: Budget, replay: Replay | None, meaning: Meaning | None
) -> Journal:
    recording = replay.recording if replay else None
    journal = await Journal.open(folder / "session.sqlite", budget, recording=recording)
    if meaning:
        meaning.embeds.spend = lambda calls, tokens: journal.paid(
            embedding_calls=calls, embedding_tokens=tokens
        )
    return journal


async def _chosen_now(
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    open_library: Callable[[], Awaitable[Library]],
    providers: Sequence[Any] | PagesAlone,
    *,
    late: bool,
) -> Chosen:
    name, problems, choice = "", list[Problem](), _NO_TIME
    if isinstance(providers, PagesAlone):
        alone, own = True, providers.providers
        if not providers.search:
            return name, problems, Choice(())
    else:
        alone, own = False, providers
        if late:
            return name, problems, choice
    with suppress(TimeoutError, Stopped):
        if not alone:
            name, problems = await unless_stopped(
                stop, _model(settings), seconds=budget.until_closing()
            )
        choosing = choose(settings, open_library, list(own))
        choice = await unless_stopped(stop, choosing, seconds=budget.until_closing())
    return name, problems, choice


async def _chosen_again(settings: Settings, journal: Journal) -> Chosen:
    opened = Opened.model_validate(await journal.noted("opened", "") or {})
    # Use a thread, because providers may read certificates from disk.
    choice = await asyncio.to_thread(opened.choice, settings)
    return opened.model, list(opened.problems), choice


async def _model(settings: Settings) -> tuple[str, list[Problem]]:
    try:
        return await default_model(settings), []
    except ModelError as error:
        effect = f"No model was used; the report only quotes its sources. {error.hint}".rstrip()
        subject = host_of(settings.openai_base_url)
        return "", [Problem(stage="model", subject=subject, reason=str(error), effect=effect)]


def _models(
    settings: Settings, budget: Budget, journal: Journal, name: str, replay: Replay | None
) -> tuple[Model | None, Model | None]:
    """Return the session's model and the model that receives requests. They differ only in a
    replay, where the second is the new model or None.
    """
    if not name:
        return None, None
    if replay is None:
        model = Model(settings, budget, journal, name)
        return model, model
    other = replay.new_model
    new_model = Model(other, budget, journal.for_new_requests(), other.model) if other else None
    return Model(settings, budget, journal, name, new_model), new_model


class StandIns:
    """Opens the fallback providers in order, as they are needed."""

    def __init__(self, spares: Sequence[Spare]) -> None:
        self._spares = list(spares)
        self._lock = asyncio.Lock()
        self.opened: list[Provider] = []
        self._news: list[str] = []

    async def nth(self, context: SessionContext, n: int) -> Provider | None:
        """Return fallback provider `n` (from 0), or None if there is none."""
        async with self._lock:
            while n >= len(self.opened):
                opening = partial(self._open, context)
                name, describes = await context.journal.moment(
                    "stands in", len(self.opened), tuple[str, str], opening, _NOBODY
                )
                if not name:
                    return None
                if context.journal.recording is not None:
                    self.opened.append(provider_again(name, describes, context.settings))
                context.searching = (*context.searching, describes)
                self._news.append(f"All searches failed; searching {describes} instead.")
            return self.opened[n]

    def news(self) -> list[str]:
        """Return and clear the messages about newly opened providers."""
        told, self._news = self._news, []
        return told

    async def _open(self, context: SessionContext) -> tuple[str, str]:
        while self._spares:
            opening, seconds = self._spares.pop(0)(), context.budget.phase("search", "read")
            try:
                found = await unless_stopped(context.stop, opening, seconds=seconds)
            except (SpadeworkError, OSError, TimeoutError, Stopped):
                continue  # The failure is not reported, because nobody chose this provider.
            if found is not None:
                self.opened.append(found)
                return found.name, found.describes
        return _NOBODY


T = TypeVar("T")

ANSWER_SECONDS = 4.0
#: Maximum seconds to wait until pages are in the knowledge store: before the report is written, and
#: at the end of the run.
REPORT_SECONDS, CLOSING_SECONDS = 0.2, 8.0


class PageCache:
    """A run's access to the knowledge store. Without a store, or after it has failed (see
    `problem`), lookups find nothing. `left` returns how many seconds the store may take to
    answer. The embedding model `meaning` is closed together with the store.
    """

    def __init__(
        self,
        store: Knowledge | None,
        settings: Settings,
        left: Callable[[], float],
        meaning: Meaning | None = None,
    ) -> None:
        self.problem: Problem | None = None
        self._store = store
        self._left = left
        self._meaning = meaning
        self._owned = {host.lower() for host in settings.allow_hosts}
        self._begun: set[str] = set()
        self._adding: set[asyncio.Task[None]] = set()

    @property
    def problems(self) -> list[Problem]:
        """Problems with the store and the embedding model."""
        return [
            *([self.problem] if self.problem else []),
            *(self._meaning.problems if self._meaning else []),
        ]

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Return matching pages fetched since `since`, or [] if the store fails."""
        if self._store is None or self.problem:
            return []
        found = await self._answer(
            self._store.search(text, limit=limit, since=since), list[Recalled]()
        )
        return [one for one in found if self._may_see(one.entry)]

    async def page(self, url: str, since: datetime | None) -> Entry | None:
        """Return the stored page at a URL if `since` is set and the page is no older, else None."""
        if self._store is None or self.problem or since is None:
            return None
        entry = await self._answer(self._store.find(url, since=since), None)
        return entry if entry and self._may_see(entry) else None

    def keep(self, pages: Iterable[Page], text_of: Callable[[str], Awaitable[str]]) -> None:
        """Start storing new pages worth keeping. `text_of` returns the text for a content hash."""
        new = [page for page in pages if page.url not in self._begun and worth_keeping(page)]
        if self._store and new:
            self._begun |= {page.url for page in new}
            self._adding.add(asyncio.create_task(self._add(self._store, new, text_of)))

    async def settle(self) -> list[Problem]:
        """Wait briefly for pages to be stored, and return all problems so far."""
        if self._adding:
            await asyncio.wait(self._adding, timeout=REPORT_SECONDS)
        return self.problems

    async def close(self) -> None:
        """Finish or cancel storing pages, then close the store."""
        async with AsyncExitStack() as closing:
            if self._meaning:
                closing.push_async_callback(self._meaning.close)
            if self._store:
                closing.push_async_callback(self._store.close)
            if self._adding:
                # Callbacks run in reverse order, so tasks are cancelled before the wait.
                closing.push_async_callback(asyncio.wait, self._adding)
                for adding in self._adding:
                    closing.callback(adding.cancel)
                await asyncio.wait(self._adding, timeout=CLOSING_SECONDS)
        for adding in self._adding:
            if not adding.cancelled():
                adding.result()  # Raises unexpected errors.

    async def _add(
        self, store: Knowledge, pages: Sequence[Page], text_of: Callable[[str], Awaitable[str]]
    ) -> None:
        # Store pages without their ranking and other data specific to this run.
        bare = {"relevance": 0.0, "rrf": 0.0, "linked": 0.0, "found_by": (), "origin": ""}
        bare |= {"attempts": (), "cleaning": 0.0}
        try:
            entries = [
                Entry(
                    page.model_copy(update=bare),
                    await text_of(page.content_hash),
                    own=is_owned(host_of(page.url), self._owned),
                )
                for page in pages
            ]
            await store.add(entries)
        except (KnowledgeError, OSError) as error:
            self._failed(error, "This run's pages were not saved for later runs.")

    async def _answer(self, work: Awaitable[T], otherwise: T) -> T:
        seconds = min(ANSWER_SECONDS, self._left())
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            fault = KnowledgeError(f"The knowledge store did not answer within {seconds:.3g} s.")
        except KnowledgeError as error:
            fault = error
        self._failed(fault, "Pages of earlier runs were not used.")
        return otherwise

    def _failed(self, error: Exception, effect: str) -> None:
        reason = f"{error} {getattr(error, 'hint', '')}".strip()
        self.problem = self.problem or Problem(
            stage="knowledge", subject="knowledge store", reason=reason, effect=effect
        )

    def _may_see(self, entry: Entry) -> bool:
        return not entry.own or is_owned(host_of(entry.page.url), self._owned)
