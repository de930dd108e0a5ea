"""The API's OpenAPI document, derived from its request models."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from pydantic import BaseModel

from spadework.apps.openai.chat_request import ChatRequest
from spadework.apps.openai.responses import ResponseRequest

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
_COMPLETION: dict[str, Any] = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage", "citations"],
    "properties": {
        "object": {"const": "chat.completion"},
        "choices": {"type": "array", "minItems": 1, "maxItems": 1},
        "citations": {"type": "array", "items": _TEXT},
    },
}

_RESPONSE = {
    "type": "object",
    "required": ["id", "object", "status", "output", "usage", "citations"],
    "properties": {
        "object": {"const": "response"},
        "citations": _COMPLETION["properties"]["citations"],
    },
}


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document."""
    chat, chat_parts = _schema(ChatRequest)
    response, response_parts = _schema(ResponseRequest)
    named = {"in": "path", "name": "name", "required": True, "schema": _TEXT}
    return {
        "openapi": "3.1.0",
        "info": {"title": "spadework OpenAI-compatible API", "version": version("spadework")},
        "paths": {
            "/v1/models": {
                "get": {"responses": {"200": _answer("The available models.", {"type": "object"})}}
            },
            "/v1/models/{name}": {
                "get": {
                    "parameters": [named],
                    "responses": {
                        "200": _answer("The requested model.", _MODEL),
                        "404": _answer("No such model.", _REFUSED),
                    },
                }
            },
            "/v1/chat/completions": _post(chat, "completion", _COMPLETION),
            "/v1/responses": _post(response, "response", _RESPONSE),
        },
        "components": {"schemas": chat_parts | response_parts},
    }


_REFUSALS = {
    "400": "The request is not valid.",
    "404": "No such model or session.",
    "413": "The request is too large.",
    "429": "Too many questions at once.",
    "503": "The research failed.",
}


def _answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _post(request: dict[str, Any], what: str, schema: dict[str, Any]) -> dict[str, Any]:
    answer = _answer(f"A {what} or, with `stream`, its events.", schema)
    answer["content"]["text/event-stream"] = {"schema": _TEXT}
    refusals = {status: _answer(text, _REFUSED) for status, text in _REFUSALS.items()}
    body = {"required": True, "content": {"application/json": {"schema": request}}}
    return {"post": {"requestBody": body, "responses": {"200": answer} | refusals}}


def _schema(kind: type[BaseModel]) -> tuple[dict[str, Any], dict[str, Any]]:
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    return schema, schema.pop("$defs", {})
