"""This API as an OpenAPI document, derived from its request models."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from spadework.apps.openai.chat_request import ChatRequest

_TEXT = {"type": "string"}
_MODEL = {
    "type": "object",
    "required": ["id", "object"],
    "properties": {"id": _TEXT, "object": {"const": "model"}},
}
_REFUSED = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {"message": _TEXT, "type": _TEXT},
        }
    },
}
_COMPLETION = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage", "citations"],
    "properties": {
        "object": {"const": "chat.completion"},
        "choices": {"type": "array", "minItems": 1, "maxItems": 1},
        "citations": {"type": "array", "items": _TEXT},
    },
}


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document."""
    request = ChatRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = request.pop("$defs", {})
    named = {"in": "path", "name": "name", "required": True, "schema": _TEXT}
    answers = {"200": _answer("A completion, or with `stream` its chunks.", _COMPLETION) | _STREAM}
    refusals = {status: _answer(text, _REFUSED) for status, text in _REFUSALS.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "spadework, OpenAI-compatible", "version": version("spadework")},
        "paths": {
            "/v1/models": {
                "get": {"responses": {"200": _answer("The models.", {"type": "object"})}}
            },
            "/v1/models/{name}": {
                "get": {
                    "parameters": [named],
                    "responses": {
                        "200": _answer("The model.", _MODEL),
                        "404": _answer("No such model.", _REFUSED),
                    },
                }
            },
            "/v1/chat/completions": {
                "post": {
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": request}},
                    },
                    "responses": answers | refusals,
                }
            },
        },
        "components": {"schemas": parts},
    }


_REFUSALS = {
    "400": "The request cannot be answered as it is.",
    "404": "No such model or session.",
    "413": "The request is too large.",
    "429": "Too many questions at once.",
    "503": "The research could not be done.",
}


def _answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


_STREAM = {
    "content": {"application/json": {"schema": _COMPLETION}, "text/event-stream": {"schema": _TEXT}}
}
