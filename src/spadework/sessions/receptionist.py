"""The reception: answers to chat messages that need no research."""

from spadework.agents.receptionist import Greeted, receive

__all__ = ["Greeted", "receive"]
