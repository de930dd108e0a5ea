"""The knowledge store: pages that runs have read, searched before the web is."""

from spadework.tools.knowledge.choose import knowledge_of
from spadework.tools.knowledge.entry import Entry, Recalled, Which
from spadework.tools.knowledge.store import Knowledge

__all__ = ["Entry", "Knowledge", "Recalled", "Which", "knowledge_of"]
