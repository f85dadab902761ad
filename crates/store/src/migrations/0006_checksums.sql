-- Checksums of live events, of sealed runs and of sessions, so that a changed bit is found and named.
-- Nothing is rewritten here: existing rows read the default, which stands for "written without a checksum". Live rows get
-- theirs when they are sealed, sealed runs and sessions in the background. Kept for good; later versions only add.

ALTER TABLE live ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE session ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;

-- A table of its own: a checksum that is added later then costs a few bytes and not the rewriting of the run.
CREATE TABLE segment_sum (
    session   INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    sum       INTEGER NOT NULL,
    PRIMARY KEY (session, first_seq)
) STRICT, WITHOUT ROWID;

-- Sessions that may have sealed runs without a checksum. In all others a missing one is damage.
CREATE TABLE unsummed (
    session INTEGER PRIMARY KEY REFERENCES session (key)
) STRICT;

INSERT INTO unsummed (session) SELECT key FROM session;

-- An older program that has the database open goes on sealing and creating sessions without checksums until it ends.
CREATE TRIGGER segment_without_sum AFTER INSERT ON segment
    WHEN NOT EXISTS (SELECT 1 FROM segment_sum WHERE session = new.session AND first_seq = new.first_seq)
BEGIN
    INSERT OR IGNORE INTO unsummed (session) VALUES (new.session);
END;
CREATE TRIGGER session_without_sum AFTER INSERT ON session WHEN new.sum = -1
BEGIN
    INSERT OR IGNORE INTO unsummed (session) VALUES (new.key);
END;
CREATE TRIGGER session_hidden_without_sum AFTER UPDATE OF visibility ON session WHEN new.sum = old.sum AND new.sum <> -1
BEGIN
    UPDATE session SET sum = -1 WHERE key = new.key;
    INSERT OR IGNORE INTO unsummed (session) VALUES (new.key);
END;
