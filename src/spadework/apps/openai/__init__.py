"""The OpenAI-compatible door: any chat client can use spadework as a model."""
