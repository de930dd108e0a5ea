"""The reception: answers to chat messages that need no research."""

from spadework.graph.followup.reception import Greeted, receive

__all__ = ["Greeted", "receive"]
