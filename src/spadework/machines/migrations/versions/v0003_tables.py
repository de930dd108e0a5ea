"""Create the tables for sessions, shared limits, lists, answers and knowledge.

Deleting a session deletes everything stored about it. Columns named `packed` hold compressed data,
which PostgreSQL need not compress again.

- `lists`: users' tokens and shared sessions, which all servers read.
- `deleted`: deleted sessions, so that machines hide their local copies.
- `answers`: the session that gave each answer, for chat clients that send answers back.
- `known_pages`: pages that each user's runs have read, stored for later runs.
"""

from __future__ import annotations

from alembic import op

#: This migration replaces three earlier ones, hence the number 0003.
revision = "0003"
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
#: Triggers that notify a session's watchers of events, and the session's worker of commands and
#: takeovers.
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
#: Tables that limit concurrent uses of shared resources (each use holds a slot), concurrent runs
#: and daily spending. The slot tables are unlogged, so that taking a slot does not write to disk.
_LIMITS = """
CREATE UNLOGGED TABLE askers (
    process text PRIMARY KEY,
    lapses_at timestamptz NOT NULL
);
CREATE UNLOGGED TABLE rooms (
    what text PRIMARY KEY,
    next_at timestamptz NOT NULL DEFAULT 'epoch',
    shut_until timestamptz NOT NULL DEFAULT 'epoch',
    asked_at timestamptz NOT NULL
);
CREATE UNLOGGED TABLE places (
    ticket text PRIMARY KEY,
    what text NOT NULL, process text NOT NULL, owner text NOT NULL, session text NOT NULL,
    most integer NOT NULL, every double precision NOT NULL,
    held boolean NOT NULL DEFAULT false,
    asked_at timestamptz NOT NULL
);
CREATE INDEX places_by_what ON places (what);
CREATE UNLOGGED TABLE calls (
    what text NOT NULL, owner text NOT NULL, session text NOT NULL,
    called_at timestamptz NOT NULL,
    PRIMARY KEY (what, owner, session)
);
CREATE TABLE spent (
    owner text NOT NULL, day date NOT NULL, process text NOT NULL,
    tokens bigint NOT NULL, money double precision NOT NULL,
    held_tokens bigint NOT NULL, held_money double precision NOT NULL,
    held_until timestamptz NOT NULL,
    PRIMARY KEY (owner, day, process)
);
ALTER TABLE sessions ADD COLUMN most_runs integer NOT NULL DEFAULT 0;
"""
#: Functions that assign a resource's slots while the resource's row in `rooms` is locked. A free
#: slot goes to the waiting user who holds the fewest slots of the resource, and to that user's
#: waiting session with the fewest slots.
_PLACES = """
CREATE FUNCTION call_in(room text, own text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first record;
    inside integer;
BEGIN
    DELETE FROM places WHERE what = room AND process NOT IN
        (SELECT process FROM askers WHERE lapses_at > clock_timestamp());
    SELECT count(*) INTO inside FROM places WHERE what = room AND held;
    LOOP
        PERFORM FROM rooms
            WHERE what = room AND greatest(next_at, shut_until) > clock_timestamp();
        EXIT WHEN FOUND OR inside >=
            (SELECT coalesce(max(most), 0) FROM places WHERE what = room AND NOT held);
        SELECT * INTO first FROM (
            SELECT *, count(*) FILTER (WHERE held) OVER (PARTITION BY owner) AS of_owner,
                count(*) FILTER (WHERE held) OVER (PARTITION BY owner, session) AS of_session,
                max(called_at) OVER (PARTITION BY owner) AS owner_called_at
            FROM places LEFT JOIN calls USING (what, owner, session) WHERE what = room
        ) AS present
            WHERE NOT held
            ORDER BY of_owner, of_session, owner_called_at NULLS FIRST,
                called_at NULLS FIRST, asked_at, ticket
            LIMIT 1;
        EXIT WHEN inside >= first.most;
        inside := inside + 1;
        UPDATE places SET held = true WHERE ticket = first.ticket;
        IF first.every > 0 THEN
            UPDATE rooms SET next_at = clock_timestamp() + make_interval(secs => first.every)
                WHERE what = room;
        END IF;
        INSERT INTO calls VALUES (room, first.owner, first.session, clock_timestamp())
            ON CONFLICT (what, owner, session) DO UPDATE SET called_at = excluded.called_at;
        IF first.ticket <> own THEN
            PERFORM pg_notify('spadework_places', first.ticket);
        END IF;
    END LOOP;
END $$;;
CREATE FUNCTION ask_place(
    asked places, lease double precision,
    OUT inside boolean, OUT wanted boolean,
    OUT opens double precision, OUT shut double precision
) LANGUAGE plpgsql AS $$
DECLARE
    room rooms;
BEGIN
    INSERT INTO askers VALUES (asked.process, clock_timestamp() + make_interval(secs => lease))
        ON CONFLICT (process) DO UPDATE SET lapses_at = excluded.lapses_at
        WHERE askers.lapses_at < clock_timestamp();
    INSERT INTO rooms (what, asked_at) VALUES (asked.what, clock_timestamp())
        ON CONFLICT (what) DO UPDATE SET asked_at = excluded.asked_at;
    asked.asked_at := clock_timestamp();
    INSERT INTO places SELECT asked.*
        ON CONFLICT (ticket) DO UPDATE SET most = excluded.most;
    PERFORM call_in(asked.what, asked.ticket);
    SELECT * INTO room FROM rooms WHERE what = asked.what;
    SELECT held INTO inside FROM places WHERE ticket = asked.ticket;
    wanted := EXISTS (SELECT FROM places
        WHERE what = asked.what AND NOT held AND process <> asked.process);
    opens := greatest(0, extract(epoch FROM room.next_at - clock_timestamp()));
    shut := greatest(0, extract(epoch FROM room.shut_until - clock_timestamp()));
    IF NOT inside THEN
        PERFORM pg_notify('spadework_places', asked.what);
    END IF;
END $$;;
CREATE FUNCTION leave_places(tickets text[], shuts double precision[])
    RETURNS TABLE (room text, wanted boolean) LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT places.what, array_agg(places.ticket) AS left_by, max(leaving.shut) AS shut
            FROM unnest(tickets, shuts) AS leaving (ticket, shut) JOIN places USING (ticket)
            GROUP BY places.what ORDER BY places.what
    LOOP
        UPDATE rooms SET shut_until =
            greatest(shut_until, clock_timestamp() + make_interval(secs => one.shut))
            WHERE what = one.what;
        DELETE FROM places WHERE ticket = ANY (one.left_by);
        PERFORM call_in(one.what, '');
        RETURN QUERY SELECT one.what, EXISTS
            (SELECT FROM places WHERE what = one.what AND NOT held);
    END LOOP;
END $$;;
"""
#: A function with which a process reports a user's spending of the day and learns the other
#: processes' total. A lock lets only one process at a time report for a user.
_DAY = """
CREATE FUNCTION tell_spent(
    own spent, OUT tokens bigint, OUT money double precision,
    OUT held_tokens bigint, OUT held_money double precision
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('day of ' || own.owner));
    INSERT INTO spent SELECT own.* ON CONFLICT (owner, day, process) DO UPDATE SET
        tokens = excluded.tokens, money = excluded.money, held_tokens = excluded.held_tokens,
        held_money = excluded.held_money, held_until = excluded.held_until;
    SELECT coalesce(sum(s.tokens), 0), coalesce(sum(s.money), 0),
        coalesce(sum(s.held_tokens) FILTER (WHERE s.held_until > now()), 0),
        coalesce(sum(s.held_money) FILTER (WHERE s.held_until > now()), 0)
        INTO tokens, money, held_tokens, held_money FROM spent AS s
        WHERE s.owner = own.owner AND s.day = own.day AND s.process <> own.process;
END $$;;
"""
#: A view of the waiting sessions in queue order, and a function that claims a session. Users with
#: the fewest running sessions come first, and users at their limit come last.
_RUNS = """
CREATE VIEW queued AS
    SELECT id, owner, most_runs, ahead, most_runs > 0 AND ahead >= most_runs AS held_back,
        row_number() OVER
            (ORDER BY most_runs > 0 AND ahead >= most_runs, ahead, submitted_at, id) AS place,
        count(*) OVER () AS waiting
    FROM (
        SELECT *, count(*) FILTER (WHERE state = 'running') OVER (PARTITION BY owner)
            + row_number() OVER (PARTITION BY owner, state ORDER BY submitted_at, id) - 1 AS ahead
        FROM sessions WHERE state IN ('waiting', 'running')
    ) AS counted
    WHERE state = 'waiting';;
CREATE FUNCTION take_session(one text, by text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    taken sessions;
BEGIN
    SELECT * INTO taken FROM sessions WHERE id = one;
    IF taken.most_runs > 0 THEN
        PERFORM pg_advisory_xact_lock(hashtext('runs of ' || taken.owner));
        IF (SELECT count(*) FROM sessions WHERE owner = taken.owner AND state = 'running'
            AND id <> one) >= taken.most_runs
        THEN
            RETURN NULL;
        END IF;
    END IF;
    UPDATE sessions SET state = 'running', run = run + 1, worker = by, changed_at = now()
        WHERE id = one AND state IN ('waiting', 'running') RETURNING * INTO taken;
    RETURN CASE WHEN FOUND THEN taken.run END;
END $$;;
"""
#: `version` counts a list's changes, so that readers can skip unchanged lists.
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
#: The words stored for a passage include a word that identifies its owner, so that a search of the
#: index finds only that owner's passages.
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
    functions = (_TOLD, _PLACES, _DAY, _RUNS)
    statements = [
        *_TABLES.split(";"),
        *_LIMITS.split(";"),
        *(part for each in functions for part in each.split(";;")),
        *(part for each in (_LISTS, _DELETED, _ANSWERS, _KNOWLEDGE) for part in each.split(";")),
    ]
    for statement in filter(None, map(str.strip, statements)):
        op.execute(statement)
