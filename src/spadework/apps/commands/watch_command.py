"""`spadework watch`: repeat a research question and report only changes."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from spadework.apps import options

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
#: The fraction of the `--every` interval that must pass before the next run. It is below 1 because
#: timers can fire early.
_EARLY = 0.95
Every = Annotated[
    str,
    typer.Option(
        "--every",
        help="Do nothing if the last run is more recent than this: 30m, 12h, 1d, 1w, …",
        show_default=False,
    ),
]
Feed = Annotated[
    Path | None, typer.Option("--feed", help="Also add the changes to this Atom feed.")
]
Webhook = Annotated[
    str, typer.Option("--webhook", help="Also post the changes to this URL, as JSON.")
]


def watch(
    context: typer.Context,
    question: options.Question,
    every: Every = "",
    feed: Feed = None,
    webhook: Webhook = "",
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    effort: options.Effort = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the changes as one JSON object.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Research a question again and print only what changed. Each change comes with its quotes. If
    nothing changed, nothing is printed. Meant for a scheduler such as cron.
    """
    settings = options.settings_of(context)
    wait = _parse_span(every)
    from spadework.apps.messages import say, say_json
    from spadework.apps.outputs import check_writable
    from spadework.sessions import changes

    if feed:
        check_writable(feed)
        changes.read_feed(feed)
    if webhook:
        changes.check_webhook(webhook)
    asked = " ".join(question)
    earlier, before = changes.earlier_run(settings.home, asked) or (None, None)
    if earlier and timedelta(0) <= datetime.now(UTC) - earlier.created_at < wait:
        return
    found = asyncio.run(changes.run_again(settings, asked, before))
    if before is None:
        say("This is the first run. The next one will report what changed.", err=True)
    if found.changes:
        say_json(found.model_dump_json()) if as_json else say(found.markdown())
        if webhook:
            asyncio.run(changes.post(webhook, found))
        if feed:  # last, so that a failed webhook adds nothing to the feed
            changes.write_feed(feed, found)
    changes.mark_told(settings.home, found.session_id)


def _parse_span(text: str) -> timedelta:
    from spadework.errors import SettingsError, must_be

    span = re.fullmatch(r"(\d{1,4})([mhdw])", text)
    if text and not span:
        wanted = "a number and a unit such as 30m, 12h, 1d or 1w"
        raise SettingsError(must_be("--every", wanted, text))
    return timedelta(seconds=_EARLY * int(span[1]) * _UNITS[span[2]] if span else 0)
