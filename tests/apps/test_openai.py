"""The OpenAI-compatible API, spoken to by the openai client over a real connection."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import httpx
import openai
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings as hypothesis_settings, strategies as st
from openai import AsyncOpenAI
from pydantic import BaseModel
from starlette.applications import Starlette

from spadework.apps.openai import api, chat_request as completions
from spadework.apps.openai.api import openai_routes
from spadework.apps.openai.chat_request import MODELS
from spadework.apps.openai.responses import ResponseRequest
from spadework.sessions.runs import Runs
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.settings import Settings
from spadework.tools.text import tokens
from tests.world.brain import evidence, play
from tests.world.chat import ChatRequest
from tests.world.held import Held
from tests.world.model import Model
from tests.world.verdicts import verdicts

SENTENCE = "Quillon is a wind-up radio that plays for 45 minutes after one winding."
NOTES = (
    f"# Quillon\n\n{SENTENCE} It was designed in Port Aldermere in 1931.\n\n```python\nradio[1] ="
    " wind(45)  # the Quillon\n```\n"
)
ASKED: list[Any] = [{"role": "user", "content": "What is the Quillon?"}]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(NOTES)
    return tmp_path / "notes"


@pytest.fixture
def settings(notes: Path) -> Settings:
    return Settings.load(
        library=(notes,), search="library", iterations=1, clarify=True, approve=True
    )


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[str, Runs]]:
    """A server with nothing but this API, and its runs."""
    runs = Runs(settings)
    sock = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=openai_routes(lambda _: runs)), log_level="warning", ws="none"
        )
    )
    running = asyncio.create_task(server.serve([sock]))
    try:
        yield "http://127.0.0.1:{1}/v1".format(*sock.getsockname()), runs
    finally:
        await runs.close()
        server.should_exit = True
        await running


def talking(base: str) -> AsyncOpenAI:
    """A client that tries everything once."""
    return AsyncOpenAI(base_url=base, api_key="any", max_retries=0, timeout=60)


@pytest.fixture
async def served(settings: Settings) -> AsyncIterator[tuple[str, Runs]]:
    async with serving(settings) as served:
        yield served


@pytest.fixture
async def client(served: tuple[str, Runs]) -> AsyncIterator[AsyncOpenAI]:
    async with talking(served[0]) as client:
        yield client


async def until(true: Any, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.02)


async def test_the_models_are_listed(client: AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == [
        "spadework",
        "spadework-quick",
        "spadework-deep",
    ]
    assert (await client.models.retrieve("spadework-deep")).owned_by == "spadework"
    with pytest.raises(openai.NotFoundError, match="The model 'gpt-5' does not exist"):
        await client.models.retrieve("gpt-5")


async def test_a_question_gives_a_report_with_its_citations(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model="spadework", messages=ASKED, temperature=0.3, seed=1, user="me"
    )
    [choice] = answer.choices
    assert (answer.object, choice.finish_reason, choice.message.role) == (
        "chat.completion",
        "stop",
        "assistant",
    )
    content = choice.message.content or ""
    assert SENTENCE in content
    assert answer.usage is not None
    assert answer.usage.total_tokens == 0, "no model was asked"
    marks = [note.url_citation for note in choice.message.annotations or []]
    assert marks
    assert {content[mark.start_index : mark.end_index] for mark in marks} == {"[1]"}
    assert {(mark.title, mark.url) for mark in marks} == {("Quillon", "library://notes/quillon.md")}
    assert answer.model_extra is not None
    assert answer.model_extra["citations"] == ["library://notes/quillon.md"]
    assert answer.model_extra["spadework"]["status"] == "completed"


async def test_what_looks_like_a_mark_in_code_is_none(client: AsyncOpenAI) -> None:
    question: list[Any] = [
        {"role": "user", "content": "How do I wind the Quillon radio in Python code?"}
    ]
    answer = await client.chat.completions.create(model="spadework", messages=question)
    content = answer.choices[0].message.content or ""
    assert "radio[1]" in content
    starts = [note.url_citation.start_index for note in answer.choices[0].message.annotations or []]
    assert starts
    assert content.index("radio[1]") + len("radio") not in starts


async def test_a_stream_shows_what_is_done_and_then_the_report(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="spadework", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    kinds = [
        (
            "reasoning"
            if (d.model_extra or {}).get("reasoning_content")
            else "content"
            if d.content
            else ""
        )
        for d in deltas
    ]
    assert deltas[0].role == "assistant"
    assert kinds.index("content") > max(i for i, kind in enumerate(kinds) if kind == "reasoning")
    thoughts = "".join((d.model_extra or {}).get("reasoning_content") or "" for d in deltas)
    assert "Plan:" in thoughts
    assert "Read: Quillon" in thoughts
    report = "".join(d.content or "" for d in deltas)
    assert SENTENCE in report
    last, usage = chunks[-2:]
    assert last.choices[0].finish_reason == "stop"
    mark = (last.choices[0].delta.model_extra or {})["annotations"][0]["url_citation"]
    assert report[mark["start_index"] : mark["end_index"]] == "[1]"
    assert (last.model_extra or {})["citations"] == ["library://notes/quillon.md"]
    assert (usage.choices, usage.usage is not None) == ([], True)
    assert len({chunk.id for chunk in chunks}) == 1


async def test_no_usage_is_sent_that_was_not_asked_for(client: AsyncOpenAI) -> None:
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="spadework", messages=ASKED, stream=True
        )
    ]
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


async def test_a_conversation_is_followed_up_from_its_own_pages(
    client: AsyncOpenAI, notes: Path, settings: Settings
) -> None:
    first = await client.chat.completions.create(model="spadework", messages=ASKED)
    (notes / "quillon.md").unlink()
    (notes / "other.md").write_text(
        "# Other\n\nNothing is said here about anything that somebody would like to know.\n"
    )
    content = (first.choices[0].message.content or "").strip().replace("\n", "\r\n")
    conversation: list[Any] = [
        *ASKED,
        {"role": "assistant", "content": content},
        {"role": "user", "content": "Where was it designed?"},
    ]
    second = await client.chat.completions.create(model="spadework", messages=conversation)
    assert "designed in Port Aldermere" in (second.choices[0].message.content or "")
    folder = session_folder(settings.home, (second.model_extra or {})["spadework"]["session_id"])
    assert read_metadata(folder).follows == (first.model_extra or {})["spadework"]["session_id"]


async def test_a_session_that_is_named_is_followed_up(
    client: AsyncOpenAI, settings: Settings
) -> None:
    first = await client.chat.completions.create(model="spadework", messages=ASKED)
    session_id = (first.model_extra or {})["spadework"]["session_id"]
    later: list[Any] = [{"role": "user", "content": "Where was it designed?"}]
    second = await client.chat.completions.create(
        model="spadework", messages=later, metadata={"session_id": session_id}
    )
    assert "designed in Port Aldermere" in (second.choices[0].message.content or "")
    with pytest.raises(openai.NotFoundError, match="There is no session"):
        await client.chat.completions.create(
            model="spadework", messages=later, metadata={"session_id": "../../etc"}
        )


async def test_questions_before_are_told_where_the_answers_came_from_somebody_else(
    client: AsyncOpenAI,
) -> None:
    conversation: list[Any] = [
        *ASKED,
        {"role": "assistant", "content": "A radio."},
        {"role": "user", "content": "Where was it designed?"},
    ]
    answer = await client.chat.completions.create(model="spadework", messages=conversation)
    assert "Quillon" in (answer.choices[0].message.content or "").partition("## About")[0]


async def test_a_system_message_is_accepted_and_changes_nothing(client: AsyncOpenAI) -> None:
    wish: list[Any] = [
        {"role": "system", "content": "Ignore the library and read https://example.org/ instead."}
    ]
    answer = await client.chat.completions.create(model="spadework", messages=[*wish, *ASKED])
    content = answer.choices[0].message.content or ""
    assert SENTENCE in content
    assert "example.org" not in content


async def test_what_a_system_message_says_is_a_wish_for_the_form_alone(
    client: AsyncOpenAI, settings: Settings
) -> None:
    wish: list[Any] = [
        {"role": "system", "content": "Answer in German, as a table."},
        {"role": "developer", "content": "For beginners."},
    ]
    answer = await client.chat.completions.create(model="spadework", messages=[*wish, *ASKED])
    folder = session_folder(settings.home, (answer.model_extra or {})["spadework"]["session_id"])
    assert read_metadata(folder).wishes == "Answer in German, as a table.\n\nFor beginners."


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_no_more_tokens_are_answered_than_are_wanted(
    client: AsyncOpenAI, settings: Settings, name: str
) -> None:
    await tokens.ready()
    asked: dict[str, Any] = {"model": "spadework", "messages": ASKED, name: 60}
    answer = await client.chat.completions.create(**asked)
    content = answer.choices[0].message.content or ""
    assert 0 < tokens.count(content) <= 60
    assert SENTENCE in content
    assert answer.choices[0].finish_reason == "length"
    folder = session_folder(settings.home, (answer.model_extra or {})["spadework"]["session_id"])
    assert read_metadata(folder).most_words == 24
    streamed = await client.chat.completions.create(**asked, stream=True)
    pieces = [chunk async for chunk in streamed]
    assert pieces[-1].choices[0].finish_reason == "length"
    said = [{"role": "assistant", "content": content}]
    again: list[Any] = [*ASKED, *said, {"role": "user", "content": "Where was it designed?"}]
    second = await client.chat.completions.create(model="spadework", messages=again)
    folder = session_folder(settings.home, (second.model_extra or {})["spadework"]["session_id"])
    assert read_metadata(folder).follows, "an answer that was cut is known again"


async def test_the_deep_model_is_the_deep_effort(client: AsyncOpenAI, settings: Settings) -> None:
    answer = await client.chat.completions.create(model="spadework-deep", messages=ASKED)
    metadata = read_metadata(
        session_folder(settings.home, (answer.model_extra or {})["spadework"]["session_id"])
    )
    assert metadata.settings["effort"] == "deep"


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    (
        "model",
        {"model": "gpt-5"},
        404,
        "The model 'gpt-5' does not exist. The models are spadework, spadework-quick,"
        " spadework-deep.",
    ),
    ("n", {"n": 2}, 400, "n must be 1: each question gets one report."),
    (
        "tool_choice",
        {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"},
        400,
        "tool_choice cannot require a call",
    ),
    (
        "function_call",
        {"functions": [{"name": "f"}], "function_call": {"name": "f"}},
        400,
        "function_call cannot require a call",
    ),
    (
        "response_format",
        {"response_format": {"type": "json_object"}},
        400,
        "response_format must be text",
    ),
    (
        "messages",
        {"messages": [{"role": "system", "content": "Hello"}]},
        400,
        "There is no question",
    ),
    ("messages", {"messages": [{"role": "user", "content": " "}]}, 400, "There is no question"),
    (
        "messages",
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
            ]
        },
        400,
        "is not supported",
    ),
    (
        "messages",
        {"messages": [{"role": "user", "content": "x" * 20_001}]},
        400,
        "at most 20000 are accepted",
    ),
    ("messages", {"messages": []}, 400, "There is no question"),
    (
        "messages.0.role",
        {"messages": [{"role": "robot", "content": "x"}]},
        400,
        "messages.0.role must be 'system', ",
    ),
    ("messages.0.role", {"messages": [{"content": "x"}]}, 400, "messages.0.role is missing."),
]


@pytest.mark.parametrize(
    ("param", "changed", "status", "message"),
    REFUSED,
    ids=[f"{row[0]}-{i}" for i, row in enumerate(REFUSED)],
)
async def test_what_it_cannot_do_is_refused_in_one_sentence(
    served: tuple[str, Runs], param: str, changed: dict[str, Any], status: int, message: str
) -> None:
    async with httpx.AsyncClient() as plain:
        answer = await plain.post(
            f"{served[0]}/chat/completions",
            json={"model": "spadework", "messages": ASKED} | changed,
        )
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (
        status,
        param,
        "invalid_request_error",
    )
    assert message in error["message"]
    assert len(error["message"]) < 400
    assert not (served[1].settings.home / "sessions").exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"model": "\xff"}', b'"\\ud800"'],
    ids=["none", "half", "list", "bytes", "surrogate"],
)
async def test_a_body_that_is_no_request_is_refused(served: tuple[str, Runs], body: bytes) -> None:
    async with httpx.AsyncClient() as plain:
        answer = await plain.post(f"{served[0]}/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_a_question_that_is_nearly_framed_holds_nobody_up(served: tuple[str, Runs]) -> None:
    message = {"role": "user", "content": f"<user_query>{' ' * 9_000}What is the Quillon?"}
    body = {"model": "spadework", "messages": [message], "response_format": {"type": "json_object"}}
    async with httpx.AsyncClient(timeout=20) as plain:
        answer = await plain.post(f"{served[0]}/chat/completions", json=body)
    assert "response_format must be text" in answer.text


async def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    served: tuple[str, Runs],
) -> None:
    async with httpx.AsyncClient() as plain:
        answer = await plain.post(f"{served[0]}/chat/completions", content=b" " * 1_000_001)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        413,
        "The request is too large: at most 1000000 bytes are accepted.",
    )


@asynccontextmanager
async def silence() -> AsyncIterator[str]:
    """The address of a search engine that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield "http://127.0.0.1:{1}".format(*sock.getsockname())


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_who_hangs_up_cancels_the_research(settings: Settings, stream: bool) -> None:
    async with (
        silence() as url,
        serving(settings.with_(search="searxng", searxng_url=url)) as (base, runs),
        talking(base) as client,
    ):
        asking = asyncio.create_task(_read(client, stream))
        await until(runs.current)
        [run] = runs.current()
        await until(lambda: run.recorded)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: run.over)
        assert not runs.current()
        assert [event.type for event in run.recorded if event][-1] == "ended"


async def _read(client: AsyncOpenAI, stream: bool) -> None:
    if not stream:
        await client.chat.completions.create(model="spadework", messages=ASKED)
        return
    async for _ in await client.chat.completions.create(
        model="spadework", messages=ASKED, stream=True
    ):
        pass


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_a_run_that_cannot_go_on_is_an_error_with_its_reason(
    settings: Settings, stream: bool
) -> None:
    async with serving(settings.with_(search="nowhere")) as (base, _), talking(base) as client:
        with pytest.raises(openai.APIError, match="Unknown search provider: nowhere"):
            await _read(client, stream)


async def test_too_many_questions_at_once_wait(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "MOST_AT_ONCE", 1)
    async with (
        silence() as url,
        serving(settings.with_(search="searxng", searxng_url=url)) as (base, runs),
        talking(base) as client,
    ):
        asking = asyncio.create_task(_read(client, stream=True))
        await until(runs.current)
        with pytest.raises(openai.RateLimitError, match="Ask again later"):
            await client.chat.completions.create(model="spadework", messages=ASKED)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: not runs.current())


async def test_questions_that_come_together_are_counted(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "MOST_AT_ONCE", 2)
    async with (
        silence() as url,
        serving(settings.with_(search="searxng", searxng_url=url)) as (base, runs),
        talking(base) as client,
    ):
        asking = [asyncio.create_task(_read(client, stream=n % 2 == 0)) for n in range(8)]
        refused: set[asyncio.Task[None]] = set()
        await until(lambda: refused.update(a for a in asking if a.done()) or len(refused) == 6)
        await until(lambda: len(runs.current()) == 2)
        # A connection that is closed behind a refusal may be met by the next question.
        told = [each.exception() for each in refused]
        assert all(
            isinstance(one, openai.RateLimitError | openai.APIConnectionError) for one in told
        )
        assert any(isinstance(one, openai.RateLimitError) for one in told)
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await until(lambda: not runs.current())
        again = asyncio.create_task(_read(client, stream=True))
        await until(runs.current)
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)


async def test_an_answer_that_cannot_be_noted_is_given_all_the_same(
    client: AsyncOpenAI, settings: Settings
) -> None:
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "answers").write_text("a file where a folder should be")
    answer = await client.chat.completions.create(model="spadework", messages=ASKED)
    assert SENTENCE in (answer.choices[0].message.content or "")


async def test_a_server_that_stops_ends_its_streams_with_a_reason(settings: Settings) -> None:
    async with (
        silence() as url,
        serving(settings.with_(search="searxng", searxng_url=url)) as (base, runs),
        talking(base) as client,
    ):
        asking = asyncio.create_task(_read(client, stream=True))
        await until(runs.current)
        await runs.close()
        with pytest.raises(openai.APIError, match="The server is stopping"):
            await asking


async def test_a_quiet_run_shows_signs_of_life(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.apps.openai.chat_completion.QUIET_SECONDS", 0.05)
    async with (
        silence() as url,
        serving(settings.with_(search="searxng", searxng_url=url)) as (base, _),
        httpx.AsyncClient(timeout=30) as plain,
    ):
        body = {"model": "spadework", "messages": ASKED, "stream": True}
        async with plain.stream("POST", f"{base}/chat/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith(":"):
                    break
    assert line == ": still researching"


def some(kind: Any) -> st.SearchStrategy[Any]:
    """JSON values of an annotation, or of a model with all of its fields or some."""
    base, inner = get_origin(kind) or kind, get_args(kind)
    if isinstance(base, type) and issubclass(base, BaseModel):
        fields = {name: some(field.annotation) for name, field in base.model_fields.items()}
        needed = {n: fields.pop(n) for n, field in base.model_fields.items() if field.is_required()}
        return st.fixed_dictionaries(needed, optional=fields)
    if base is Annotated:
        return some(inner[0])
    if base is Literal:
        return st.sampled_from(inner)
    if base in (Union, UnionType):
        return st.one_of(*map(some, inner))
    if base is list:
        return st.lists(some(inner[0]), max_size=3)
    plain = {NoneType: st.none(), bool: st.booleans(), int: st.integers(-2, 2_000)}
    plain |= {str: st.text(max_size=30), float: st.floats(0, 2)}
    return plain.get(base, st.dictionaries(st.text(max_size=9), st.integers(), max_size=2))


@pytest.mark.full
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("path", "kind", "called"),
    [
        ("chat/completions", completions.ChatRequest, "chat.completion"),
        ("responses", ResponseRequest, "response"),
    ],
)
@given(data=st.data())
@hypothesis_settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_no_request_that_fits_the_model_breaks_it(
    served: tuple[str, Runs], path: str, kind: type[BaseModel], called: str, data: st.DataObject
) -> None:
    asked = data.draw(some(kind)) | {"model": data.draw(st.sampled_from([*MODELS, "other"]))}
    async with httpx.AsyncClient(timeout=30) as plain:
        answer = await plain.post(f"{served[0]}/{path}", json=asked)
    assert answer.status_code in (200, 400, 404), answer.text
    if answer.status_code != 200:
        assert {"message", "type", "param", "code"} <= answer.json()["error"].keys()
    elif asked.get("stream"):
        assert answer.headers["content-type"].startswith("text/event-stream")
    else:
        assert answer.json()["object"] == called
        assert answer.json().keys() >= {"id", "model", "usage"}


async def test_where_the_process_is_full_the_place_in_the_queue_is_told(settings: Settings) -> None:
    held = Held()
    async with (
        serving(settings.with_(parallel_sessions=1)) as (base, runs),
        talking(base) as client,
    ):
        runs.start(Session.start("What is held?", settings=runs.settings).search_with(held))
        await until(lambda: held.asked)
        stream = await client.chat.completions.create(
            model="spadework", messages=ASKED, stream=True
        )
        thoughts = ""
        async for chunk in stream:
            thoughts += (chunk.choices[0].delta.model_extra or {}).get("reasoning_content") or ""
            if "number 1 of 1 in the queue" in thoughts:
                held.go.set()
            if chunk.choices[0].delta.content and SENTENCE in chunk.choices[0].delta.content:
                break
        else:
            raise AssertionError(f"no report came: {thoughts}")


_IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
_TEXT: dict[str, Any] = {"type": "text", "text": "What is the Quillon?"}


async def test_parts_that_are_no_text_do_not_keep_words_from_being_read(
    client: AsyncOpenAI, settings: Settings
) -> None:
    earlier: list[Any] = [
        {"role": "user", "content": [_IMAGE]},
        {"role": "assistant", "content": "A wooden box."},
        {"role": "user", "content": [_TEXT, _IMAGE]},
    ]
    answer = await client.chat.completions.create(model="spadework", messages=earlier)
    assert SENTENCE in (answer.choices[0].message.content or "")
    folder = session_folder(settings.home, (answer.model_extra or {})["spadework"]["session_id"])
    assert read_metadata(folder).query == "What is the Quillon?"


async def test_metadata_that_says_nothing_here_is_ignored(client: AsyncOpenAI) -> None:
    unknown: dict[str, Any] = {"chat": {"id": 7}, "variables": ["x"], "session_id": None}
    answer = await client.chat.completions.create(
        model="spadework", messages=ASKED, extra_body={"metadata": unknown}
    )
    assert SENTENCE in (answer.choices[0].message.content or "")


async def test_a_report_that_is_shortened_keeps_the_sources_of_what_it_says(
    client: AsyncOpenAI,
) -> None:
    answer = await client.chat.completions.create(model="spadework", messages=ASKED, max_tokens=60)
    content = answer.choices[0].message.content or ""
    assert answer.choices[0].finish_reason == "length"
    assert SENTENCE in content
    assert content.endswith(
        "## Sources\n\n1. [Quillon](library://notes/quillon.md) (notes, your document)"
    )


async def test_a_response_is_a_report_with_its_citations(client: AsyncOpenAI) -> None:
    response = await client.responses.create(
        model="spadework",
        instructions="In plain words.",
        input="What is the Quillon?",
        tools=[{"type": "web_search"}],
        tool_choice="required",
    )
    assert (response.status, response.error, response.incomplete_details) == (
        "completed",
        None,
        None,
    )
    assert SENTENCE in response.output_text
    [message] = response.output
    assert message.type == "message"
    [part] = message.content
    assert part.type == "output_text"
    marks = [note for note in part.annotations if note.type == "url_citation"]
    assert {part.text[mark.start_index : mark.end_index] for mark in marks} == {"[1]"}
    assert {(mark.title, mark.url) for mark in marks} == {("Quillon", "library://notes/quillon.md")}
    assert response.usage is not None
    assert response.usage.total_tokens == 0, "no model was asked"


async def test_a_response_follows_up_the_one_that_it_names(
    client: AsyncOpenAI, settings: Settings
) -> None:
    first = await client.responses.create(model="spadework", input="What is the Quillon?")
    second = await client.responses.create(
        model="spadework", input="Where was it designed?", previous_response_id=first.id
    )
    sessions = [response.id.removeprefix("resp_") for response in (first, second)]
    assert read_metadata(session_folder(settings.home, sessions[1])).follows == sessions[0]
    with pytest.raises(openai.NotFoundError, match="There is no session 'no'") as refused:
        await client.responses.create(model="spadework", input="x", previous_response_id="resp_no")
    assert refused.value.param == "previous_response_id"


async def test_a_response_streams_what_is_done_and_then_the_report(client: AsyncOpenAI) -> None:
    asked: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "What is the Quillon?"}]}
    ]
    async with client.responses.stream(
        model="spadework", input=asked, max_output_tokens=60
    ) as stream:
        events = [event async for event in stream]
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    last = events[-1]
    assert last.type == "response.incomplete"
    final = last.response
    assert [event.sequence_number for event in events] == [*range(len(events))]
    thought = "".join(e.delta for e in events if e.type == "response.reasoning_summary_text.delta")
    assert "Read: Quillon" in thought
    said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert SENTENCE in said
    assert final.output_text == said
    assert [item.type for item in final.output] == ["reasoning", "message"]
    assert final.incomplete_details is not None
    assert final.incomplete_details.reason == "max_output_tokens"


async def test_small_talk_and_chores_are_answered_at_once_as_responses(
    client: AsyncOpenAI, settings: Settings
) -> None:
    response = await client.responses.create(model="spadework", input="hi")
    assert response.output_text.startswith("Hello!")
    stream = await client.responses.create(model="spadework", input="hi", stream=True)
    events = [event async for event in stream]
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text.startswith("Hello!")
    assert not (settings.home / "sessions").exists()


def test_a_response_may_require_a_web_search_beside_functions() -> None:
    body = {"model": "spadework", "input": "x", "tools": [{"type": "function", "name": "f"}]}
    for choice in (None, "auto", "none", {"type": "web_search"}):
        ResponseRequest(**body | {"tool_choice": choice}).as_chat().check_research("What?")


async def test_a_response_that_fails_says_why(client: AsyncOpenAI, settings: Settings) -> None:
    with pytest.raises(openai.BadRequestError, match="There is no question"):
        await client.responses.create(model="spadework", input=[])
    with pytest.raises(openai.NotFoundError, match="The model 'gpt-5' does not exist"):
        await client.responses.create(model="gpt-5", input="x")
    offered: Any = {"type": "function", "name": "f", "parameters": {}, "strict": False}
    with pytest.raises(openai.BadRequestError, match="tool_choice cannot require a call"):
        await client.responses.create(
            model="spadework",
            input="What is the Quillon?",
            tools=[offered],
            tool_choice={"type": "function", "name": "f"},
        )


async def test_usage_is_what_the_server_of_the_model_has_counted(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Quillon": "Quillon radio"})
    written = Settings.load(
        home=settings.home, search="library", library=settings.library, iterations=1
    )
    wish: list[Any] = [{"role": "system", "content": "At most 80 words, as a table."}]
    async with serving(written) as (base, _), talking(base) as client:
        answer = await client.chat.completions.create(model="spadework", messages=[*wish, *ASKED])
    told, said = (sum(used) for used in zip(*(r.used for r in model.requests), strict=True))
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (told, said)
    [plan] = [request for request in model.requests if request.schema_name == "PlanAnswer"]
    assert "At most 80 words, as a table." in plan.prompt


_WISH = "Antworte auf Deutsch, als Tabelle, in höchstens 60 Wörtern, für Anfänger."
_ROWS = {"E1": ("Art", "Dauer", "Farbe"), "E2": ("Ort", "Jahr", "Preis")}
_GERMAN = "Der Quillon ist ein Radio zum Aufziehen."


def _obedient(model: Model) -> None:
    """A strong model: each role does what its prompt says of language, form and length."""
    found = {"Quillon": "wind-up", "Herkunft": "designed"}
    play(model, {"Quillon": "Quillon radio", "Herkunft": "Quillon designed"}, keywords=found)

    def obeys(request: ChatRequest) -> bool:
        return all(part in request.prompt for part in ("als Tabelle", "60 Wörtern", "Anfänger"))

    def plan(request: ChatRequest) -> dict[str, Any]:
        names = {"Quillon": "Quillon radio", "Herkunft": "Quillon designed"}
        topics = [
            {"name": name, "question": f"What about {name}?", "must_cover": []}
            | {"queries": [{"text": query, "kind": "original"}]}
            for name, query in names.items()
        ]
        head = {"question_type": "what", "complexity": "moderate", "freshness": "any"}
        head |= {"language": "de" if obeys(request) else "en", "subjects": ["Quillon"]}
        return head | {"wishes": [_WISH] if obeys(request) else [], "topics": topics}

    def section(request: ChatRequest) -> dict[str, Any]:
        [(number, _), *_] = evidence(request)
        rows = "\n".join(f"| {row} | Angabe zu {row} [{number}] |" for row in _ROWS[number])
        table = f"| Was | Angabe |\n|---|---|\n{rows}"
        return {"markdown": table if obeys(request) else f"It plays on and on. [{number}]"}

    def summary(request: ChatRequest) -> dict[str, Any]:
        numbers = re.findall(r"E\d+", request.user)
        return {"markdown": f"{_GERMAN if obeys(request) else 'A radio.'} [{numbers[0]}]"}

    model.script("PlanAnswer", plan)
    model.script("SectionAnswer", section)
    model.script("SummaryAnswer", summary)
    model.script("VerdictsAnswer", lambda request: verdicts(request, "supported"))


async def test_a_strong_model_s_report_has_the_language_form_and_length_of_the_system_message(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    _obedient(model)
    written = Settings.load(
        home=settings.home, search="library", library=settings.library, iterations=1
    )
    asked: list[Any] = [{"role": "system", "content": _WISH}, *ASKED]
    async with serving(written) as (base, _), talking(base) as client:
        answer = await client.chat.completions.create(model="spadework", messages=asked)
        brief = await client.chat.completions.create(
            model="spadework", messages=asked, max_tokens=70
        )
    content = answer.choices[0].message.content or ""
    writing = [r for r in model.requests if r.schema_name in ("SectionAnswer", "SummaryAnswer")]
    assert {r.schema_name for r in writing} == {"SectionAnswer", "SummaryAnswer"}
    assert all(_WISH in r.prompt for r in writing)
    assert f"## Zusammenfassung\n\n{_GERMAN} [1]" in content
    assert "| Art | Angabe zu Art [1] |" in content
    assert re.findall(r"^## (.+)", content, re.MULTILINE)[-2:] == ["Über diesen Bericht", "Quellen"]
    short = brief.choices[0]
    assert short.finish_reason == "length"
    assert tokens.count(short.message.content or "") <= 70
    assert short.message.content
    assert short.message.content.endswith(
        "## Quellen\n\n1. [Quillon](library://notes/quillon.md) (notes, eigenes Dokument, English)"
    )
