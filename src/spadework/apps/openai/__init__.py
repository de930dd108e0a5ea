"""The OpenAI-compatible API, which lets chat clients use spadework as a model."""
