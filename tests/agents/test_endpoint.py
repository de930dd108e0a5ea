"""What a model's server takes is learned from what it refuses, remembered for the next run, and
said in its own words where nothing helps; whatever it answers, no exception but a ModelError comes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from spadework.agents.evidence.expectation import standard_of
from spadework.agents.llm.client import Model
from spadework.agents.llm.reply import translate
from spadework.agents.report.material import Entry
from spadework.budget import Budget
from spadework.errors import BudgetSpent, ModelError, SettingsError, TooLong
from spadework.prompts import Prompt, render
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from tests.world.background import Background, listen
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model as Server
from tests.world.script import Plain
from tests.world.waits import trickle


class Verse(BaseModel):
    """A line of verse."""

    words: str
    feet: int


GOOD = {"words": "the sea is calm tonight", "feet": 3}
KEY = "sk-world-0123456789"


@asynccontextmanager
async def client(url: str, **changes: Any) -> AsyncIterator[Model]:
    """A run's client of the server at `url`; every run has the same home."""
    given = {"openai_base_url": url, "openai_api_key": KEY, "model": "openai:world-model"}
    settings = Settings.load(**given | {"prices": {}} | changes)
    budget = Budget(calls=100)
    settings.home.mkdir(parents=True, exist_ok=True)
    journal = await Journal.open(settings.home / f"{time.monotonic_ns()}.sqlite", budget)
    made = Model(settings, budget, journal)
    try:
        yield made
    finally:
        await made.close()
        await journal.close()


def line(n: int) -> Prompt:
    return Prompt("You write verse.", f"Line {n}, please.")


def limits(model: Server) -> list[str]:
    """Under which name each request limited the answer."""
    return [
        "/".join(name for name in ("max_tokens", "max_completion_tokens") if name in request.data)
        for request in model.requests
    ]


@pytest.mark.parametrize("name", ["gpt-5-mini", "o4-mini", "openai/gpt-5"])
async def test_the_name_of_the_limit_on_an_answer_is_learned_and_remembered(
    model: Server, name: str
) -> None:
    model.script("", lambda request: _unless(request, "max_tokens", _NO_MAX_TOKENS))
    for run in range(2):
        async with client(model.url, model=f"openai:{name}") as asking:
            for n in range(2):
                assert await asking.ask("writer", line(n), Verse, seconds=60) == Verse(**GOOD)
        expected = [["max_tokens"], []][run] + ["max_completion_tokens"] * 2
        assert limits(model) == expected
        model.requests.clear()
    assert not any("temperature" in request.data for request in model.requests)


async def test_many_at_once_learn_it_together(model: Server) -> None:
    model.delay = 0.05
    model.script("", lambda request: _unless(request, "max_tokens", _NO_MAX_TOKENS))
    async with client(model.url) as asking:
        answers = await asyncio.gather(
            *(asking.ask("writer", line(n), Verse, seconds=10) for n in range(8))
        )
    assert answers == [Verse(**GOOD)] * 8


async def test_a_server_that_was_changed_is_learned_anew(model: Server) -> None:
    for refused, said in (("max_tokens", _NO_MAX_TOKENS), ("max_completion_tokens", _FORBIDDEN)):
        model.script("", lambda request, of=(refused, said): _unless(request, *of))
        async with client(model.url) as asking:
            assert await asking.ask("writer", line(1), Verse, seconds=10) == Verse(**GOOD)
    assert limits(model)[-1] == "max_tokens"


async def test_a_temperature_that_is_not_taken_is_left_out(model: Server) -> None:
    model.script("", lambda request: _unless(request, "temperature", _NO_TEMPERATURE))
    async with client(model.url, model="openai:my-deployment") as asking:
        assert await asking.ask("writer", line(1), Verse, seconds=10) == Verse(**GOOD)
        assert await asking.ask("writer", line(2), Verse, seconds=10) == Verse(**GOOD)
    assert [request.data.get("temperature") for request in model.requests] == [0, None, None]


@pytest.mark.parametrize(
    "said",
    [
        "The deployment is paused until Monday.",
        "max_tokens is too large: 8000. This model supports at most 4096 completion tokens.",
        "Invalid parameter: 'response_format' is not what this gateway speaks.",
        "Unsupported parameter: 'max_tokens'. Also 'max_completion_tokens'. Key: {key}",
    ],
)
async def test_a_refusal_that_stands_is_told_in_the_server_s_own_words(
    model: Server, said: str
) -> None:
    model.script("", Fault("refused", words=said.format(key=KEY)))
    async with client(model.url) as asking:
        with pytest.raises(ModelError) as raised:
            await asking.ask("writer", line(1), Verse, seconds=10)
    assert said.format(key="…") in str(raised.value)
    assert len(model.requests) <= 4


async def test_where_a_server_sends_elsewhere_nobody_is_asked(model: Server) -> None:
    model.script("", Fault("moved", words=f"{model.url}/elsewhere/chat/completions"))
    async with client(model.url) as asking:
        with pytest.raises(
            ModelError, match="answered with status 307: it redirects to another address"
        ):
            await asking.ask("writer", line(1), Verse, seconds=10)
    assert {request.record.path for request in model.requests} == {"/v1/chat/completions"}


WORDINGS = [
    "This model's maximum context length is 1900 tokens. However, your messages have {n} tokens.",
    "the request exceeds the available context size. try increasing the context size",
    "request ({n} tokens) exceeds the available context size (1900 tokens), try increasing it",
    "The input token count ({n}) exceeds the maximum number of tokens allowed (1900).",
    "prompt is too long: {n} tokens > 1900 maximum",
    "The request exceeds the model's max input limit.",
    "Requested tokens ({n}) exceed context window of 1900",
]


@pytest.mark.parametrize("words", WORDINGS)
async def test_too_long_is_understood_and_the_limit_remembered(model: Server, words: str) -> None:
    def answer(request: ChatRequest) -> Plain:
        fits = request.tokens_in <= 1_800
        return GOOD if fits else Fault("refused", words=words.format(n=request.tokens_in))

    model.script("", answer)
    passages = [_passage(n, f"Sentence {n} of many tells of springs. " * 60) for n in range(5)]
    prompt = _assessment(
        passages, known=[Entry(id="E1", about="", quote="A short quote that is known.")]
    )
    async with client(model.url) as asking:
        assert await asking.ask("assessor", prompt, Verse, seconds=20) == Verse(**GOOD)
        learning = len(model.requests)
        assert 2 <= learning <= 4
        again = Prompt(prompt.system, prompt.user.replace("of springs", "of radios"))
        assert await asking.ask("assessor", again, Verse, seconds=20) == Verse(**GOOD)
    async with client(model.url) as asking:
        assert await asking.ask("assessor", prompt, Verse, seconds=20) == Verse(**GOOD)
    # Where the server does not say how much fits, it may take one more to know.
    assert len(model.requests) <= learning + 2 + ("1900" not in words)
    for request in model.requests:
        said = request.user
        assert said.startswith("Question: What about springs?")
        assert said.endswith("</page_text>\n\nJudge the topic.")
        assert said.count("<page_text>\n") == said.count("\n</page_text>") >= 2
        assert "A short quote that is known." in said
        assert "Sentence 0 of many" in said, "the best is left"


async def test_an_answer_that_would_not_fit_is_given_less_room_and_the_request_is_whole(
    model: Server,
) -> None:
    def answer(request: ChatRequest) -> Plain:
        room = request.data["max_tokens"]
        if request.tokens_in + room <= 4_096:
            return GOOD
        return Fault(
            "refused",
            words="This model's maximum context length is 4096 tokens. However, you requested"
            f" {request.tokens_in + room} tokens ({request.tokens_in} in the messages, {room} in"
            " the completion). Please reduce the length of the messages or completion.",
        )

    model.script("", answer)
    prompt = Prompt("You write verse.", "word " * 500)
    async with client(model.url) as asking:
        assert await asking.ask("writer", prompt, Verse, seconds=10) == Verse(**GOOD)
    assert len(model.requests) == 2
    assert model.requests[0].user == model.requests[1].user
    assert model.requests[1].data["max_tokens"] > 2_500


async def test_a_request_of_one_paragraph_keeps_its_task(model: Server) -> None:
    model.context_tokens = 1_500
    model.script("", GOOD)
    prompt = Prompt("You plan.", f"Question: {'word ' * 3_000}\n\nPlan the research.")
    async with client(model.url) as asking:
        assert await asking.ask("lead", prompt, Verse, seconds=10) == Verse(**GOOD)
    assert model.requests[-1].user.endswith("word\n\nPlan the research.")


async def test_a_server_to_which_everything_is_too_long_is_asked_a_few_times_only(
    model: Server,
) -> None:
    model.script("", Fault("refused", words="prompt is too long: 9999 tokens > 300 maximum"))
    async with client(model.url) as asking:
        with pytest.raises(TooLong):
            await asking.ask("writer", Prompt("Write.", "word " * 3_000), Verse, seconds=10)
        assert len(model.requests) <= 6


ODD = {
    "a list": [],
    "a word": "yes",
    "nothing": None,
    "no choices": {"id": "1", "object": "chat.completion", "choices": None},
    "empty choices": {"id": "1", "object": "chat.completion", "choices": []},
    "choices of text": {"choices": "abc"},
    "a choice of text": {"choices": ["abc"]},
    "no message": {"choices": [{"index": 0, "message": None}]},
    "a message of text": {"choices": [{"index": 0, "message": "Hello"}]},
    "tools of text": {"choices": [{"message": {"role": "assistant", "tool_calls": "abc"}}]},
    "a tool of nothing": {
        "choices": [{"message": {"role": "assistant", "tool_calls": [{"function": None}]}}]
    },
    "content of numbers": {"choices": [{"message": {"role": "assistant", "content": 7}}]},
    "usage of words": {
        "choices": [{"message": {"role": "assistant", "content": "{}"}}],
        "usage": {"prompt_tokens": "many", "completion_tokens": []},
    },
    "usage of text": {"choices": [{"message": {"content": "{}"}}], "usage": "much"},
    "an error": {"error": "out of memory"},
    "an error in parts": {"error": {"message": {"text": 1}}, "choices": None},
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("body", [json.dumps(value) for value in ODD.values()] + ["", "[[["])
async def test_whatever_is_answered_is_an_answer_or_a_model_error(
    model: Server, body: str, stream: bool
) -> None:
    model.script("", Fault("raw", words=f"data: {body}\n\n" if stream else body))
    model.streams_only = stream
    async with client(model.url) as asking:
        with pytest.raises(ModelError):
            await asking.ask("writer", line(1), Verse, seconds=10)


async def test_a_server_that_counts_more_than_any_number_spends_the_budget(model: Server) -> None:
    said = {"role": "assistant", "content": json.dumps(GOOD | {"feet": "no number"})}
    usage = {"prompt_tokens": 10**400, "completion_tokens": 1, "total_tokens": 1}
    model.script(
        "", Fault("raw", words=json.dumps({"choices": [{"message": said}], "usage": usage}))
    )
    async with client(model.url) as asking:
        with pytest.raises(BudgetSpent):
            await asking.ask("writer", line(1), Verse, seconds=10)


async def test_a_limit_of_thousands_of_digits_is_none(model: Server) -> None:
    model.script("", Fault("refused", words=f"maximum context length is {'9' * 5_000} tokens"))
    async with client(model.url) as asking:
        with pytest.raises(TooLong):
            await asking.ask("writer", line(1), Verse, seconds=10)


async def test_a_server_that_wants_to_be_left_alone_for_ages_is_late(model: Server) -> None:
    model.script("", Fault("limited", retry_after=1e11))
    async with client(model.url) as asking:
        with pytest.raises(ModelError):
            await asking.ask("writer", line(1), Verse, seconds=1)


def test_a_busy_answer_without_headers_is_understood() -> None:
    class OtherLibraryError(Exception):
        status_code = 429

    told = translate(OtherLibraryError("slow down"), "cohere:command")
    assert str(told) == "cohere:command received too many requests."


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
async def test_a_server_that_is_not_there_is_a_model_error(url: str) -> None:
    async with client(url) as asking:
        with pytest.raises(ModelError, match="cannot be reached"):
            await asking.ask("writer", line(1), Verse, seconds=20)


async def test_a_server_that_trickles_ends_at_the_deadline(background: Background) -> None:
    sock = listen("127.0.0.1")
    background.converse(trickle, sock)
    host, port = sock.getsockname()
    async with client(f"http://{host}:{port}/v1") as asking:
        with pytest.raises(ModelError, match="in time"):
            await asking.ask("writer", line(1), Verse, seconds=0.5)
        assert await asking.speed("writer") == 0.0, "it is too slow for what can be left"


@pytest.mark.parametrize("url", ["localhost:8080/v1", "http://[::1/v1", "ftp://127.0.0.1/v1"])
async def test_an_address_that_is_none_is_a_wrong_setting(url: str) -> None:
    async with client(url) as asking:
        with pytest.raises(SettingsError, match=r"address of the model server must be"):
            asking.check()


async def test_who_leaves_is_not_kept_by_the_border(model: Server) -> None:
    model.script("", Fault("hang"))
    async with client(model.url) as asking:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await asking.ask("writer", line(1), Verse, seconds=60)


@pytest.mark.parametrize(("delay", "slow"), [(0.0, False), (1.0, True)])
async def test_the_speed_of_a_model_is_measured_and_remembered(
    model: Server, delay: float, slow: bool
) -> None:
    model.script("", GOOD)
    model.delay = delay
    async with client(model.url) as asking:
        assert await asking.speed("cleaner") is None
        await asking.ask("lead", line(1), Verse, seconds=10)
        measured = await asking.speed("cleaner")
        assert measured is not None
        assert (0 < measured < 200) is slow
    async with client(model.url) as asking:
        assert await asking.speed("cleaner") == measured
        model.delay = 0.0
        await asking.ask("lead", line(2), Verse, seconds=10)
        assert (await asking.speed("cleaner") or 0) > 200, "the run's own figure counts"


async def test_busy_in_a_good_answer_is_waited_for(model: Server) -> None:
    busy = {"error": {"message": "Rate-limited upstream, retry shortly", "code": 429}}
    model.script("", *[Fault("raw", words=json.dumps(busy))] * 2, GOOD)
    async with client(model.url) as asking:
        assert await asking.ask("writer", line(1), Verse, seconds=60) == Verse(**GOOD)
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"choices": None, "error": {"message": "No credit left", "code": 402}}, "No credit left"),
        ({"choices": [{"message": {"refusal": "Not that."}}]}, "withheld its answer: “Not that.”"),
        ({"choices": [{"message": {}, "finish_reason": "content_filter"}]}, "content_filter"),
        ("<html>Welcome. Sign in</html>", "a web page in place of JSON"),
    ],
)
async def test_what_would_be_answered_alike_again_is_told_and_not_sent_again(
    model: Server, body: Any, said: str
) -> None:
    model.script("", Fault("raw", words=body if isinstance(body, str) else json.dumps(body)))
    async with client(model.url) as asking:
        with pytest.raises(ModelError, match=said):
            await asking.ask("writer", line(1), Verse, seconds=60)
    assert len(model.requests) == 1


async def test_an_empty_answer_is_asked_for_once_more(model: Server) -> None:
    thought = {"choices": [{"message": {"content": "", "reasoning_content": "Let me see."}}]}
    model.script("", Fault("raw", words=json.dumps(thought)), GOOD)
    async with client(model.url) as asking:
        assert await asking.ask("writer", line(1), Verse, seconds=60) == Verse(**GOOD)
    assert [role for role, _ in model.requests[1].messages] == ["system", "user", "user"]


async def test_whether_a_server_streams_is_learned_and_remembered(model: Server) -> None:
    refused = False
    words = {
        True: "This deployment does not support streaming: set stream to false.",
        False: "This model only supports stream mode: please enable the stream parameter.",
    }

    def answer(request: ChatRequest) -> Plain:
        return Fault("refused", words=words[refused]) if request.stream is refused else GOOD

    model.script("", answer)
    for run in range(4):
        refused = run >= 2
        async with client(model.url) as asking:
            assert await asking.ask("writer", line(run), Verse, seconds=60) == Verse(**GOOD)
    assert [request.stream for request in model.requests] == [False, True, True, True, False, False]


async def test_a_request_that_a_server_cuts_in_silence_is_made_to_fit(model: Server) -> None:
    room = 4_096

    def answer(request: ChatRequest) -> Plain:
        seen = min(request.tokens_in, room - 60)
        usage = {"prompt_tokens": seen, "completion_tokens": 60}
        said = {"choices": [{"message": {"content": json.dumps(GOOD)}, "finish_reason": "stop"}]}
        return Fault("raw", words=json.dumps(said | {"usage": usage}))

    model.script("", answer)
    harbour = "The harbour has nine piers and each of them has a number. " * 900
    async with client(model.url) as asking:
        for n in range(2):
            prompt = Prompt("You plan.", f"{harbour}\n\nPlan it, {n}.")
            assert await asking.ask("lead", prompt, Verse, seconds=60) == Verse(**GOOD)
        [told] = asking.news("lead")
    assert "It read only" in told.reason
    sizes = [request.tokens_in for request in model.requests]
    assert sizes[0] > 2 * room
    assert max(sizes[1:]) < room
    assert model.requests[-1].user.endswith("Plan it, 1.")


@pytest.mark.parametrize("counts", [0, 40])
async def test_a_count_that_no_server_can_mean_is_replaced_by_our_own(
    model: Server, counts: int
) -> None:
    said = {"choices": [{"message": {"content": json.dumps(GOOD)}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": counts, "completion_tokens": counts}
    model.script("", Fault("raw", words=json.dumps(said | {"usage": usage})))
    async with client(model.url) as asking:
        prompt = Prompt("You write verse.", "word " * 3_000)
        assert await asking.ask("writer", prompt, Verse, seconds=60) == Verse(**GOOD)
        assert len(model.requests) == 1
        assert asking._budget.used.tokens_in == pytest.approx(3_000, rel=0.1) or counts


_NO_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead."
)
_FORBIDDEN = "[{'type': 'extra_forbidden', 'loc': ['body', 'max_completion_tokens']}]"
_NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)"
    " value is supported."
)


def _unless(request: ChatRequest, parameter: str, words: str) -> Plain:
    """Good, but where the request has a parameter."""
    return Fault("refused", words=words) if parameter in request.data else GOOD


def _passage(n: int, text: str) -> dict[str, str]:
    about = {"title": f"Page {n}", "heading": "", "domain": "a.example", "author": ""}
    return about | {"date": "", "text": text, "columns": "", "page": 1, "first": True}


def _assessment(passages: list[dict[str, str]], known: list[Entry]) -> Prompt:
    topic = {"name": "Springs", "question": "What are springs?", "must_cover": []}
    return render(
        "assessor",
        question="What about springs?",
        topic=topic,
        known=known,
        passages=passages,
        marks=(7, 8),
        standard=standard_of("fact"),
    )
