"""The reception, for the doors where people and their programs talk."""

from spadework.graph.followup.reception import Greeted, receive

__all__ = ["Greeted", "receive"]
