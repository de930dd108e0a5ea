"""The reception, for interfaces in which users or programs chat."""

from spadework.graph.followup.reception import Greeted, receive

__all__ = ["Greeted", "receive"]
