"""In every state of a broken environment, `doctor`, the settings page and a run name the true cause
in one sentence; none of them ends in a traceback.
"""

from __future__ import annotations

import html
import json
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest
from markdown_it import MarkdownIt

from spadework.apps.outputs import ENDINGS
from spadework.graph.nodes import read
from spadework.tools.search import duckduckgo
from spadework.tools.search.provider_choice import PROVIDERS, Spec
from tests.sessions.health.conftest import KEY, NOBODY, Machine, hurry
from tests.tools.search.mcp_servers import over_http
from tests.tools.search.services import Services
from tests.tools.search.test_providers import MAKE
from tests.world.background import Background, listen
from tests.world.disk import small_disk
from tests.world.embedding import Embeddings
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


@dataclass(frozen=True)
class Broken:
    """Everything that a state can break."""

    machine: Machine
    world: World
    searx: Searx
    model: Model
    embeddings: Embeddings
    services: Services
    patch: pytest.MonkeyPatch
    mcp: str
    #: What must not be given up before the test is over.
    kept: list[socket.socket] = field(default_factory=list)

    def set(self, **settings: str) -> None:
        """Change settings."""
        self.machine.env |= {f"SPADEWORK_{name}": value for name, value in settings.items()}

    def brave(self, key: str = KEY) -> None:
        """Search with a service that wants a key."""
        self.set(SEARCH="brave", BRAVE_API_KEY=key)


@dataclass(frozen=True)
class State:
    """A state: how it comes about, what the check says and what a run says first, with its exit
    code. One that is `harmless` to the check makes it fail no script.
    """

    broken: Callable[[Broken], object]
    check: str
    first: str
    code: int = 0
    harmless: bool = False


def _hurried(b: Broken) -> None:
    """Wait for nobody for long."""
    hurry(b.patch, 0.8, 0.4)
    b.set(MODEL_SECONDS="0.4")


def _silent_search(b: Broken) -> None:
    _hurried(b)
    b.searx.fail("hang")


def _silent_model(b: Broken) -> None:
    _hurried(b)
    b.model.script("", Fault("hang"))


def _fault(b: Broken, fault: str) -> None:
    b.brave()
    if fault == "hang":
        _hurried(b)
    b.services.fault = fault  # type: ignore[assignment]


def _wrong_key(b: Broken) -> None:
    b.brave()
    from pydantic import SecretStr

    make, url = MAKE["brave"], b.services.url("brave")
    known = Spec(lambda _: make(url, SecretStr("of-nobody")), "brave_api_key")
    b.patch.setitem(PROVIDERS, "brave", known)


def _dead_service(b: Broken) -> None:
    b.brave()
    known = Spec(lambda _: MAKE["brave"](NOBODY), "brave_api_key")
    b.patch.setitem(PROVIDERS, "brave", known)


def _empty_service(b: Broken) -> None:
    b.brave()
    b.services.empty = True


def _duckduckgo(
    answer: dict[str, object] | None = None, proxy: str = ""
) -> Callable[[Broken], None]:
    """DuckDuckGo, whose process answers so; or which is asked through a proxy."""

    async def said(asked: bytes) -> bytes:
        return json.dumps(answer).encode()

    def state(b: Broken) -> None:
        b.set(SEARCH="duckduckgo")
        if answer is not None:
            b.patch.setattr(duckduckgo, "_ask_child", said)
        b.patch.setenv("DDGS_PROXY", proxy)

    return state


def _silent_duckduckgo(b: Broken) -> None:
    silent = listen("127.0.1.30")  # connections are taken by the system, and never answered
    b.kept.append(silent)
    _duckduckgo(proxy="http://{}:{}".format(*silent.getsockname()))(b)
    hurry(b.patch, 2.5, 2)


def _mcp(tool: str, where: str = "") -> Callable[[Broken], None]:
    """A tool of the server of the tests, or of the one at an address."""

    def state(b: Broken) -> None:
        b.set(SEARCH="mcp", MCP_SEARCH=f"{tool} @ {where or b.mcp}")

    return state


def _silent_mcp(b: Broken) -> None:
    _mcp("hangs")(b)
    hurry(b.patch, 2, 1.5)


def _only(b: Broken, url: str) -> None:
    for words in ("water", "aldermere"):
        b.searx.script(words, [url])


def _blocked(b: Broken) -> None:
    b.world.fail_everything = 403


def _hanging_pages(b: Broken) -> None:
    hurry(b.patch, 0.8)
    b.patch.setattr(read, "PAGE_SECONDS", 1.0)
    _only(b, b.world.url("encyclopedia", "/wiki/Port_Aldermere"))
    b.world.hang_everything = True


def _unknown_site(b: Broken) -> None:
    _only(b, "http://harbour.invalid/census")


def _nobody(b: Broken) -> None:
    b.machine.env["OPENAI_BASE_URL"] = f"{NOBODY}/v1"


def _nobody_unnamed(b: Broken) -> None:
    _nobody(b)
    b.set(MODEL="")


def _unknown_model(b: Broken) -> None:
    b.set(MODEL="openai:other")
    b.model.script("", Fault("refused", words="The model `other` does not exist."))


def _answers(kind: str) -> Callable[[Broken], object]:
    return lambda b: b.model.script("", Fault(kind))  # type: ignore[arg-type]


STATES = {
    "search refused": State(
        lambda b: b.machine.env.update(SEARXNG_URL=NOBODY),
        "SearXNG could not be queried: All connection attempts failed.",
        "No search with searxng succeeded: SearXNG could not be queried",
        1,
    ),
    "search of no such name": State(
        lambda b: b.machine.env.update(SEARXNG_URL="http://searx.invalid"),
        "SearXNG could not be queried:",
        "No search with searxng succeeded: SearXNG could not be queried:",
        1,
    ),
    "search hangs": State(
        _silent_search,
        "searxng did not answer within 0.",
        "No search with searxng succeeded: SearXNG did not answer within",
        1,
    ),
    "search limited": State(
        lambda b: b.searx.fail("limited"),
        "SearXNG received too many requests.",
        "No search with searxng succeeded: SearXNG received too many",
        1,
    ),
    "search without JSON": State(
        lambda b: b.searx.fail("forbidden"),
        "add json to search.formats in its settings.yml",
        "add json to search.formats in its settings.yml",
        1,
    ),
    "search empty": State(
        lambda b: b.searx.script("", []),
        "searxng answers, but found nothing for “water”.",
        "Every search with searxng found nothing.",
        harmless=True,
    ),
    "service refused": State(
        _dead_service,
        "Brave could not be queried: All connection attempts failed.",
        "No search with brave succeeded: Brave could not be queried",
        1,
    ),
    "service hangs": State(
        lambda b: _fault(b, "hang"),
        "brave did not answer within 0.",
        "No search with brave succeeded: Brave did not answer within",
        1,
    ),
    "service of a wrong key": State(
        _wrong_key,
        "Brave refused the request (status 422): check BRAVE_API_KEY.",
        "check BRAVE_API_KEY.",
        1,
    ),
    "service spent": State(
        lambda b: _fault(b, "limited"), "Brave received", "brave succeeded: Brave received", 1
    ),
    "service empty": State(
        _empty_service,
        "brave answers, but found nothing for “water”.",
        "Every search with brave found nothing.",
        harmless=True,
    ),
    "DuckDuckGo refused": State(
        _duckduckgo(proxy=NOBODY),
        "DuckDuckGo could not be",
        "No search with duckduckgo succeeded: DuckDuckGo could not be",
        1,
    ),
    "DuckDuckGo hangs": State(
        _silent_duckduckgo,
        "duckduckgo did not answer within 2.",
        "No search with duckduckgo succeeded: DuckDuckGo did not answer within",
        1,
    ),
    "DuckDuckGo limited": State(
        _duckduckgo({"error": "RatelimitException: 202 Ratelimit"}),
        "DuckDuckGo received too many requests.",
        "duckduckgo succeeded: DuckDuckGo received too many requests",
        1,
    ),
    "DuckDuckGo empty": State(
        _duckduckgo({"error": "No results found."}),
        "DuckDuckGo returned no results; it may be limiting requests.",
        "duckduckgo succeeded: DuckDuckGo returned no results; it may be limiting requests",
        1,
    ),
    "MCP server refused": State(
        _mcp("structured", f"{NOBODY}/mcp"),
        "mcp could not be reached: nothing answers at its address.",
        "No search with mcp succeeded: mcp could not be reached: nothing answers",
        1,
    ),
    "MCP server that ends": State(
        _mcp("structured", f"{sys.executable} -c pass"),
        "mcp could not be reached: it ended, or is not an MCP server.",
        "No search with mcp succeeded: mcp could not be reached: it ended",
        1,
    ),
    "MCP tool of no such name": State(
        _mcp("nowhere"),
        "mcp has no tool 'nowhere'; its tools: structured, listed",
        "No search with mcp succeeded: mcp has no tool 'nowhere'; its tools: structured",
        1,
    ),
    "MCP tool hangs": State(
        _silent_mcp,
        "mcp did not answer within",
        "No search with mcp succeeded: mcp did not answer within",
        1,
    ),
    "MCP tool refuses": State(
        _mcp("refuses"),
        "mcp answered with an error: Error 429: rate limit exceeded.",
        "No search with mcp succeeded: mcp answered with an error: Error 429",
        1,
    ),
    "MCP tool empty": State(
        _mcp("nothing"),
        "mcp answers, but found nothing for “water”.",
        "Every search with mcp found nothing.",
        harmless=True,
    ),
    "model refused": State(
        _nobody,
        "openai:world-model cannot be reached.",
        "openai:world-model cannot be reached. The model never answered",
    ),
    "model server refused": State(
        _nobody_unnamed,
        "The model server at 127.0.1.29 cannot be reached.",
        "The model server at 127.0.1.29 cannot be reached.",
    ),
    "model of a wrong key": State(
        _answers("unauthorized"),
        "openai:world-model rejected the API key. Check OPENAI_API_KEY.",
        "openai:world-model rejected the API key. The model never answered",
    ),
    "model of a wrong name": State(
        _unknown_model,
        "has no model openai:other. The server offers world-model. Choose one with --model"
        " openai:NAME.",
        "The model `other` does not exist.",
    ),
    "model spent": State(
        _answers("quota"),
        "The quota of openai:world-model is used up.",
        "The quota of openai:world-model is used up. The model never answered",
    ),
    "model hangs": State(
        _silent_model,
        "openai:world-model did not answer within 0.",
        "openai:world-model did not answer in time. The model never answered",
    ),
    "pages blocked": State(
        _blocked,
        "A page that a search found could not be fetched",
        "pages that were tried could be read: 127.0.1.",
    ),
    "pages hang": State(
        _hanging_pages,
        "A page that a search found could not be fetched",
        "The only page that was tried could not be read: The page was not read within 1 s.",
    ),
    "site of no such name": State(
        _unknown_site,
        "A page that a search found could not be fetched: ",
        "The only page that was tried could not be read: harbour.invalid",
    ),
}


@pytest.fixture(scope="module")
def mcp(background: Background) -> Iterator[str]:
    """The address of a server with tools that answer in every way."""
    serving = AsyncExitStack()
    yield background.run(serving.enter_async_context(over_http()))
    background.run(serving.aclose())


@pytest.fixture
def broken(
    machine: Machine,
    world: World,
    searx: Searx,
    model: Model,
    embeddings: Embeddings,
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    mcp: str,
) -> Iterator[Broken]:
    made = Broken(machine, world, searx, model, embeddings, services, monkeypatch, mcp)
    yield made
    for held in made.kept:
        held.close()


#: Every third state, and none whose processes take long to start, three times over.
SHORT = set(list(STATES)[::3]) - {"DuckDuckGo refused", "DuckDuckGo hangs"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name not in SHORT)) for name in STATES]
)
def test_doctor_page_and_run_name_the_cause(broken: Broken, name: str) -> None:
    state, machine = STATES[name], broken.machine
    state.broken(broken)
    code, said = machine.doctor()
    assert code == (not state.harmless), said
    marks = ("note ",) if state.harmless else ("wrong", "slow ")
    told = [line for line in said.splitlines() if line[:5] in marks]
    assert [line for line in told if state.check in line], said
    assert state.check.lower() in machine.page().lower()
    code, result, err = machine.run()
    assert result is not None, err
    assert (code, state.code) == (state.code, code), result.report
    title, heading, first = result.report.split("\n\n")[:3]
    assert (title, heading) == (f"# {result.question}", "## Problems"), result.report
    assert state.first in first.replace("\\", ""), result.report


def test_where_all_works_all_say_so(machine: Machine, embeddings: Embeddings) -> None:
    machine.env |= {"SPADEWORK_EMBEDDINGS": "any", "SPADEWORK_EMBEDDINGS_URL": embeddings.url}
    code, said = machine.doctor()
    assert code == 0, said
    for told in (
        "ok    sessions and indexes are in",
        "ok    language model openai:world-model answers",
        "ok    search works: the web, through SearXNG",
        "ok    pages can be fetched",
        "ok    embedding model any answers",
    ):
        assert told in said
    assert "Not working:" not in machine.page()
    code, result, err = machine.run()
    assert result is not None, err
    assert code == 0
    assert result.report.split("\n\n")[1] != "## Problems"
    [model] = [line for line in machine.doctor()[1].splitlines() if "world-model" in line]
    assert model.endswith(
        "it passed its qualification test (30 of 30 correct), so it will judge and write reports"
    )


def test_what_is_found_and_not_read_is_listed(broken: Broken) -> None:
    url = broken.world.url("encyclopedia", "/wiki/Port_Aldermere")
    _only(broken, url)
    _blocked(broken)
    _, result, err = broken.machine.run()
    assert result is not None, err
    listed = result.report.partition("could not be read. Their excerpts")[2].partition("\n## ")[0]
    assert "Port Aldermere" in listed and "(127.0.1.1)" in listed
    assert "http" not in listed
    assert "Nothing was found" not in result.report
    assert result.problems[0].subject == url


def test_what_is_found_and_not_read_is_only_words(broken: Broken) -> None:
    hostile = (
        "`<b>` <script>alert(1)</script> [press](javascript:alert(1)) **bold** $x$"
        " ![i](http://x.example/i.png)"
    )
    title = html.escape(f"## {hostile}")
    _only(broken, broken.world.put("blog", "/hostile", f"<title>{title}</title><p>{hostile}</p>"))
    _blocked(broken)
    _, result, err = broken.machine.run()
    assert result is not None, err
    listed = result.report.partition("could not be read. Their excerpts")[2].partition("\n## ")[0]
    assert "(127.0.1.5)" in listed
    drawn = MarkdownIt().render(result.report)
    assert "javascript:" not in re.sub(r">[^<]*<", "><", drawn)
    assert not {"<script", "<img", "<strong"} & set(re.findall(r"<\w+", drawn))
    for ending, made in ENDINGS.items():
        if ending in (".html", ".docx", ".json", ".md"):
            body = made(result)
            assert ending == ".json" or b"<script>alert" not in body
            assert ending != ".html" or b"could not be read. Their excerpts" in body


def test_embeddings_that_fail_are_told(broken: Broken) -> None:
    broken.set(EMBEDDINGS="any", EMBEDDINGS_URL=broken.embeddings.url)
    broken.embeddings.fault = "error"
    code, said = broken.machine.doctor()
    assert code == 1
    assert "wrong The any endpoint answered with status 500: Not now." in said


def test_a_browser_that_cannot_be_run_is_told(broken: Broken) -> None:
    broken.set(CHROMIUM="/nowhere/chromium")
    code, said = broken.machine.doctor()
    assert code == 1
    assert "no browser for pages that need JavaScript: /nowhere/chromium" in said


def test_a_home_that_is_a_file_is_told(machine: Machine) -> None:
    machine.home.write_text("")
    code, said = machine.doctor()
    assert code == 1
    assert f"wrong {machine.home} cannot be written: " in said
    code, result, err = machine.run()
    assert code in (1, 2) and result is None
    assert err.count("\n") == 1


def test_a_home_that_can_only_be_read_is_told(machine: Machine) -> None:
    with small_disk(machine.home, "50m") as disk:
        disk.change("ro")
        code, said = machine.doctor()
        assert code == 1
        assert f"wrong The disk that holds {machine.home} is read-only. Choose another" in said
        assert f"The disk that holds {machine.home} is read-only." in machine.page()
        code, result, err = machine.run()
    assert code in (1, 2) and result is None
    assert "ead-only" in err.splitlines()[-1]


def test_a_full_disk_is_told(machine: Machine) -> None:
    with small_disk(machine.home, "400k"):
        (machine.home / "filling").write_bytes(b"0" * 390_000)
        code, said = machine.doctor()
        assert code == 1
        assert f"wrong The disk that holds {machine.home} is full. Free some space." in said
        assert f"The disk that holds {machine.home} is full." in machine.page()
        code, result, err = machine.run()
    assert code == 1 and result is None
    assert "no space left" in err.splitlines()[-1].lower()


def test_another_site_sets_no_probe_going(machine: Machine, model: Model, searx: Searx) -> None:
    assert machine.page({"sec-fetch-site": "cross-site"}, status=403)
    assert (model.requests, searx.queries) == ([], [])
