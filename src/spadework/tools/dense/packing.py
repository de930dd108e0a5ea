"""Vectors packed to a byte a number; numpy is imported where needed: most runs have no vectors."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pack_vector(vector: Sequence[float]) -> bytes:
    """A vector as it is kept: a factor (float32) of what follows, a byte a number.

    Rounding moves a number by 1/254 of the greatest one at most. Bytes are read several times as
    fast as float16.
    """
    import numpy as np

    numbers = np.asarray(vector, np.float32)
    factor = float(np.abs(numbers).max(initial=0.0)) / 127 or 1.0
    return struct.pack("<f", factor) + bytes(np.rint(numbers / factor).astype(np.int8))


def cosines(vectors: Sequence[bytes], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of every vector to a question's."""
    import numpy as np

    rows = np.frombuffer(
        b"".join(vectors), np.dtype([("factor", "<f4"), ("numbers", "i1", question.shape)])
    )
    found: NDArray[np.float32] = (rows["numbers"].astype(np.float32) @ question) * rows["factor"]
    return found
