"""What goes wrong at a Qdrant server, in one sentence, without its words: they may hold what was
asked, or a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from spadework.errors import KnowledgeError, ModelError


@contextmanager
def in_one_sentence(where: str) -> Iterator[None]:
    """Whatever the client raises, as KnowledgeError."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import (
        ApiException,
        ResponseHandlingException,
        UnexpectedResponse,
    )

    try:
        yield
    except ModelError as error:
        raise KnowledgeError(str(error), hint="Pages cannot be compared by meaning.") from None
    except ResourceExhaustedResponse:
        raise KnowledgeError(
            f"Qdrant at {where} answered that there were too many requests."
        ) from None
    except UnexpectedResponse as error:
        hint = "Check QDRANT_API_KEY." if error.status_code in (401, 403) else ""
        raise KnowledgeError(
            f"Qdrant at {where} refused the request (status {error.status_code}).", hint=hint
        ) from None
    except ResponseHandlingException as error:
        late = isinstance(error.source, httpx.TimeoutException)
        said = (
            "did not answer in time"
            if late
            else "cannot be reached"
            if isinstance(error.source, httpx.TransportError)
            else "gave no answer of Qdrant's"
        )
        raise KnowledgeError(f"Qdrant at {where} {said}.", hint="Check QDRANT_URL.") from None
    except TimeoutError:
        raise KnowledgeError(
            f"Qdrant at {where} did not answer in time.", hint="Check QDRANT_URL."
        ) from None
    except ValueError:  # no JSON, or not the fields that there must be
        raise KnowledgeError(
            f"Qdrant at {where} gave no answer of Qdrant's.", hint="Check QDRANT_URL."
        ) from None
    except (ApiException, httpx.HTTPError) as error:
        raise KnowledgeError(
            f"Qdrant at {where} could not be asked ({type(error).__name__})."
        ) from None


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
