"""Faults of a Qdrant server in one sentence, without its words, which may hold a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from spadework.errors import KnowledgeError, ModelError


@contextmanager
def in_one_sentence(where: str) -> Iterator[None]:
    """Whatever the client raises, as KnowledgeError."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http import exceptions as client

    late, strange = "did not answer in time", "gave no answer of Qdrant's"
    hint = "Check QDRANT_URL."
    try:
        yield
        return
    except ModelError as error:
        raise KnowledgeError(str(error), hint="Pages cannot be compared by meaning.") from None
    except ResourceExhaustedResponse:
        said, hint = "answered that there were too many requests", ""
    except client.UnexpectedResponse as error:
        said = f"refused the request (status {error.status_code})"
        hint = "Check QDRANT_API_KEY." if error.status_code in (401, 403) else ""
    except client.ResponseHandlingException as error:
        unreached = isinstance(error.source, httpx.TransportError)
        said = "cannot be reached" if unreached else strange
        said = late if isinstance(error.source, httpx.TimeoutException) else said
    except TimeoutError:
        said = late
    except ValueError:  # no JSON, or not the fields that there must be
        said = strange
    except (client.ApiException, httpx.HTTPError) as error:
        said, hint = f"could not be asked ({type(error).__name__})", ""
    raise KnowledgeError(f"Qdrant at {where} {said}.", hint=hint) from None


@contextmanager
def nothing_there() -> Iterator[None]:
    """Where the collection is not there yet, nothing is known: what was to be asked is left out."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code != 404:
            raise
    except ValueError as error:  # what the client's local mode says
        if "not found" not in str(error):
            raise
