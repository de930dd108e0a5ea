"""Content encodings: undone to the byte, however they arrive, and never beyond the limits."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib

import pytest
from hypothesis import given, strategies as st

from spadework.errors import TooLarge, Unreachable, Unreadable
from spadework.tools.fetch.unpack import MAX_LAYERS, MAX_RATIO, RATIO_FREE, Unpacker

LIMIT = 5_000_000


def unpack(body: bytes, encoding: str, limit: int) -> bytes:
    unpacker = Unpacker(encoding, limit)
    unpacker.feed(body)
    return unpacker.finish()


PACK = {"gzip": gzip.compress, "deflate": zlib.compress}
PACKERS = [*PACK.items(), ("GZIP ", gzip.compress), ("x-gzip", gzip.compress)]
BOMB = {name: pack(b" " * 50_000_000) for name, pack in PACK.items()}


@pytest.mark.parametrize(("encoding", "pack"), PACKERS)
@given(body=st.binary(max_size=2_000))
def test_what_was_packed_comes_back(encoding, pack, body):
    assert unpack(pack(body), encoding, LIMIT) == body


@given(
    body=st.binary(max_size=300),
    layers=st.lists(st.sampled_from(list(PACK)), max_size=MAX_LAYERS),
    sizes=st.lists(st.integers(1, 50), min_size=1),
)
def test_what_was_packed_several_times_comes_back_in_whatever_pieces_it_arrives(
    body, layers, sizes
):
    packed, unpacker = body, Unpacker(", ".join(layers), LIMIT)
    for name in layers:
        packed = PACK[name](packed)
    while packed:
        for size in sizes:
            unpacker.feed(packed[:size])
            packed = packed[size:]
    assert unpacker.finish() == body


@pytest.mark.parametrize("name", PACK)
def test_a_long_body_comes_back(name):
    body = random.Random(1974).randbytes(300_000) + b"The tide was high. " * 50_000
    assert unpack(PACK[name](body), name, LIMIT) == body


@pytest.mark.parametrize("encoding", ["", "identity", "Identity", "identity, "])
def test_a_plain_body_stays_as_it_is(encoding):
    assert unpack(b"plain", encoding, LIMIT) == b"plain"


def test_a_plain_body_over_the_limit_is_too_large():
    with pytest.raises(TooLarge, match="1,000 bytes"):
        unpack(b"a" * 1_001, "", 1_000)


@pytest.mark.parametrize("encoding", PACK)
def test_an_empty_body_is_empty(encoding):
    assert unpack(b"", encoding, LIMIT) == b""


@given(body=st.binary(max_size=500), junk=st.binary(max_size=50))
def test_what_stands_behind_the_end_is_ignored(body, junk):
    assert unpack(gzip.compress(body) + b"\n" + junk, "gzip", LIMIT) == body


@given(parts=st.lists(st.binary(max_size=100), min_size=1, max_size=4), size=st.integers(1, 200))
def test_several_members_are_one_body(parts, size):
    packed, unpacker = b"".join(map(gzip.compress, parts)), Unpacker("gzip", LIMIT)
    for start in range(0, len(packed), size):
        unpacker.feed(packed[start : start + size])
    assert unpacker.finish() == b"".join(parts)


@pytest.mark.parametrize(
    "encoding", ["compress", "br", "zstd", "gzip, rot13", "gzip, gzip, gzip, gzip"]
)
def test_other_encodings_are_not_read(encoding):
    with pytest.raises(Unreadable, match="is not supported"):
        unpack(b"x", encoding, LIMIT)


@pytest.mark.parametrize(("encoding", "junk"), [("gzip", b"\x00"), ("deflate", b"\xff")])
@given(body=st.binary(min_size=4, max_size=200))
def test_broken_data_are_said_to_be_broken(encoding, junk, body):
    with pytest.raises(Unreachable, match="broken"):
        unpack(junk + body, encoding, LIMIT)


@pytest.mark.parametrize("name", PACK)
@given(body=st.binary(min_size=1, max_size=200))
def test_data_that_end_early_are_said_to_end_early(name, body):
    packed = PACK[name](body)
    for missing in range(1, len(packed)):
        with pytest.raises(Unreachable, match="ends early"):
            unpack(packed[:-missing], name, LIMIT)


@pytest.mark.parametrize("name", PACK)
def test_a_body_over_the_limit_when_unpacked_is_too_large(name):
    assert len(unpack(PACK[name](b"ab" * 500), name, 1_000)) == 1_000
    with pytest.raises(TooLarge, match="1,000 bytes"):
        unpack(PACK[name](b"ab" * 501), name, 1_000)


@pytest.mark.parametrize("name", BOMB)
def test_a_bomb_is_seen_by_its_ratio_long_before_the_limit(name):
    most = max(RATIO_FREE, len(BOMB[name]) * MAX_RATIO)
    assert most < 50_000_000
    with pytest.raises(TooLarge, match=f"{most:,} bytes"):
        unpack(BOMB[name], name, 10**9)
    assert len(unpack(PACK[name](b" " * RATIO_FREE), name, 10**9)) == RATIO_FREE


@pytest.mark.parametrize(
    "layers", [*([name] for name in PACK), ["gzip", "gzip"], ["deflate", "gzip"]]
)
def test_a_bomb_never_makes_a_large_buffer(layers):
    packed = BOMB[layers[0]]
    for name in layers[1:]:
        packed = PACK[name](packed)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            unpack(packed, ", ".join(layers), 2_000_000)
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
