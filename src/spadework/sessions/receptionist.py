"""The reception, for interfaces where users and their programs chat."""

from spadework.graph.followup.reception import Greeted, receive

__all__ = ["Greeted", "receive"]
