"""Content encodings: undone to the byte, and never beyond the limits."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import TooLarge, Unreachable, Unreadable
from spadework.tools.fetch.unpack import MAX_RATIO, RATIO_FREE, unpack

LIMIT = 5_000_000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKERS = [
    ("gzip", gzip.compress),
    ("GZIP ", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
]


@pytest.mark.parametrize(("encoding", "pack"), PACKERS)
@given(body=st.binary(max_size=2_000))
def test_what_was_packed_comes_back(encoding, pack, body):
    assert unpack(pack(body), encoding, LIMIT) == body


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_a_plain_body_stays_as_it_is(encoding):
    assert unpack(b"plain", encoding, LIMIT) == b"plain"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_an_empty_body_is_empty_only_in_an_encoding_we_asked_for(encoding):
    if encoding == "br":
        with pytest.raises(Unreadable):
            unpack(b"", encoding, LIMIT)
    else:
        assert unpack(b"", encoding, LIMIT) == b""


@given(body=st.binary(max_size=500), junk=st.binary(max_size=50))
def test_what_stands_behind_the_end_is_ignored(body, junk):
    assert unpack(gzip.compress(body) + junk, "gzip", LIMIT) == body


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "rot13"])
def test_other_encodings_are_not_read(encoding):
    with pytest.raises(Unreadable, match="is not read"):
        unpack(b"x", encoding, LIMIT)


@given(st.binary(min_size=1, max_size=200))
def test_broken_data_are_said_to_be_broken(body):
    with pytest.raises(Unreachable, match="broken"):
        unpack(b"\x00" + body, "gzip", LIMIT)
    with pytest.raises(Unreachable, match="ends early"):
        unpack(gzip.compress(body)[:-9], "gzip", LIMIT)


def test_a_body_over_the_limit_is_too_large():
    assert len(unpack(gzip.compress(b"ab" * 500), "gzip", 1_000)) == 1_000
    with pytest.raises(TooLarge, match="1,000 bytes"):
        unpack(gzip.compress(b"ab" * 501), "gzip", 1_000)


def test_a_bomb_is_seen_by_its_ratio_long_before_the_limit():
    body = gzip.compress(b" " * 20_000_000)
    assert len(body) * MAX_RATIO < 20_000_000
    with pytest.raises(TooLarge, match=f"{max(RATIO_FREE, len(body) * MAX_RATIO):,} bytes"):
        unpack(body, "gzip", 10**9)
    assert len(unpack(gzip.compress(b" " * RATIO_FREE), "gzip", 10**9)) == RATIO_FREE
