"""Keep pages that earlier sessions read. They are searched before the web."""

from spadework.tools.knowledge.entry import Entry, Knowledge, Recalled, Which
from spadework.tools.knowledge.store_choice import knowledge_of

__all__ = ["Entry", "Knowledge", "Recalled", "Which", "knowledge_of"]
