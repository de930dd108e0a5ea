"""A kept answer, as bytes for the store and as an entry for hishel, whose rules decide what may be
done with it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import hishel
import httpx

from spadework.tools.fetch.exchange import Answer


@dataclass(frozen=True)
class Copy:
    """An answer, and the headers it was asked for with, their names in lower case."""

    answer: Answer
    asked: dict[str, str]

    @property
    def entry(self) -> hishel.Entry:
        """The copy as hishel knows it."""
        return hishel.Entry(
            uuid.uuid4(), request_of(self.answer.url, self.asked), response_of(self.answer)
        )

    def suits(self, headers: Mapping[str, str]) -> bool:
        """Would the server choose the same answer for these headers, by what it says in Vary?"""
        names = [name.strip().lower() for name in self.answer.headers.get("vary", "").split(",")]
        return "*" not in names and all(self.asked.get(name) == headers.get(name) for name in names)

    def dump(self) -> bytes:
        """Everything but the URL: one line of JSON, and the body."""
        head = {
            "status": self.answer.status,
            "headers": self.answer.headers.multi_items(),
            "asked": self.asked,
        }
        return json.dumps(head).encode() + b"\n" + self.answer.body

    @classmethod
    def load(cls, url: str, data: bytes) -> Self | None:
        """The copy of a URL from what `dump` gave; None for what another version has written."""
        head, _, body = data.partition(b"\n")
        try:
            known = json.loads(head)
            headers = httpx.Headers([(name, value) for name, value in known["headers"]])
            return cls(
                Answer(url, int(known["status"]), headers, body, from_cache=True),
                dict(known["asked"]),
            )
        except (ValueError, KeyError, TypeError):
            return None


def request_of(url: str, headers: Mapping[str, str]) -> hishel.Request:
    """A GET as hishel knows it."""
    return hishel.Request("GET", url, hishel.Headers(dict(headers)))


def response_of(answer: Answer) -> hishel.Response:
    """An answer as hishel knows it, without the body, which its rules do not look at."""
    return hishel.Response(
        answer.status,
        hishel.Headers({name: answer.headers.get_list(name) for name in answer.headers}),
    )
