-- Reading at a glance: stretches of the timeline, full text, bookmarks, and where an imported session came from.
-- Only adds: everything here can be made again from the journal, but for bookmarks and origins.

CREATE TABLE stretch (
    session  INTEGER NOT NULL REFERENCES session (key),
    last_seq INTEGER NOT NULL,                       -- the stretch ends with this event and follows the one before it
    head     BLOB    NOT NULL,
    codec    INTEGER NOT NULL,
    steps    BLOB    NOT NULL,
    PRIMARY KEY (session, last_seq)
) STRICT;

-- Words of events. The row id is the session's key times 2^36 plus the event's number; the text itself is in the journal.
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'unicode61 remove_diacritics 0'
);

-- Up to which event of a session its words are in the table above.
CREATE TABLE worded (
    session INTEGER PRIMARY KEY REFERENCES session (key),
    upto    INTEGER NOT NULL
) STRICT;

CREATE TABLE bookmark (
    session INTEGER NOT NULL REFERENCES session (key),
    seq     INTEGER NOT NULL CHECK (seq > 0),
    note    TEXT    NOT NULL DEFAULT '',
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;

CREATE TABLE origin (
    session INTEGER PRIMARY KEY REFERENCES session (key),
    source  TEXT    NOT NULL,                        -- what kind of file it came from
    header  TEXT    NOT NULL,                        -- the header of the export, as it stood there; empty for other files
    at      INTEGER NOT NULL
) STRICT;
