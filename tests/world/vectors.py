"""Embeddings without a model: texts that share words get vectors that point the same way. In the
form of OpenAI's endpoint.
"""

from __future__ import annotations

import base64
import hashlib
import math
import struct
from collections.abc import Sequence
from typing import Any

from tests.world.chat import tokens
from tests.world.ranking import terms

DIMENSIONS = 96


def vector(words: Sequence[object]) -> list[float]:
    """A vector of length 1 to which every word adds its own direction."""
    sums = [0.0] * DIMENSIONS
    for word in words:
        digest = hashlib.blake2b(str(word).encode(), digest_size=8).digest()
        sums[digest[0] % DIMENSIONS] += 1.0
        sums[digest[1] % DIMENSIONS] += 1.0 if digest[2] % 2 else -1.0
    length = math.hypot(*sums) or 1.0
    return [number / length for number in sums]


def embeddings(data: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request for embeddings: of a text, of texts, or of lists of token numbers."""
    given = data["input"]
    several = isinstance(given, list) and (not given or not isinstance(given[0], int))
    inputs = given if several else [given]
    made = [vector(terms(part) if isinstance(part, str) else part) for part in inputs]
    packed = data.get("encoding_format") == "base64"
    items = [
        {"object": "embedding", "index": n, "embedding": _base64(v) if packed else v}
        for n, v in enumerate(made)
    ]
    used = sum(tokens(part) if isinstance(part, str) else len(part) for part in inputs)
    return {
        "object": "list",
        "data": items,
        "model": data.get("model", ""),
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def _base64(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
