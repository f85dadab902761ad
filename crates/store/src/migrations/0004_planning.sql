-- Plans at a glance, made again from the journal whenever need be, and answers from other processes on their way.
-- Kept for good; later versions only add.

CREATE TABLE plans (
    session         INTEGER NOT NULL REFERENCES session (key),
    version         INTEGER NOT NULL,                -- of the outline
    goal_id         TEXT    NOT NULL,
    pattern_type    TEXT    NOT NULL,
    pattern_subtype TEXT,
    pattern_variant TEXT,
    PRIMARY KEY (session, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX plans_pattern_type ON plans (pattern_type);
CREATE INDEX plans_pattern_subtype ON plans (pattern_subtype) WHERE pattern_subtype IS NOT NULL;
CREATE INDEX plans_pattern_variant ON plans (pattern_variant) WHERE pattern_variant IS NOT NULL;

CREATE TABLE plan_node (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    node    TEXT    NOT NULL,
    PRIMARY KEY (session, version, node),
    FOREIGN KEY (session, version) REFERENCES plans (session, version) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A block belongs to a node of the same version of the same plan.
CREATE TABLE plan_block (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    block   TEXT    NOT NULL,
    node    TEXT    NOT NULL,
    start   INTEGER NOT NULL,                        -- microseconds since 1970
    finish  INTEGER NOT NULL,
    PRIMARY KEY (session, version, block),
    FOREIGN KEY (session, version, node) REFERENCES plan_node (session, version, node) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX plan_block_node ON plan_block (session, version, node);

-- Sessions whose plans are in the tables above; the plans of others are made from their journal when they are asked for.
CREATE TABLE projected (
    session INTEGER PRIMARY KEY REFERENCES session (key)
) STRICT;

-- Answers that another process gave. Whoever holds the lease takes them and treats them like any command.
CREATE TABLE inbox (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,       -- never reused, so that the sender knows when its own was taken
    session INTEGER NOT NULL REFERENCES session (key),
    at      INTEGER NOT NULL,
    request INTEGER NOT NULL,
    answer  TEXT    NOT NULL                         -- JSON, redacted
) STRICT;

CREATE INDEX inbox_session ON inbox (session, id);
