"""Embeddings of any endpoint of OpenAI's form: in order, in batches, of length 1; every fault one
sentence.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from spadework.errors import ModelError, SettingsError
from spadework.settings import Settings
from spadework.tools.ranking.embedder import BATCH, PARALLEL, EndpointEmbedder, embedder
from tests.world.background import Background, listen
from tests.world.timing import peak


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture
async def embeds(model) -> AsyncIterator[EndpointEmbedder]:
    made = embedder(Settings(embeddings="openai:world-embedding", openai_base_url=model.url))
    assert made is not None
    yield made
    await made.close()


async def test_like_texts_are_alike_and_every_vector_has_length_1(embeds):
    garden, leek, rocket = await embeds.embed(
        ["The leek grows in the garden", "A garden with leek", "Rockets burn fuel"]
    )
    assert cosine(garden, leek) > 0.6 > 0.3 > cosine(garden, rocket)
    assert [round(math.hypot(*vector), 9) for vector in (garden, leek, rocket)] == [1, 1, 1]


async def test_many_texts_come_back_in_order_in_few_requests(embeds, model):
    texts = [f"text number {n} about subject{n}" for n in range(2 * BATCH + 5)]
    found = await embeds.embed(texts)
    assert found[BATCH + 1] == (await embeds.embed([texts[BATCH + 1]]))[0]
    assert len(found) == len(texts)
    assert (
        embeds.requests
        == len([each for each in model.asked if each.path.endswith("/embeddings")])
        == 4
    )
    assert embeds.tokens > len(texts)


async def test_no_text_asks_nothing_and_an_empty_or_endless_one_is_sent_as_models_take_it(
    embeds, model
):
    assert await embeds.embed([]) == []
    assert model.asked == []
    with pytest.raises(ModelError, match="a vector of zeros"):
        await embeds.embed([""])
    await embeds.embed(["leek " * 100_000])
    assert len(model.asked[-1].body) < 20_000


@pytest.mark.parametrize(
    ("status", "body", "said", "asked"),
    [
        (200, b"<html>", "did not return embeddings", 1),
        (200, b'{"data": []}', "0 vectors for 1 texts", 1),
        (200, b'{"data": [{"index": 0, "embedding": [0, 0]}]}', "a vector of zeros", 1),
        (401, b'{"error": {"message": "Incorrect API key."}}', "status 401: Incorrect API key.", 1),
        (404, b"", "status 404.", 1),
        (500, b"", "status 500.", 3),
    ],
)
async def test_a_fault_is_one_sentence(background: Background, status, body, said, asked):
    requests = []

    async def answer(scope, receive, send):
        requests.append(scope["path"])
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(b"retry-after", b"0.01")],
            }
        )
        await send({"type": "http.response.body", "body": body})

    sock = listen("127.0.1.31")
    background.serve(answer, [sock])
    embeds = EndpointEmbedder("e", "http://{}:{}/v1".format(*sock.getsockname()))
    with pytest.raises(ModelError, match=said):
        await embeds.embed(["leek"])
    assert requests == ["/v1/embeddings"] * asked
    await embeds.close()


async def test_nobody_there_and_nothing_in_time_are_faults(background: Background):
    async def sleeps(scope, receive, send):
        await receive()
        await receive()

    sock = listen("127.0.1.31")
    background.serve(sleeps, [sock])
    for url, seconds, said in [
        ("http://{}:{}/v1".format(*sock.getsockname()), 0.05, "within 0.05 s"),
        ("nowhere", 5, "cannot be reached"),
    ]:
        embeds = EndpointEmbedder("e", url, seconds=seconds)
        with pytest.raises(ModelError, match=said):
            await embeds.embed(["leek"])
        await embeds.close()


def test_the_settings_say_whether_there_is_one():
    assert embedder(Settings()) is None
    with pytest.raises(SettingsError, match="needs an API key"):
        embedder(Settings(embeddings="e"))


async def test_a_key_goes_to_its_own_server_only(model):
    key = SecretStr("sk-of-the-chat-model")
    for settings, sent in [
        (
            Settings(embeddings="e", openai_base_url=model.url, openai_api_key=key),
            "Bearer sk-of-the-chat-model",
        ),
        (Settings(embeddings="e", embeddings_url=model.url, openai_api_key=key), None),
    ]:
        made = embedder(settings)
        assert made is not None
        await made.embed(["leek"])
        assert model.asked[-1].headers.get("authorization") == sent
        await made.close()


async def test_all_sessions_together_send_few_requests_at_once(model):
    model.delay = 0.1
    made = [EndpointEmbedder("world-embedding", f"{model.url}") for _ in range(4)]
    await asyncio.gather(*(one.embed([f"a text {n}"] * BATCH * 2) for n, one in enumerate(made)))
    for one in made:
        await one.close()
    sent = [each for each in model.asked if each.path.endswith("/embeddings")]
    assert len(sent) == 8
    assert peak(sent) == PARALLEL
