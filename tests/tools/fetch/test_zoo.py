"""The fault zoo: every broken, slow, hostile or odd server and page is read right or named right,
in time and without a storm.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spadework.errors import FetchError
from spadework.settings import Settings
from spadework.tools.fetch import exchange
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from tests.world.zoo.animal import Animal, Read, Refused
from tests.world.zoo.cage import ADDRESS, Cage, caged
from tests.world.zoo.certificates import Maker
from tests.world.zoo.table import ZOO

#: How much longer than its deadline a refusal may take, in seconds.
SLACK = 2.0

#: What no sentence for a user holds: insides of Python, of libraries and of this machine, a secret
#: of a URL, a second line.
_INSIDES = re.compile(
    r"Traceback|\.py\b|\.c:\d|site-packages|/home/|/tmp/|/usr/|<[\w.]+ |object at"
    r" 0x|bytearray|[a-z]_[a-z]|Error\(|hunter2|\n|\\x"
)


@pytest.fixture(scope="session")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    return Maker(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
async def cage(
    request: pytest.FixtureRequest, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Cage]:
    """An animal of the zoo behind bars; its maker of certificates is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(maker.trusted))
    animal: Animal = request.param
    monkeypatch.setattr(exchange, "FIRST_BYTE_SECONDS", animal.first_byte)
    async with caged(animal, maker.context(animal.tls, animal.protocols)) as made:
        yield made


@pytest.mark.parametrize(
    "cage",
    [pytest.param(animal, id=animal.name.replace(" ", "-")) for animal in ZOO],
    indirect=True,
)
async def test_every_animal_is_read_right_or_named_right(cage: Cage):
    animal = cage.animal
    started = time.monotonic()
    outcome = await _read(cage)
    assert time.monotonic() - started < animal.seconds + SLACK
    if isinstance(animal.expect, Read):
        _check_text(animal.expect, outcome)
    else:
        _check_refusal(animal.expect, outcome)
    assert len(cage.visits) <= animal.visits, "it was asked too often"
    assert cage.sent <= animal.sent, "more was taken from it than the limit"


def test_no_animal_is_kept_twice():
    assert len({animal.name for animal in ZOO}) == len(ZOO) > 300


async def _read(cage: Cage) -> str | FetchError:
    """The Markdown of the animal, or the refusal."""
    async with Web(Settings(allow_hosts=(ADDRESS,), **cage.animal.settings)) as web:
        try:
            _, found = await Reader(web).read(cage.url, seconds=cage.animal.seconds)
        except FetchError as error:
            return error
    return f"{found.title}\n{found.markdown}"


def _check_text(expect: Read, outcome: str | FetchError) -> None:
    assert isinstance(outcome, str), f"refused: {outcome}"
    missing = [words for words in expect.words if words not in outcome]
    assert not missing, f"{missing} not in {outcome[:500]!r}"
    assert [words for words in expect.without if words in outcome] == []
    assert "\0" not in outcome


def _check_refusal(expect: Refused, outcome: str | FetchError) -> None:
    assert isinstance(outcome, FetchError), f"read: {outcome[:500]!r}"
    sentence = str(outcome)
    assert type(outcome) is expect.error, sentence
    assert expect.says in sentence
    assert ADDRESS in sentence, "the sentence does not name the server"
    assert not _INSIDES.search(sentence)
    assert len(sentence) < 400
    assert sentence.endswith("."), sentence
    assert str(Path.home()) not in sentence
