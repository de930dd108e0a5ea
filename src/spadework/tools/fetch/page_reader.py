"""Fetch web pages, using a browser if needed, and parse them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from spadework.errors import Blocked, FetchError, SettingsError, SpadeworkError, TooSlow, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.process import read_apart, warm
from spadework.tools.fetch.block_detection import BROWSER, refuse_blocked, thin
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.exchange import Fetched, ended_in, name_server
from spadework.tools.fetch.guard import check_url, printable_url
from spadework.tools.fetch.hosts import REFUSALS
from spadework.tools.web.background_threads import aside
from spadework.values import Attempt


class Way(NamedTuple):
    """An alternative URL of a page. A non-empty `media_type` overrides the server's."""

    url: str
    media_type: str = ""


#: A function that returns a page's alternative URLs, best first, or none if it does not know the
#: site.
Site = Callable[[str], Sequence[Way]]
_PREPRINT = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
_ARXIV = rf"(?P<form>abs|pdf)/(?P<id>{_PREPRINT})(?:\.pdf)?"
_WIKIPEDIAS = r"[a-z-]{2,12}\.(?:m\.)?wikipedia\.org"
#: The path of a Wikipedia article, but not of pages such as Special: or Talk:.
_ARTICLE = re.compile(r"/wiki/(?!\w+(?: \w+)?:[^_ ])[^/].*")
_REPOSITORY = r"(?P<owner>[\w-]+)/(?P<name>[\w.-]+)"
#: First path segments on GitHub that are not repository owners.
_ITS_OWN = frozenset({"about", "features", "marketplace", "orgs", "settings", "sponsors", "topics"})
_PACKAGE = r"package/(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:/v/(?P<version>[\w.+-]+))?"


def arxiv(url: str, base: str = "https://arxiv.org") -> Sequence[Way]:
    """Return the URL of an arXiv preprint's HTML and, if `url` is its abstract page, the URL of
    its PDF. See https://info.arxiv.org/help/arxiv_identifier.html.
    """
    if not (found := _match(_ARXIV, url, base)):
        return ()
    forms = ("html", "pdf") if found["form"] == "abs" else ("html",)
    return tuple(Way(f"{base}/{form}/{found['id']}") for form in forms)


def wikipedia(url: str, hosts: str = _WIKIPEDIAS) -> Sequence[Way]:
    """Return the URL of a Wikipedia article's `action=render` form, which robots.txt allows. See
    https://www.mediawiki.org/wiki/Manual:Parameters_to_index.php.
    """
    try:
        asked = urlsplit(url)
    except ValueError:
        return ()
    ours = re.fullmatch(hosts, asked.netloc.lower()) and not asked.query
    if not ours or not _ARTICLE.fullmatch(asked.path):
        return ()
    host = asked.netloc.replace(".m.", ".")
    rendered = f"{asked.scheme}://{host}{asked.path}?action=render"
    return (Way(rendered, "text/x-mediawiki-rendered"),)


def github(
    url: str,
    base: str = "https://github.com",
    *,
    api: str = "https://api.github.com",
    raw: str = "https://raw.githubusercontent.com",
) -> Sequence[Way]:
    """Return the URL of a README or raw file (https://docs.github.com/rest/repos/contents)."""
    if found := _match(_REPOSITORY, url, base):
        readme = f"{api}/repos/{found['owner']}/{found['name']}/readme"
        of_owner = found["owner"].lower() not in _ITS_OWN
        return (Way(readme, "application/vnd.github.readme+json"),) if of_owner else ()
    if found := _match(rf"{_REPOSITORY}/(?:blob|raw)/(?P<file>[^/]+/.+)", url, base):
        return (Way(f"{raw}/{found['owner']}/{found['name']}/{found['file']}"),)
    return ()


def npm(
    url: str, base: str = "https://npmjs.com", *, registry: str = "https://registry.npmjs.org"
) -> Sequence[Way]:
    """Return the URLs of an npm package's metadata, because its page refuses automated clients.
    See https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md.
    """
    if not (found := _match(_PACKAGE, url, base)):
        return ()
    package = f"{registry}/{found['name'].replace('/', '%2F')}"
    endings = (f"/{found['version']}",) if found["version"] else ("", "/latest")
    return tuple(Way(package + ending, "application/vnd.npm.package+json") for ending in endings)


SITES: tuple[Site, ...] = (arxiv, wikipedia, github, npm)


def ways_to(url: str, sites: Sequence[Site] = SITES) -> Sequence[Way]:
    """Return a page's alternative URLs, best first, or none."""
    return next((ways for site in sites if (ways := site(url))), ())


def _match(pattern: str, url: str, base: str) -> re.Match[str] | None:
    try:
        asked, site = urlsplit(url), urlsplit(base)
    except ValueError:
        return None
    if asked.netloc.lower().removeprefix("www.") != site.netloc or asked.query:
        return None
    return re.fullmatch(pattern, asked.path.strip("/"))


#: Formats that always parse quickly. "" means an unknown format.
HARMLESS = frozenset({"", "text", "code", "markdown"})
#: Maximum bytes parsed in this process, because regexes over longer text block all threads.
HARMLESS_BYTES = 50_000
#: The fraction of the remaining time that an alternative URL may take.
WAY_SHARE = 0.5
VISIT_SECONDS = 45.0
Read = tuple[Fetched, Extracted]
Fetch = Callable[[], Awaitable[Fetched]]


async def _at_once(level: int, fetch: Fetch) -> Fetched:
    return await fetch()


@dataclass
class _Trip:
    """The state of reading one page. `running` holds the current fetch level and its start time."""

    until: float
    had: Callable[[int, Fetch], Awaitable[Fetched]]
    attempts: list[Attempt] = field(default_factory=list)
    running: tuple[int, float] | None = None

    def give_up(self) -> list[Attempt]:
        if self.running:
            level, began = self.running
            self.attempts.append(Attempt(level=level, seconds=round(_now() - began, 3)))
        return self.attempts


class Reader:
    """Reads pages through a `Web` client and, if needed, a `Browser`."""

    def __init__(
        self, web: Web, browser: Browser | None = None, *, sites: Sequence[Site] = SITES
    ) -> None:
        self._web, self._browser, self._sites = web, browser, sites
        #: The number of refusals by each host. A single refusal may concern only one page.
        self._refusals: Counter[str] = Counter()

    def level_at(self, url: str) -> int:
        """Return the fetch level tried first for a page."""
        return max(self._web.hosts.level(urlsplit(url).netloc), self._web.min_level)

    async def read(
        self,
        url: str,
        *,
        seconds: float,
        level: int | None = None,
        had: Callable[[int, Fetch], Awaitable[Fetched]] = _at_once,
    ) -> Read:
        """Read the page at `url` within `seconds`, starting at the fetch level `level` (None: see
        `level_at`). `had(level, fetch)` returns a stored response, or calls `fetch` and may
        store its result. Alternative URLs have the levels -1, -2 and so on. Raises the errors of
        `Web.fetch`, Blocked for a captcha or login page, and Unreadable for a page without text.
        """
        url, trip = check_url(url), _Trip(_now() + seconds, had)
        try:
            async with asyncio.timeout(seconds):
                warm()
                first = self.level_at(url) if level is None else level
                ways = () if self._web.min_level else ways_to(url, self._sites)
                for number, way in enumerate(ways, 1):
                    if read := await self._by_way(url, way, -number, trip):
                        break
                else:
                    if not 0 < self._refusals[urlsplit(url).netloc] < REFUSALS:
                        self._web.hosts.check_refusal(url, self._highest)
                    read = await self._levels_up(url, first, trip)
        except TimeoutError:
            late = TooSlow(f"{printable_url(url)} was not read within {seconds:.3g} s.")
            raise ended_in(late, trip.give_up()) from None
        except FetchError as error:
            if isinstance(error, Blocked) and error.turned_away:
                self._refusals[host := urlsplit(url).netloc] += 1
                await self._web.hosts.refused(host, url, self._highest)
            raise ended_in(name_server(error, url), trip.attempts) from error
        await self._web.hosts.let_in(urlsplit(url).netloc)
        return replace(read[0], attempts=tuple(trip.attempts)), read[1]

    @property
    def _highest(self) -> int:
        browser = self._browser
        if browser is None:
            return 1
        return min(browser.max_level, 1) if browser.what_is_missing else browser.max_level

    async def holds(self, url: str) -> bool:
        """Return whether a fresh copy of a page is cached."""
        return await self._web.holds(url)

    async def _by_way(self, url: str, way: Way, level: int, trip: _Trip) -> Read | None:
        async def fetch() -> Fetched:
            found = await self._web.fetch(way.url, seconds=WAY_SHARE * _seconds_left(trip))
            return replace(found, url=url, media_type=way.media_type or found.media_type)

        try:
            return await self._attempt(level, fetch, trip)
        except FetchError:
            return None

    async def _levels_up(self, url: str, level: int, trip: _Trip) -> Read:
        """Read a page over plain HTTP, or in the browser if that might help."""
        if level >= BROWSER:
            try:
                return await self._in_browser(url, trip)
            except Unreadable:  # the URL may be a file, which a browser cannot show
                if self._web.min_level >= BROWSER:
                    raise
        try:
            plain = await self._plainly(url, trip)
        except FetchError as error:
            if not error.turned_away:
                raise
            return await self._in_browser(url, trip, error)
        if not await aside(thin, *plain):
            return plain
        try:
            shown = await self._in_browser(url, trip)
        except SpadeworkError:
            return plain
        return max(plain, shown, key=lambda read: len(read[1].markdown))

    async def _plainly(self, url: str, trip: _Trip) -> Read:
        async def fetch() -> Fetched:
            return await self._web.fetch(url, seconds=_seconds_left(trip))

        return await self._attempt(0, fetch, trip)

    async def _in_browser(self, url: str, trip: _Trip, before: FetchError | None = None) -> Read:
        browser = self._browser
        error = before or Unreadable(f"{printable_url(url)} cannot be read without a browser.")
        if browser is None or browser.max_level < BROWSER:
            raise error
        if browser.what_is_missing:
            raise _add_mend(error, browser.what_is_missing)
        try:
            return await self._visited(url, browser, trip)
        except SettingsError as fault:
            raise _add_mend(error, f"{fault} {fault.hint}") from fault

    async def _visited(self, url: str, browser: Browser, trip: _Trip) -> Read:
        async def fetch() -> Fetched:
            await self._web.ask_permission(url, seconds=_seconds_left(trip))
            fetched = await browser.visit(url, seconds=min(VISIT_SECONDS, _seconds_left(trip)))
            if urlsplit(fetched.url).netloc != urlsplit(url).netloc:
                await self._web.ask_permission(fetched.url, seconds=_seconds_left(trip))
            return fetched

        read = await self._attempt(BROWSER, partial(_tell_attempt, fetch), trip)
        await self._web.hosts.gave(urlsplit(url).netloc, BROWSER)
        return read

    async def _attempt(self, level: int, fetch: Fetch, trip: _Trip) -> Read:
        trip.running = (max(level, 0), _now())
        try:
            fetched = await trip.had(level, fetch)
        except FetchError as error:
            trip.running = None
            trip.attempts += [Attempt.model_validate(one) for one in error.attempts]
            raise
        trip.running = None
        trip.attempts += fetched.attempts
        try:
            return await self._read(fetched, trip)
        except FetchError as error:
            trip.attempts = [*ended_in(error, trip.attempts).attempts]
            raise

    async def _read(self, fetched: Fetched, trip: _Trip) -> Read:
        read = partial(_document, fetched, _seconds_left(trip))
        found = await self._web.cleaned.read_once(fetched, read)
        await aside(refuse_blocked, fetched, found)
        return fetched, found


async def _document(fetched: Fetched, seconds: float) -> Extracted:
    # Run in a thread, because the first call imports the parsers.
    kind = await aside(kind_of, fetched.body, fetched.media_type, fetched.url)
    said = {"media_type": fetched.media_type, "url": fetched.url, "charset": fetched.charset}
    if kind.reader in HARMLESS and len(fetched.body) <= HARMLESS_BYTES:
        return await aside(read_document, fetched.body, **said)
    return await read_apart(fetched.body, **said, seconds=seconds)


async def _tell_attempt(fetch: Fetch) -> Fetched:
    began, made = _now(), Attempt(level=BROWSER)
    try:
        fetched = await fetch()
    except FetchError as error:
        took = {"status": error.status, "seconds": round(_now() - began, 3)}
        raise ended_in(error, [made.model_copy(update=took)]) from error.__cause__
    seconds = round(_now() - began, 3)
    came = {"status": fetched.status, "bytes": len(fetched.body), "seconds": seconds}
    return replace(fetched, attempts=(made.model_copy(update=came),))


def _seconds_left(trip: _Trip) -> float:
    return max(0.001, trip.until - _now())


def _now() -> float:
    return asyncio.get_running_loop().time()


def _add_mend(error: FetchError, mend: str) -> FetchError:
    made = type(error)(f"{error} A browser may be able to read it. {mend}", hint=error.hint or mend)
    made.turned_away, made.status = error.turned_away, error.status
    return made
