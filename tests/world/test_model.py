"""The scripted model speaks as an OpenAI-compatible server does, to the clients that people use."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.timing import depth, eventually, peak


class Verdict(BaseModel):
    """A judgement of one topic."""

    topic: str
    score: float = Field(ge=0.25, le=1)
    mood: Literal["calm", "wild"]
    gaps: list[str]


ANSWER = {"topic": "radio", "score": 0.5, "mood": "wild", "gaps": ["weight"]}
HELLO = [
    {"role": "system", "content": "You are the assessor."},
    {"role": "user", "content": "Judge the radio, in json."},
]
TOOL = {
    "type": "function",
    "function": {"name": "Verdict", "parameters": Verdict.model_json_schema()},
}
FORCED = {"type": "function", "function": {"name": "Verdict"}}


@pytest.fixture
async def client(model: Model):
    async with openai.AsyncOpenAI(
        base_url=model.url, api_key="sk-secret-42", max_retries=0, timeout=5
    ) as opened:
        yield opened.chat.completions


@pytest.fixture
async def http(model: Model):
    async with httpx.AsyncClient(base_url=model.url, timeout=5) as opened:
        yield opened


async def test_a_dict_is_the_content_in_the_schema_that_was_asked_for(model: Model, client):
    model.script("Verdict", ANSWER)
    answer = await client.parse(model="m", messages=HELLO, response_format=Verdict)
    assert answer.choices[0].message.parsed == Verdict(**ANSWER)
    (request,) = model.requests
    assert (request.shape, request.schema_name, request.system, request.user) == (
        "json_schema",
        "Verdict",
        *(m["content"] for m in HELLO),
    )
    assert request.schema["properties"]["score"]["maximum"] == 1
    assert answer.usage.prompt_tokens == request.tokens_in > 20
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


@pytest.mark.parametrize("choice", [FORCED, "required", "auto"])
async def test_a_dict_is_a_tool_call_where_tools_are_sent(model: Model, client, choice):
    model.script("assessor", ANSWER)
    answer = await client.create(model="m", messages=HELLO, tools=[TOOL], tool_choice=choice)
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("Verdict", ANSWER)
    assert answer.choices[0].finish_reason == "tool_calls"
    assert model.requests[0].schema_name == "Verdict"


async def test_text_is_sent_as_it_is(model: Model, client):
    model.script("", "Certainly! ```json\n{}\n```")
    answer = await client.create(model="m", messages=HELLO, response_format={"type": "json_object"})
    assert answer.choices[0].message.content == "Certainly! ```json\n{}\n```"
    offered = await client.create(model="m", messages=HELLO, tools=[TOOL], tool_choice="none")
    assert offered.choices[0].message.tool_calls is None


async def test_answers_come_in_turn_and_the_newest_rule_counts(model: Model, client):
    async def say() -> str:
        return (await client.create(model="m", messages=HELLO)).choices[0].message.content

    model.script("assessor", "one", "two")
    model.script("nobody", "never")
    assert [await say() for _ in range(3)] == ["one", "two", "two"]
    model.script(lambda request: request.model == "m", "newer")
    assert await say() == "newer"


async def test_functions_see_the_request(model: Model, client):
    async def slow(request: ChatRequest) -> dict[str, object]:
        await asyncio.sleep(0)
        return ANSWER | {"topic": request.prompt.split()[-1]}

    model.script(lambda request: request.schema is not None, slow)
    model.script("no schema", lambda request: f"{len(request.messages)} messages")
    answer = await client.parse(model="m", messages=HELLO, response_format=Verdict)
    assert answer.choices[0].message.parsed.topic == "json."
    answer = await client.create(
        model="m", messages=[{"role": "user", "content": [{"type": "text", "text": "no schema"}]}]
    )
    assert answer.choices[0].message.content == "1 messages"


async def test_an_error_in_a_test_function_is_kept_for_the_test(model: Model, client):
    model.script("", lambda request: {"a": 1 / 0})
    with pytest.raises(openai.InternalServerError):
        await client.create(model="m", messages=HELLO)
    assert isinstance(model.errors.pop(), ZeroDivisionError)


async def test_without_a_script_the_answer_fits_the_schema(model: Model, client):
    answer = await client.parse(model="m", messages=HELLO, response_format=Verdict)
    assert answer.choices[0].message.parsed == Verdict(
        topic=HELLO[1]["content"], score=0.25, mood="calm", gaps=[HELLO[1]["content"]]
    )
    assert (await client.create(model="m", messages=HELLO)).choices[0].message.content


async def test_streamed_text_and_usage(model: Model, client):
    model.script("", "word " * 40)
    events = [
        event
        async for event in await client.create(
            model="m", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    ]
    said = [event.choices[0].delta.content or "" for event in events if event.choices]
    assert "".join(said) == "word " * 40
    assert len(said) > 5
    assert events[-2].choices[0].finish_reason == "stop"
    assert events[-1].usage.completion_tokens == 51


async def test_streamed_tool_call(model: Model, client):
    model.script("", ANSWER)
    stream = await client.create(
        model="m", messages=HELLO, tools=[TOOL], tool_choice=FORCED, stream=True
    )
    calls = [
        call
        for event in [event async for event in stream]
        for call in event.choices[0].delta.tool_calls or ()
    ]
    assert calls[0].function.name == "Verdict"
    assert json.loads("".join(call.function.arguments for call in calls)) == ANSWER


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
async def test_langchain_gets_its_structure(model: Model, method):
    model.script("", ANSWER)
    # With a client of its own: the one that langchain-openai keeps for itself outlives the event
    # loop and is never closed.
    async with httpx.AsyncClient() as own:
        chat = ChatOpenAI(
            model="m", base_url=model.url, api_key="sk-x", max_retries=0, http_async_client=own
        )
        assert await chat.with_structured_output(Verdict, method=method).ainvoke(
            "Judge, in json."
        ) == Verdict(**ANSWER)
    shape = {"function_calling": "tool", "json_mode": "json_object"}.get(method, method)
    assert model.requests[0].shape == shape


@pytest.mark.parametrize(
    ("kind", "error", "code"),
    [
        ("limited", openai.RateLimitError, "rate_limit_exceeded"),
        ("quota", openai.RateLimitError, "insufficient_quota"),
        ("unauthorized", openai.AuthenticationError, "invalid_api_key"),
        ("error", openai.InternalServerError, None),
        ("overloaded", openai.InternalServerError, None),
        ("too_long", openai.BadRequestError, "context_length_exceeded"),
        ("reject_json_schema", openai.BadRequestError, None),
    ],
)
async def test_faults_with_a_status(model: Model, client, kind, error, code):
    model.script("", Fault(kind, retry_after=2.5))
    with pytest.raises(error) as caught:
        await client.parse(model="m", messages=HELLO, response_format=Verdict)
    assert caught.value.code == code
    assert caught.value.response.headers["retry-after"] == "2.5"


async def test_a_wrong_key_is_repeated_in_the_error(model: Model, client):
    model.script("", Fault("unauthorized"))
    with pytest.raises(openai.AuthenticationError, match="sk-secret-42"):
        await client.create(model="m", messages=HELLO)


async def test_faults_in_an_answer(model: Model, client):
    async def choice(kind):
        model.script("", Fault(kind))
        return (
            await client.create(model="m", messages=HELLO, response_format={"type": "json_object"})
        ).choices[0]

    assert (await choice("empty")).message.content == ""
    assert (await choice("refusal")).message.refusal.startswith("I'm sorry")
    assert (await choice("filtered")).finish_reason == "content_filter"
    cut = await choice("truncated")
    assert cut.finish_reason == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut.message.content)


async def test_a_broken_connection_and_no_answer(model: Model, client):
    model.script("", Fault("dropped"))
    with pytest.raises(openai.APIConnectionError):
        await client.create(model="m", messages=HELLO)
    model.script("", Fault("hang"))
    with pytest.raises(openai.APITimeoutError):
        await client.create(model="m", messages=HELLO, timeout=0.3)
    await eventually(lambda: model.requests[-1].ended)
    assert model.requests[-1].record.status is None


async def test_a_server_may_know_only_some_shapes(model: Model, client):
    model.script("", ANSWER)
    model.script("", Fault("reject_tools"))
    model.script("", Fault("reject_json_schema"))
    with pytest.raises(openai.BadRequestError, match="json_schema"):
        await client.parse(model="m", messages=HELLO, response_format=Verdict)
    with pytest.raises(openai.BadRequestError, match="tools"):
        await client.create(model="m", messages=HELLO, tools=[TOOL], tool_choice=FORCED)
    answer = await client.create(model="m", messages=HELLO, response_format={"type": "json_object"})
    assert json.loads(answer.choices[0].message.content) == ANSWER


async def test_a_context_has_an_end(model: Model, client):
    model.context_tokens = 1_000
    await client.create(model="m", messages=HELLO)
    with pytest.raises(openai.BadRequestError) as caught:
        await client.create(model="m", messages=[{"role": "user", "content": "long " * 1_000}])
    assert caught.value.code == "context_length_exceeded"


class Loose(BaseModel):
    """A schema with a default, which strict mode does not take."""

    name: str = "nobody"


async def test_what_openai_refuses_is_refused(model: Model, client):
    with pytest.raises(openai.BadRequestError, match="'default' is not permitted"):
        await client.parse(model="m", messages=HELLO, response_format=Loose)
    with pytest.raises(openai.BadRequestError, match="temperature"):
        await client.create(model="gpt-5-mini", messages=HELLO, temperature=0)
    with pytest.raises(openai.BadRequestError, match="max_completion_tokens"):
        await client.create(model="gpt-5-mini", messages=HELLO, max_tokens=5)
    with pytest.raises(openai.BadRequestError, match="'json'"):
        await client.create(model="m", messages=HELLO[:1], response_format={"type": "json_object"})
    loose = {
        "type": "function",
        "function": {"name": "Verdict", "strict": True, "parameters": Verdict.model_json_schema()},
    }
    with pytest.raises(openai.BadRequestError, match="additionalProperties"):
        await client.create(model="m", messages=HELLO, tools=[loose])
    model.strict = False
    assert (
        (await client.parse(model="m", messages=HELLO, response_format=Loose))
        .choices[0]
        .message.parsed
    )


async def test_calls_at_once_and_one_after_the_other_can_be_told_apart(model: Model, client):
    async def with_its_wave(request: ChatRequest) -> str:
        await eventually(lambda: len(model.requests) in (1, 6, 8))
        return "done"

    model.script("", with_its_wave)
    for calls in (1, 5, 2):
        await asyncio.gather(*(client.create(model="m", messages=HELLO) for _ in range(calls)))
    assert (len(model.requests), depth(model.requests), peak(model.requests)) == (8, 3, 5)


async def test_too_many_calls_at_once_are_turned_away(model: Model, client):
    async def when_all_are_here(request: ChatRequest) -> str:
        await eventually(lambda: len(model.requests) == 5)
        return "done"

    model.most_at_once = 3
    model.script("", when_all_are_here)
    asked = [client.create(model="m", messages=HELLO) for _ in range(5)]
    failed = [
        answer
        for answer in await asyncio.gather(*asked, return_exceptions=True)
        if isinstance(answer, openai.RateLimitError)
    ]
    assert len(failed) == 2


async def test_the_list_of_models(model: Model, http: httpx.AsyncClient):
    model.names = ("one", "two")
    assert [item["id"] for item in (await http.get("models")).json()["data"]] == ["one", "two"]
    assert model.env == {
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "sk-world-0123456789",
        "SPADEWORK_MODEL": "openai:one",
    }
    assert (await http.get("nothing")).status_code == 404
    assert [record.path for record in model.asked] == ["/v1/models", "/v1/nothing"]


async def test_embeddings_of_like_texts_are_alike(model: Model):
    async with openai.AsyncOpenAI(base_url=model.url, api_key="sk-x") as client:
        texts = [
            "wind-up radio with a spring",
            "a radio with a wind-up spring",
            "the harbour census of the town",
        ]
        one, same, other = [
            item.embedding for item in (await client.embeddings.create(model="e", input=texts)).data
        ]
        tokens = await client.embeddings.create(
            model="e", input=[[1, 2, 3]], encoding_format="float"
        )

    def cosine(left: list[float], right: list[float]) -> float:
        return sum(a * b for a, b in zip(left, right, strict=True))

    assert cosine(one, same) > 0.99
    assert cosine(one, other) < 0.5
    assert len(tokens.data[0].embedding) == len(one)
