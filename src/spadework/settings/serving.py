"""What `serve` and MCP answer with, and where sessions are kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import BaseModel, Field, SecretStr

from spadework.settings.kinds import Words


class Serving(BaseModel):
    """What `serve` and MCP answer with, and where sessions are kept."""

    # Serving
    token: SecretStr | None = Field(
        None,
        description=(
            "What requests to `serve` must bring. Unset: none on this machine alone; beyond it one"
            " is made and printed."
        ),
    )
    serve_hosts: Words = Field(
        (),
        description=(
            "Host names that `serve` answers to, besides addresses and this machine's own name."
        ),
    )
    answer_tokens: int = Field(
        20_000,
        ge=4_000,
        le=1_000_000,
        description=(
            "Most tokens in one answer of an MCP tool, its text and its structured content"
            " together."
        ),
    )
    upload_files: int = Field(
        5, ge=0, le=100, description="Most files given along with a question on the web page."
    )
    upload_bytes: int = Field(
        20_000_000,
        ge=1_000,
        description="Most bytes of all files given along with a question on the web page.",
    )

    # Sessions
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("spadework")),
        description="Where sessions and indexes are kept.",
    )
