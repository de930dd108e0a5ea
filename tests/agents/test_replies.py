"""Whatever form a model's server gives its reply, it is one of five kinds, and what stands in it is
understood. The forms are those of servers that people run, worded anew.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from spadework.agents.llm.reply import read_reply
from spadework.agents.llm.structured_output import parse_answer


class Leg(BaseModel):
    """A part of a way."""

    to: str
    miles: list[int]


class Way(BaseModel):
    """A way in legs."""

    legs: list[Leg]
    note: str = ""


GOOD = {"legs": [{"to": "the {old} pier", "miles": [2, 3]}], "note": "x"}
J = json.dumps(GOOD)
DRAFT = 'The user wants legs, perhaps {"legs": []}.'


def said(finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """Return a completion with one choice."""
    held = {"role": "assistant", "content": None} | message
    return {"choices": [{"index": 0, "message": held, "finish_reason": finish}]}


def called(arguments: Any) -> list[dict[str, Any]]:
    """Return the call of one tool."""
    return [{"id": "c", "type": "function", "function": {"name": "Way", "arguments": arguments}}]


def streamed(*deltas: dict[str, Any], finish: str | None = "stop") -> str:
    """Return a completion as server-sent events."""
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return ": waiting\n\n" + "".join(lines) + "data: [DONE]\n\n"


HARMONY = (
    "<|channel|>analysis<|message|>They want {legs}.<|end|><|start|>assistant"
    f"<|channel|>final <|constrain|>json<|message|>{J}<|return|>"
)
ANSWERED: dict[str, Any] = {
    "openai": said(content=J),
    "openai: a tool": said("tool_calls", tool_calls=called(J)),
    "openai: an old function": said("function_call", function_call={"arguments": J}),
    "ollama: arguments as an object": said("tool_calls", tool_calls=called(GOOD)),
    "vllm: in reasoning_content": said(reasoning_content=J, tool_calls=[]),
    "vllm: in reasoning": said(reasoning=J),
    "sglang: after a thought": said(content="", reasoning_content=f"{DRAFT} So it is {J}"),
    "deepseek: a thought beside it": said(content=J, reasoning_content=DRAFT),
    "deepseek: a thought in it": said(content=f"<think>{DRAFT}</think>\n\n{J}"),
    "llama.cpp: a thought without a beginning": said(content=f"{DRAFT}\n</think>\n\n{J}"),
    "llama.cpp: all of it in a thought": said(content=f"<think>{DRAFT} So: {J}"),
    "mistral: thought in brackets": said(content=f"[THINK]{DRAFT}[/THINK]{J}"),
    "mistral: parts": said(
        content=[{"type": "thinking", "thinking": [DRAFT]}, {"type": "text", "text": J}]
    ),
    "gpt-oss: harmony": said(content=HARMONY),
    "gpt-oss: a call in harmony": said(
        content=f"<|channel|>commentary to=Way <|constrain|>json<|message|>{J}<|call|>"
    ),
    "lm studio: harmony without marks": said(
        content=f"analysisThey want {{legs}}.assistantfinal{J}"
    ),
    "lm studio: end marks": said(content=f"{J}<|im_end|>\n<|endoftext|>"),
    "localai: parsed already": said(content=GOOD),
    "localai: text of a completion": {"choices": [{"text": J, "finish_reason": "stop"}]},
    "tensorrt-llm: no finish": said(None, content=J + "</s>"),
    "gemini: a fence": said("STOP", content=f"```json\n{J}\n```"),
    "gemini: a fence in words": said(
        content=f"Here it is:\n\n```JSON\n{J}\n```\nShall {{I}} go on?"
    ),
    "words with braces before": said(content=f"The set {{a, b}} is [1] covered. {J}"),
    "byte order mark in the text": said(content="\ufeff" + J),
    "a string of JSON": said(content=json.dumps(J)),
    "twice": said(content=f"{J}\n{J}"),
    "a trailing comma": said(content=J.replace("3]", "3,]")),
    "python": said(content=repr(GOOD | {"note": None})),
    "null for a default": said(content=json.dumps(GOOD | {"note": None})),
    "a list in a string": said(content=json.dumps(GOOD | {"legs": json.dumps(GOOD["legs"])})),
    "a null beside a list in a string": said(
        content=json.dumps({"legs": json.dumps(GOOD["legs"]), "note": None})
    ),
    "under its name": said(content=json.dumps({"Way": GOOD})),
    "as properties": said(content=json.dumps({"type": "object", "properties": GOOD})),
    "a call in words": said(content=f'<tool_call>{{"name": "Way", "arguments": {J}}}</tool_call>'),
    "a list of one": said(content=f"[{J}]"),
    "a line break in a string": said(content=J.replace('"x"', '"x\ny"')),
    "a comment before": said(content=f"// the way\n{J}"),
    "a stream that nobody asked for": streamed({"content": J[:9]}, {"content": J[9:]}),
    "a streamed tool": streamed({"tool_calls": called(J[:9])}, {"tool_calls": called(J[9:])}),
    "a streamed thought": streamed({"reasoning_content": DRAFT}, {"content": J}),
    "azure: a stream that begins with its filters": 'data: {"choices": [], "prompt_filter_results":'
    ' [{"content_filter_results": {"hate": {"filtered": false}}}]}\n\n' + streamed({"content": J}),
}


def _body(form: Any) -> bytes:
    return (form if isinstance(form, str) else json.dumps(form)).encode()


@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_is_understood_in_any_form(name: str) -> None:
    reply = read_reply(200, {}, _body(ANSWERED[name]))
    assert reply.kind == "answered"
    assert parse_answer(reply.text, Way).legs == [Leg(to="the {old} pier", miles=[2, 3])]


def test_a_byte_order_mark_before_the_body_does_no_harm() -> None:
    assert read_reply(200, {}, b"\xef\xbb\xbf" + _body(said(content=J))).text == J


OPENROUTER = {"message": "Provider returned error", "metadata": {"raw": "slow down, please"}}
GEMINI = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Out of requests for today."}
#: Status and body, the kind, what its reason holds, and the status it stands for.
OTHERS: dict[str, tuple[int, Any, str, str, int]] = {
    "openai: filtered": (
        200,
        said("content_filter", content=""),
        "withheld",
        "content_filter",
        200,
    ),
    "openai: a refusal": (200, said(refusal="I cannot."), "withheld", "I cannot.", 200),
    "anthropic behind a gateway": (200, said("refusal", content=""), "withheld", "refusal", 200),
    "gemini: a filter": (200, said("SAFETY", content="Half"), "withheld", "SAFETY", 200),
    "gemini: recited": (200, said("recitation"), "withheld", "recitation", 200),
    "gemini: a request that was blocked": (
        *(200, {"promptFeedback": {"blockReason": "SAFETY"}}, "withheld", "filtered", 200),
    ),
    "azure: a request that was filtered": (
        *(400, {"error": {"code": "content_filter", "message": "Policy."}}, "withheld", "Policy."),
        400,
    ),
    "zhipu: a sensitive word": (200, said("sensitive"), "withheld", "sensitive", 200),
    "a streamed refusal": (
        *(200, streamed({"refusal": "I can"}, {"refusal": "not."}), "withheld", "I cannot.", 200),
    ),
    "nothing": (200, said(content=""), "empty", "", 200),
    "an end mark": (200, said(content="<|im_end|>"), "empty", "", 200),
    "a thought beside": (200, said(reasoning_content="Let me see."), "empty", "", 200),
    "a thought that does not end": (200, said(content="<think>Let me see."), "empty", "", 200),
    "gemini: a call gone wrong": (200, said("malformed_function_call"), "empty", "", 200),
    "cut": (200, said("length", content=J[:20]), "cut", "", 200),
    "cut in a thought": (200, said("length", content="<think>Let me"), "cut", "", 200),
    "gemini: cut": (200, said("MAX_TOKENS", content=""), "cut", "", 200),
    "mistral: cut": (200, said("model_length", content=J[:20]), "cut", "", 200),
    "a stream that is cut": (200, streamed({"content": J[:9]}, finish="length"), "cut", "", 200),
    "openrouter: busy": (
        *(200, {"error": OPENROUTER | {"code": 429}, "user_id": "u"}, "error", "slow down", 429),
    ),
    "openrouter: busy in a choice": (
        200,
        {"choices": [{"error": OPENROUTER | {"code": "502"}, "message": {"content": ""}}]},
        *("error", "slow down", 502),
    ),
    "openrouter: no credit": (
        200,
        {"choices": None, "error": {"message": "Insufficient credits", "code": 402}},
        *("error", "Insufficient credits", 402),
    ),
    "vllm: an error in a stream": (
        200,
        'data: {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}',
        *("error", "too long", 400),
    ),
    "gemini: errors are a list": (429, [{"error": GEMINI}], "error", "Out of requests", 429),
    "gemini: such a list in a 200": (200, [{"error": GEMINI}], "error", "Out of requests", 429),
    "ollama: an error of words": (
        *(200, {"error": "model needs more memory"}, "error", "more memory", 500),
    ),
    "localai: named by its type": (
        200,
        {"error": {"type": "rate_limit_error", "message": "wait"}},
        *("error", "wait", 429),
    ),
    "fastapi: details": (422, {"detail": [{"msg": "field required"}]}, "error", "required", 422),
    "mistral: words of words": (
        422,
        {"object": "error", "message": {"detail": [{"msg": "no such model"}]}},
        *("error", "no such model", 422),
    ),
    "deepseek: no room": (200, said("insufficient_system_resource"), "error", "system", 503),
    "vllm: given up": (200, said("abort", content=""), "error", "abort", 503),
    "a proxy's page": (502, "<html><h1>Bad Gateway</h1></html>", "error", "", 502),
    "a proxy's words": (429, "slow down", "error", "slow down", 429),
    "a page to sign in": (200, "<html>Sign in</html>", "error", "a web page", 200),
    "nothing at all": (200, "", "error", "nothing", 200),
    "no choices": (200, {"choices": None}, "error", "no choices", 200),
    "choices absent": (200, {"id": "1"}, "error", "no choices", 200),
    "choices empty": (200, {"choices": []}, "error", "no choices", 200),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_answer_is_told_for_what_it_is(name: str) -> None:
    status, form, kind, reason, meant = OTHERS[name]
    reply = read_reply(status, {}, _body(form))
    assert (reply.kind, reply.status) == (kind, meant)
    assert reason in reply.reason


@pytest.mark.parametrize(
    ("told", "seconds"), [("7", 7), ("1e11", 3600), ("soon", None), ("", None)]
)
def test_a_busy_server_says_when_to_come_back(told: str, seconds: float | None) -> None:
    for status, form in ((429, "busy"), (200, {"error": {"code": 429}})):
        assert read_reply(status, {"retry-after": told}, _body(form)).after == seconds


@pytest.mark.parametrize(
    "usage",
    [None, {}, "much", {"prompt_tokens": 0, "completion_tokens": 0}]
    + [{"prompt_tokens": n, "completion_tokens": 9} for n in (0, -1, None, "7", 7.5, True, [7])],
)
def test_a_count_that_is_none_is_not_believed(usage: Any) -> None:
    assert read_reply(200, {}, _body(said(content=J) | {"usage": usage})).usage is None


@pytest.mark.parametrize("part", ["{", "[", '{"a":', "'", '"{', "</think>", "<|channel|>a"])
def test_what_never_becomes_an_answer_is_refused_at_once(part: str) -> None:
    with pytest.raises(ValidationError):
        parse_answer(part * 20_000, Way)
