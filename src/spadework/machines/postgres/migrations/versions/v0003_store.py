"""Create the tables for lists, deleted sessions, answers and knowledge.

Lists (users' tokens, shared sessions) are read by all servers. Machines hide copies of `deleted`
sessions. `answers` finds the session of an answer that a chat client sends back. Each user has
their own known pages.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

#: `version` counts a list's changes. Readers that know it fetch no rows.
_LISTS = "CREATE TABLE lists (name text PRIMARY KEY, version bigint NOT NULL, rows text NOT NULL)"
_DELETED = "CREATE TABLE deleted (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
_ANSWERS = """
CREATE TABLE answers (
    owner text NOT NULL, hash text NOT NULL,
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    PRIMARY KEY (owner, hash)
);
CREATE INDEX answers_by_session ON answers (session)
"""
#: A passage's words include its owner, so that the index finds only the owner's passages.
_KNOWLEDGE = """
CREATE TABLE known_pages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL, url text NOT NULL, host text NOT NULL, record text NOT NULL,
    packed bytea NOT NULL, own boolean NOT NULL, bytes bigint NOT NULL, passages integer NOT NULL,
    fetched_at double precision NOT NULL, used_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (owner, url)
);
ALTER TABLE known_pages ALTER packed SET STORAGE EXTERNAL;
CREATE TABLE known_passages (
    page bigint NOT NULL REFERENCES known_pages ON DELETE CASCADE,
    owner text NOT NULL, begins integer NOT NULL, ends integer NOT NULL, words tsvector NOT NULL,
    PRIMARY KEY (page, begins)
);
CREATE INDEX known_words ON known_passages USING gin (words)
"""


def upgrade() -> None:
    """Create the tables."""
    for statement in (_LISTS, _DELETED, *_ANSWERS.split(";"), *_KNOWLEDGE.split(";")):
        op.execute(statement)
