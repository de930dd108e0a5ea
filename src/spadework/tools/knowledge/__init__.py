"""Store the pages that sessions read, so that later sessions can search them first."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec

from spadework.backend import backend_of
from spadework.errors import SettingsError, how_to_install
from spadework.settings import Settings
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.knowledge.entry import Entry, Knowledge, Recalled, Which
from spadework.tools.ranking.embedder import Meaning, embedder
from spadework.tools.web.urls import host_of

__all__ = ["Entry", "Knowledge", "Recalled", "Which", "knowledge_of", "store_of"]

SERVER_SECONDS = 2.0
#: The name of the Qdrant collection. If each user has a separate collection, its name gets a
#: suffix.
COLLECTION = "spadework"
#: Maximum total size in bytes of the compressed pages. The least recently used pages are deleted
#: first.
MOST_BYTES = 200_000_000


def knowledge_of(settings: Settings, meaning: Meaning | None = None) -> Knowledge | None:
    """Return the configured knowledge store, not yet opened, or None. Raises SettingsError."""
    return store_of(settings, meaning) if settings.knowledge else None


def store_of(settings: Settings, meaning: Meaning | None = None) -> Knowledge:
    """Return the configured knowledge store, even if it is disabled. Raises SettingsError for an
    invalid address or a missing client package.
    """
    if settings.database_url is not None and not settings.qdrant_url:
        shared: Knowledge = backend_of(settings).knowledge(settings, MOST_BYTES)
        return shared
    if not settings.qdrant_url:
        return EmbeddedKnowledge(settings.home / "knowledge", MOST_BYTES, meaning=meaning)
    if not is_http_url(settings.qdrant_url):
        raise SettingsError("QDRANT_URL must be an address such as http://localhost:6333.")
    if find_spec("qdrant_client") is None:
        raise SettingsError(
            "QDRANT_URL needs the package qdrant-client.",
            hint=f"To install it, run {how_to_install('qdrant')}.",
        )
    from spadework.tools.knowledge.qdrant import QdrantKnowledge, client_of

    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else ""
    client = client_of(settings.qdrant_url, key, SERVER_SECONDS)
    where = host_of(settings.qdrant_url)  # only the host, because the URL may contain a key
    return QdrantKnowledge(client, _collection(settings), where, embedder(settings))


def _collection(settings: Settings) -> str:
    if not settings.owner:
        return COLLECTION
    user = hashlib.sha256(settings.home.name.encode()).hexdigest()[:32]
    return f"{COLLECTION}-{user}"
