-- The first schema: sessions, their journal, checkpoints and leases.
-- Kept for good: tests build databases of this version from it. Later versions only add.

CREATE TABLE session (
    key           INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, so that a stale key cannot name a newer session
    id            TEXT    NOT NULL UNIQUE,
    created_at    INTEGER NOT NULL,                  -- microseconds since 1970, like every time here
    updated_at    INTEGER NOT NULL,                  -- last commit, by the clock of this machine
    opened_at     INTEGER,                           -- last time a writer took the lease
    title         TEXT    NOT NULL DEFAULT '',
    goal          TEXT    NOT NULL DEFAULT '',
    workspace     TEXT    NOT NULL DEFAULT '',
    status        TEXT    NOT NULL DEFAULT '',
    pattern       TEXT    NOT NULL DEFAULT '',
    done          INTEGER NOT NULL DEFAULT 0,
    total         INTEGER NOT NULL DEFAULT 0,
    cost_micro    INTEGER NOT NULL DEFAULT 0,
    tokens        INTEGER NOT NULL DEFAULT 0,
    open_requests INTEGER NOT NULL DEFAULT 0,
    head_seq      INTEGER NOT NULL,                  -- equals parent_seq (or 0) until the first own event
    parent        INTEGER REFERENCES session (key),  -- a fork reads its past from here and copies nothing
    parent_seq    INTEGER,
    visibility    INTEGER NOT NULL DEFAULT 0,        -- 0 shown, 1 hidden because forks need it, 2 being removed
    format        INTEGER NOT NULL,                  -- of the event payloads; not interpreted here
    CHECK ((parent IS NULL) = (parent_seq IS NULL)),
    CHECK (head_seq >= coalesce(parent_seq, 0))
) STRICT;

CREATE INDEX session_parent ON session (parent) WHERE parent IS NOT NULL;

-- The live tail, one row per event. No foreign key: the append reads the session row anyway, once per commit and not per row.
CREATE TABLE event (
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL CHECK (seq > 0),
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    task    TEXT,
    codec   INTEGER NOT NULL,                        -- 0 as it is, 1 zstd
    payload BLOB    NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Sealed runs of events. Everything before the live tail of a session is here, without gaps.
CREATE TABLE segment (
    session   INTEGER NOT NULL REFERENCES session (key),
    first_seq INTEGER NOT NULL CHECK (first_seq > 0),
    last_seq  INTEGER NOT NULL,
    contents  BLOB    NOT NULL,                      -- times, kinds, tasks and lengths, compressed apart from the payloads
    payloads  BLOB    NOT NULL,
    PRIMARY KEY (session, first_seq),
    CHECK (last_seq >= first_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
    session INTEGER NOT NULL REFERENCES session (key),
    seq     INTEGER NOT NULL,
    codec   INTEGER NOT NULL,
    payload BLOB    NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Who writes a session. The file lock decides; this row names the holder and fences off the one before.
CREATE TABLE lease (
    session INTEGER PRIMARY KEY REFERENCES session (key),
    epoch   INTEGER NOT NULL,
    pid     INTEGER,                                 -- null once released
    started INTEGER NOT NULL,                        -- start time of that process in clock ticks, 0 if unknown
    host    TEXT    NOT NULL,
    since   INTEGER NOT NULL
) STRICT;
