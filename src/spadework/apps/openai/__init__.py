"""The OpenAI-compatible API: chat clients use spadework as a model."""
