"""What services answer in place of results, as one-sentence errors without the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.web.http_dates import http_date, rate_limit_reset, retry_after

#: The quota is used up: payment required; Tavily's for a plan and for pay-as-you-go.
_SPENT = (402, 432, 433)
_REFUSED = (401, 403)
#: What services write when the quota is used up or the key is wrong, also under other statuses:
#: Serper 400, Brave 422, MediaWiki 200.
_QUOTA = ("credits", "quota", "rate limit", "ratelimit", "too many requests")
_KEY = ("api key", "api_key", "subscription token")
#: Where services say in words what went wrong, the most telling first.
_SAYING = ("message", "detail", "info", "error", "code")
_WORDS_CHARS = 200


@dataclass(frozen=True)
class Access:
    """How a service lets us in: its headers, our secret, and what mends a refusal."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    mend: str = ""

    def shown(self, text: str) -> str:
        """A text of the service in one line, short, without the secret."""
        said = text.replace(self.secret, "…") if self.secret else text
        return " ".join(said.split())[:_WORDS_CHARS].rstrip(".")


#: No key, and nothing to mend.
OPEN = Access()


def failure(label: str, access: Access, answer: httpx.Response) -> SearchError:
    """The error of a status other than 200; QuotaSpent says how long to wait where known."""
    status, words = answer.status_code, access.shown(_words(parse_json(answer)))
    wait = answer.headers.get("retry-after", "").strip()
    busy = "it is busy" if status == httpx.codes.SERVICE_UNAVAILABLE and _wait(wait) else ""
    if status == httpx.codes.TOO_MANY_REQUESTS:
        busy = "there were too many requests"
    if busy:
        said = f"{label} answered that {busy}{_wait(wait)}."
        seconds = retry_after(wait)
        seconds = rate_limit_reset(answer.headers) if seconds is None else seconds
        return QuotaSpent(said, retry_after=seconds, busy=True)
    if status in _SPENT or tells_of_quota(words):
        return QuotaSpent(f"{label} answered that the quota is used up (status {status}).")
    if status in _REFUSED or any(sign in words.lower() for sign in _KEY):
        return SearchError(
            f"{label} refused the request (status {status}){': ' * bool(access.mend)}{access.mend}."
        )
    return SearchError(f"{label} answered with status {status}{': ' * bool(words)}{words}.")


def without_results(label: str, access: Access, answer: Any) -> SearchError:
    """The error of JSON that holds no list of results, in the words of the service."""
    words = access.shown(_words(answer))
    kind = QuotaSpent if tells_of_quota(words) else SearchError
    return kind(f"{label} answered without results{': ' * bool(words)}{words}.")


def parse_json(answer: httpx.Response) -> Any:
    """The JSON of an answer, None where it is none."""
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def _words(answer: Any) -> str:
    """What a service says about a failure, "" when it says nothing that is known."""
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, dict):
        return ""
    return next((words for name in _SAYING if (words := _words(answer.get(name)))), "")


def tells_of_quota(words: str) -> bool:
    """Whether words say that a quota is used up or a rate too high."""
    return any(sign in words.lower() for sign in _QUOTA)


def _wait(header: str) -> str:
    """The end of a sentence from a Retry-After header."""
    if header.isdecimal():
        return f"; it asks to wait {header[:9]} s"
    until = http_date(header)
    return f"; it asks to wait until {until:%Y-%m-%d %H:%M:%S %Z}" if until else ""
