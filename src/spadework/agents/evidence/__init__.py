"""Check evidence without a model, and derive facts from it."""
