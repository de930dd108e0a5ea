"""Requests in the forms that chat clients send: chores and small talk are answered at once, without
a search, and leave no session; all else is researched.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from spadework.sessions.one_call import receive
from spadework.settings import Settings
from tests.apps.test_openai import serving
from tests.world.model import Model

_FOLDER = Path(__file__).parents[2] / "benchmarks" / "reception"
REQUESTS = [json.loads(line) for line in (_FOLDER / "requests.jsonl").read_text().splitlines()]
MESSAGES = [json.loads(line) for line in (_FOLDER / "messages.jsonl").read_text().splitlines()]
QUIET = [each for each in REQUESTS if each["kind"] in ("chore", "talk")]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "axolotl.md").write_text("# Axolotl\n\nIt keeps its gills for life.\n")
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


def body(request: dict[str, Any], *, stream: bool) -> dict[str, Any]:
    """A request as it is sent to us."""
    return request["body"] | {
        "model": "spadework-quick",
        "messages": request["messages"],
        "stream": stream,
    }


def sessions(settings: Settings) -> list[Path]:
    return [*(settings.home / "sessions").glob("*")]


async def test_chores_and_small_talk_of_chat_clients_are_answered_without_a_session(
    settings: Settings,
) -> None:
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        for each in QUIET:
            sent = body(each, stream=False)
            answer = await client.post(f"{base}/chat/completions", json=sent)
            if each["kind"] == "talk" and sessions(settings):
                pytest.fail(f"It was researched: {each['messages'][-1]}")
            assert answer.status_code == httpx.codes.OK, answer.text
            [choice] = answer.json()["choices"]
            if choice["finish_reason"] == "tool_calls":
                [call] = choice["message"]["tool_calls"]
                assert json.loads(call["function"]["arguments"])[each["task"]]
                continue
            said = choice["message"]["content"]
            assert choice["finish_reason"] == "stop"
            if f'{{ "{each["task"]}"' in str(each["messages"]).replace("\\", ""):
                assert list(json.loads(said)) == [each["task"]]
    assert sessions(settings) == []


async def test_a_stream_of_what_is_answered_at_once_ends_as_every_stream(
    settings: Settings,
) -> None:
    sent = {"model": "spadework", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        lines = (await client.post(f"{base}/chat/completions", json=sent)).text.split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert lines[-2] == "data: [DONE]"
    assert chunks[0]["choices"][0]["delta"]["content"].startswith("Hello!")
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    "parameters", [None, "none", {"properties": None}, {"properties": [{}]}], ids=repr
)
async def test_a_chore_for_a_function_without_arguments_is_answered(
    settings: Settings, parameters: object
) -> None:
    function = {"type": "function", "function": {"name": "name_it", "parameters": parameters}}
    title = next(each for each in QUIET if each["task"] == "title")
    required = {"tools": [function], "tool_choice": "required"}
    sent = body(title, stream=False) | required
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        answer = await client.post(f"{base}/chat/completions", json=sent)
    [call] = answer.json()["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"])["answer"]


def function(name: str, *fields: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in fields}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


@pytest.mark.parametrize(
    ("offered", "choice", "called"),
    [
        ([function("run_shell", "command")], "none", ""),
        ([function("run_shell", "command")], None, ""),
        ([function("run_shell", "command")], "auto", ""),
        ([function("name_it", "title")], "none", ""),
        ([function("name_it", "language", "title")], "auto", "name_it"),
        ([function("run_shell", "command"), function("name_it", "title")], "auto", ""),
        ([function("name_it", "words")], "required", "name_it"),
        (
            [function("run_shell", "command"), function("name_it", "title")],
            {"type": "function", "function": {"name": "name_it"}},
            "name_it",
        ),
    ],
)
async def test_a_chore_calls_only_a_function_that_is_meant_for_it(
    settings: Settings, offered: list[dict[str, Any]], choice: object, called: str
) -> None:
    title = next(each for each in QUIET if each["task"] == "title")
    sent = body(title, stream=False) | {"tools": offered, "tool_choice": choice}
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        answer = await client.post(f"{base}/chat/completions", json=sent)
    [said] = answer.json()["choices"]
    calls = [call["function"]["name"] for call in said["message"].get("tool_calls") or ()]
    assert calls == ([called] if called else [])
    assert said["finish_reason"] == ("tool_calls" if called else "stop")
    assert bool(said["message"]["content"]) != bool(called)


#: As newer versions of the clients send: functions of their own are offered, files are parts.
_OFFERED = {"type": "function", "function": {"name": "search_notes", "parameters": {}}}
_PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "auto"}}
_NATIVE: list[dict[str, Any]] = [
    {
        "client": "open-webui",  # backend/open_webui/utils/middleware.py: tools of native mode
        "kind": "research",
        "body": {"stream": True, "tools": [_OFFERED], "stream_options": {"include_usage": True}},
        "messages": [{"role": "user", "content": "How long does an axolotl keep its gills?"}],
    },
    {
        "client": "LibreChat",  # packages/api/src/endpoints/openai, with parts of the agents
        "kind": "research",
        "body": {"stream": True, "tools": [_OFFERED], "tool_choice": "auto", "user": "66b1f0"},
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Does the axolotl keep gills?"}, _PICTURE],
            }
        ],
    },
]


async def test_the_models_are_listed_as_chat_clients_read_them(settings: Settings) -> None:
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        answer = await client.get(f"{base}/models", params={"user": "66b1f0"})
    listed = answer.json()
    assert listed["object"] == "list"
    for model in listed["data"]:
        assert {"id", "object", "created", "owned_by"} <= model.keys()


@pytest.mark.timeout(120)
async def test_what_chat_clients_want_researched_is_a_report_in_the_form_they_ask_for(
    settings: Settings,
) -> None:
    asked = [each for each in REQUESTS if each["client"] in ("open-webui", "LibreChat", "llm")]
    asked = [each for each in asked if each["kind"] not in ("chore", "talk")]
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=60) as client:
        for each in [*asked, *_NATIVE]:
            sent = body(each, stream=each["body"]["stream"])
            answer = await client.post(f"{base}/chat/completions", json=sent)
            assert answer.status_code == httpx.codes.OK, answer.text
            *lines, done = answer.text.strip().split("\n\n")
            assert done == "data: [DONE]"
            chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
            ends = [c["choices"][0]["finish_reason"] for c in chunks if c["choices"]]
            assert ends[-1] in ("stop", "length")
            assert not any(ends[:-1])
            wanted = bool(each["body"].get("stream_options"))
            assert ("usage" in chunks[-1] and not chunks[-1]["choices"]) == wanted
            said = "".join(
                c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"]
            )
            assert said.strip()
    assert len(sessions(settings)) >= len(asked)


async def test_a_title_for_a_schema_is_its_json(settings: Settings) -> None:
    title = next(each for each in QUIET if each["task"] == "title" and "tools" in each["body"])
    function = title["body"]["tools"][0]["function"]
    form = {"name": "extract", "schema": function["parameters"], "strict": True}
    sent = body(title, stream=False) | {
        "tools": None,
        "tool_choice": None,
        "response_format": {"type": "json_schema", "json_schema": form},
    }
    async with serving(settings) as (base, _), httpx.AsyncClient(timeout=20) as client:
        answer = await client.post(f"{base}/chat/completions", json=sent)
    [choice] = answer.json()["choices"]
    assert json.loads(choice["message"]["content"])["title"]


async def test_questions_are_researched_whatever_they_begin_with(settings: Settings) -> None:
    asked = [each["text"] for each in MESSAGES if each["kind"] == "research"]
    for each in REQUESTS:
        if each["kind"] not in ("chore", "talk"):
            asked.append([m for m in each["messages"] if m["role"] == "user"][-1]["content"])
    taken = [said for said in asked if not (await receive(said, settings)).research]
    assert taken == []


async def test_small_talk_is_answered_in_its_language(settings: Settings) -> None:
    for said, answered in {
        "Danke, das war super hilfreich!": "Gern geschehen",
        "¿quién eres?": "¡Hola!",
        "ありがとうございます": "どういたしまして",
        "👍": "You're welcome",
        "hey, how are you?": "Hello!",
    }.items():
        assert (await receive(said, settings)).answer.startswith(answered)


async def test_a_chore_is_one_call_of_the_model(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    model.script("ChoreAnswer", {"title": "🦎 Axolotls"})
    title = next(each for each in QUIET if each["task"] == "title" and each["client"] != "llm")
    with_model = Settings.load(home=settings.home, search="library", library=settings.library)
    greeted = await receive(title["messages"][-1]["content"], with_model)
    assert "🦎 Axolotls" in greeted.answer
    assert [request.model for request in model.requests] == ["world-model"]
    assert greeted.usage.tokens_in > 0
    assert sessions(settings) == []


@pytest.mark.parametrize("kind", ["talk", "research"])
async def test_where_rules_are_not_sure_the_model_is_asked(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    model.script("ReceptionAnswer", {"kind": kind, "reply": "Safe travels!" * (kind == "talk")})
    with_model = Settings.load(home=settings.home, search="library", library=settings.library)
    greeted = await receive("see you later alligator", with_model)
    assert (greeted.research, greeted.answer) == (
        kind == "research",
        "Safe travels!" * (kind == "talk"),
    )
    assert len(model.requests) == 1


async def test_where_the_model_is_gone_the_doubtful_is_researched(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("SPADEWORK_MODEL", "openai:gone")
    gone = Settings.load(home=settings.home, search="library", library=settings.library)
    assert (await receive("see you later alligator", gone)).research
    assert (await receive("thanks!", gone)).answer
    assert (await receive("Thanks a lot, that helps", gone)).answer


async def test_a_chore_that_needs_another_json_is_answered_with_its_key(settings: Settings) -> None:
    told = "User: how do locks work?\nAssistant: Water is let in and out [1]."
    for key, wanted in {"queries": '["a"]', "Überschrift": '"…"', "tags": '["a"]'}.items():
        said = f'Only JSON: {{ "{key}": {wanted} }}\n<chat_history>\n{told}\n</chat_history>'
        answer = json.loads((await receive(said, settings)).answer)
        assert list(answer) == [key]
        assert isinstance(answer[key], list) == wanted.startswith("[")
    assert answer["tags"] == ["Locks", "Work"]
