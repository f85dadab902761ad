-- The live tail again, in a table whose rows are numbered: an append then touches the last page alone, where before the
-- rows of the last three pages were laid out anew.

CREATE TABLE live (
    id      INTEGER PRIMARY KEY,                     -- the session's key times 2^36 plus the event's number
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    task    TEXT,
    codec   INTEGER NOT NULL,                        -- 0 as it is, 1 zstd
    payload BLOB    NOT NULL
) STRICT;

INSERT INTO live (id, at, kind, task, codec, payload)
    SELECT (session << 36) + seq, at, kind, task, codec, payload FROM event ORDER BY session, seq;

DROP TABLE event;

-- An older program that has the database open goes on reading and writing under the old name until it ends.
CREATE VIEW event (session, seq, at, kind, task, codec, payload) AS
    SELECT id >> 36, id & 0xfffffffff, at, kind, task, codec, payload FROM live;

CREATE TRIGGER event_added INSTEAD OF INSERT ON event BEGIN
    INSERT INTO live (id, at, kind, task, codec, payload)
        VALUES ((new.session << 36) + new.seq, new.at, new.kind, new.task, new.codec, new.payload);
END;
CREATE TRIGGER event_removed INSTEAD OF DELETE ON event BEGIN
    DELETE FROM live WHERE id = (old.session << 36) + old.seq;
END;
