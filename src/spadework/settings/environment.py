"""Environment variables meant for spadework that no setting reads."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

PREFIX = "SPADEWORK_"
#: Variables with our prefix that are not settings, read where they are used.
_OTHERS = frozenset({"PROXY", "MCP_CONNECTION"})
#: Other research servers' names for our settings; "" for what is a constant here.
_ELSEWHERE = {
    "DEFAULT_NUM_RESULTS": "search_results",
    "DEFAULT_SEARCH_COUNTRY": "search_country",
    "DEFAULT_SEARCH_LANGUAGE": "search_language",
    "DEFAULT_RELEVANCE_THRESHOLD": "min_relevance",
    "DEFAULT_CONCURRENT_CRAWLS": "parallel_pages",
    "MAX_CONCURRENT_CRAWLS": "parallel_pages",
    "CRAWL_TIMEOUT_SECONDS": "page_seconds",
    "CLEANLINESS_THRESHOLD": "clean",
    "MCP_MAX_TOKENS": "",
    "TARGET_TOKENS": "window_tokens",
    "LOG_LEVEL": "log",
}
#: Former settings, now constants where they are used.
_CONSTANT = frozenset(
    {
        *("RRF_K", "ORIGINAL_WEIGHT", "KNOWLEDGE_HOURS"),
        *("SEARCH_CACHE_HOURS", "SEARCH_CACHE_MINUTES"),
        *("USER_TOKENS", "REQUEST_TOKENS", "THOUGHT_TOKENS", "ANSWER_TOKENS", "PASSAGE_CHARS"),
        *("EMBEDDINGS_SECONDS", "PROBE_SECONDS", "SLOW_PAGE_SECONDS", "MIN_CLEANLINESS"),
        *("SEARCH_CACHE_DAYS", "SEARCH_CACHE_MB", "KNOWLEDGE_MB", "REDIRECTS"),
        *("BROWSER_PAGES", "BROWSER_BYTES", "UPLOAD_FILES", "UPLOAD_BYTES"),
    }
)
_LOG = logging.getLogger(__name__)
_told: set[str] = set()


def tell_unread(fields: Collection[str]) -> None:
    """Log each variable that no setting reads, once per process."""
    for name, sentence in unread(fields, os.environ):
        if name not in _told:
            _told.add(name)
            _LOG.warning(sentence)


def unread(fields: Collection[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each variable that no setting reads, with a sentence that names the right one.

    `fields` are the names of the settings.
    """
    known = {field.upper() for field in fields} | _OTHERS
    for name in sorted(environ):
        own = name.upper().startswith(PREFIX) and name.upper().removeprefix(PREFIX)
        instead = f"{PREFIX}{_ELSEWHERE.get(name, '').upper()}"
        if own in _CONSTANT:
            yield name, f"{name} is no longer a setting, and is not read: its default counts."
        elif own and own not in known:
            near = get_close_matches(own, known, 1)
            mend = f"Did you mean {PREFIX}{near[0]}?" if near else "See docs/settings.md."
            yield name, f"{name} is no setting, and is not read. {mend}"
        elif instead != PREFIX and instead not in environ:
            yield name, f"{name} is not read: the setting is {instead}."
        elif name in _ELSEWHERE and instead == PREFIX:
            yield name, f"{name} is not read: it is no setting here. See docs/settings.md."
