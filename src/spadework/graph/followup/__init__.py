"""How a report changes: revised, extended, checked again in part."""
