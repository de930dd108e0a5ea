"""Create the session tables. Deleting a session deletes everything stored about it.

PostgreSQL need not compress columns named `packed`, which are compressed already.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

_TABLES = """
CREATE TABLE sessions (
    id text PRIMARY KEY,
    owner text NOT NULL,
    state text NOT NULL,
    run integer NOT NULL DEFAULT 0,
    worker text NOT NULL DEFAULT '',
    brief text NOT NULL,
    metadata text NOT NULL,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_by_owner ON sessions (owner, id DESC);
CREATE INDEX sessions_that_wait ON sessions (submitted_at) WHERE state IN ('waiting', 'running');
CREATE TABLE events (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    number integer NOT NULL, line text NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE journal (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    key text NOT NULL, kind text NOT NULL, subject text NOT NULL, answer text, error text,
    used text NOT NULL, elapsed double precision NOT NULL, at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session, key)
);
CREATE TABLE exchanges (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    number integer NOT NULL, key text NOT NULL, kind text NOT NULL, request bytea NOT NULL,
    pieces text NOT NULL, error text, used text NOT NULL, elapsed double precision NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session, number)
);
CREATE INDEX exchanges_by_key ON exchanges (session, key);
CREATE TABLE bodies (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    hash text NOT NULL, packed bytea NOT NULL,
    PRIMARY KEY (session, hash)
);
CREATE TABLE files (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    name text NOT NULL, packed bytea NOT NULL,
    PRIMARY KEY (session, name)
);
CREATE TABLE signals (
    session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id text NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL, told text NOT NULL, events integer NOT NULL,
    PRIMARY KEY (session, id)
);
ALTER TABLE exchanges ALTER request SET STORAGE EXTERNAL;
ALTER TABLE bodies ALTER packed SET STORAGE EXTERNAL;
ALTER TABLE files ALTER packed SET STORAGE EXTERNAL;
"""
#: Notify watchers of a session's events and end, and its runner of user commands and takeovers.
_TOLD = """
CREATE FUNCTION tell_watchers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('spadework_events', NEW.session);
    RETURN NULL;
END $$;;
CREATE FUNCTION tell_workers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('spadework_signals', NEW.session);
    RETURN NULL;
END $$;;
CREATE FUNCTION tell_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('spadework_events', NEW.id), pg_notify('spadework_signals', NEW.id);
    RETURN NULL;
END $$;;
CREATE TRIGGER tell AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION tell_watchers();;
CREATE TRIGGER tell AFTER INSERT ON signals FOR EACH ROW EXECUTE FUNCTION tell_workers();;
CREATE TRIGGER tell AFTER UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION tell_all();;
"""


def upgrade() -> None:
    """Create the tables."""
    statements = [*_TABLES.split(";"), *_TOLD.split(";;")]
    for statement in filter(None, map(str.strip, statements)):
        op.execute(statement)
