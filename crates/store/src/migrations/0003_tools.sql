-- What tools leave behind: memory with full-text search, what calls taught, approvals of foreign tools, whole outputs,
-- to-do lists. Kept for good; later versions only add.

CREATE TABLE memory (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT UNIQUE,                          -- null for what was saved without a name
    text       TEXT    NOT NULL,
    tags       TEXT    NOT NULL DEFAULT '',          -- one per line
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE memory_index USING fts5 (
    text, tags, key, content = 'memory', content_rowid = 'id', tokenize = 'porter unicode61'
);

CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    INSERT INTO memory_index (rowid, text, tags, key) VALUES (new.id, new.text, new.tags, new.key);
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
    INSERT INTO memory_index (memory_index, rowid, text, tags, key) VALUES ('delete', old.id, old.text, old.tags, old.key);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memory BEGIN
    INSERT INTO memory_index (memory_index, rowid, text, tags, key) VALUES ('delete', old.id, old.text, old.tags, old.key);
    INSERT INTO memory_index (rowid, text, tags, key) VALUES (new.id, new.text, new.tags, new.key);
END;

-- The last calls of each tool; what is known about a tool is a fold over them.
CREATE TABLE tool_call (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    tool       TEXT    NOT NULL,
    affinity   REAL,                                 -- at the time of choice, where there was one
    ok         INTEGER NOT NULL,
    confidence REAL    NOT NULL,
    latency_ms REAL    NOT NULL,
    code       TEXT                                  -- of the error
) STRICT;

CREATE INDEX tool_call_tool ON tool_call (tool, id);

-- What the person approved of tools of other programs, as a hash of description and arguments.
CREATE TABLE tool_pin (
    tool TEXT PRIMARY KEY,
    hash TEXT    NOT NULL,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_output (
    scope   TEXT    NOT NULL,                        -- a session, or `cli`
    call    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    codec   INTEGER NOT NULL,                        -- 0 as it is, 1 zstd
    payload BLOB    NOT NULL,
    PRIMARY KEY (scope, call)
) STRICT;

CREATE TABLE todo_list (
    scope TEXT PRIMARY KEY,                          -- a session, or a workspace for calls from the command line
    list  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
