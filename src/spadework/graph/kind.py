"""What kind of run one is: runs of one kind on one machine take alike."""

from __future__ import annotations

import hashlib
import os
import platform

from spadework.graph.session_context import SessionContext


def kind_of(context: SessionContext, *, follows: bool, examines: bool) -> str:
    """The kind of a run in words: effort, models, what is searched, whether a session is followed
    up, whether it examines its model first, and what bounds its rounds and pages.
    """
    settings, model = context.settings, context.model
    models = dict.fromkeys((model.name("lead"), model.name("writer"))) if model else ["no model"]
    searched = sorted({provider.name for provider in context.search.providers})
    parts = [
        f"{settings.effort} effort",
        " and ".join(models),
        " and ".join(searched) or "nothing searched",
        f"{settings.iterations} rounds at most",
        f"{settings.preset} selection",
        *(["follow-up"] if follows else []),
        *(["its model examined first"] if examines else []),
    ]
    return ", ".join(parts)


def machine_of(context: SessionContext) -> str:
    """The machine, and the server of the model, as a digest: neither is named."""
    told = (
        platform.node(),
        os.cpu_count(),
        context.settings.openai_base_url if context.model else "",
    )
    return hashlib.blake2b(repr(told).encode(), digest_size=4).hexdigest()
