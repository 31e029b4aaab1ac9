-- Times are milliseconds since 1970-01-01 UTC. Every table belongs to tenants: nothing of one is seen by another.

-- A session is the messages with a number, the epochs and the undos of epochs, each done at its `sequence`.
CREATE TABLE sessions (
    tenant        TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    -- How many changes it has seen; the sequence of the next one.
    version       INTEGER NOT NULL,
    agent         TEXT,
    title         TEXT,
    -- The title in lower case, to search in.
    title_folded  TEXT,
    -- What the host keeps about it: JSON.
    settings      TEXT    NOT NULL,
    -- The tool definitions: JSON.
    tools         TEXT,
    messages      INTEGER NOT NULL,
    epochs        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_newest ON sessions (tenant, updated_at DESC, id);

-- Compactions. `body` is the epoch as JSON, as it was when it was committed.
CREATE TABLE epochs (
    tenant           TEXT    NOT NULL,
    session          TEXT    NOT NULL,
    epoch            INTEGER NOT NULL,
    sequence         INTEGER NOT NULL,
    -- How many rows of `archive` were committed with it.
    items            INTEGER NOT NULL,
    origin           TEXT    NOT NULL,
    started_by       TEXT    NOT NULL,
    log_length       INTEGER NOT NULL,
    tokens_before    INTEGER,
    tokens_after     INTEGER,
    committed_at     INTEGER NOT NULL,
    -- When it was undone, and which change that was.
    undone_at        INTEGER,
    undone_sequence  INTEGER,
    body             TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, epoch),
    FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);

-- What was said (with a number, from 0), and what compactions in force added (with an epoch). `body` is the message as
-- JSON, as it was recorded.
CREATE TABLE messages (
    tenant           TEXT    NOT NULL,
    session          TEXT    NOT NULL,
    message          TEXT    NOT NULL,
    sequence         INTEGER NOT NULL,
    number           INTEGER,
    added_epoch      INTEGER,
    added_index      INTEGER,
    role             TEXT    NOT NULL,
    origin           TEXT    NOT NULL,
    is_summary       INTEGER NOT NULL,
    -- When it left the view for good, with which epoch, and the id of the message that stands in its place, if any.
    compacted_at     INTEGER,
    compacted_epoch  INTEGER,
    compacted_into   TEXT,
    stored_at        INTEGER NOT NULL,
    body             TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, message),
    FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX messages_log ON messages (tenant, session, number);
CREATE UNIQUE INDEX messages_added ON messages (tenant, session, added_epoch, added_index);
CREATE INDEX messages_behind ON messages (tenant, session, compacted_into) WHERE compacted_into IS NOT NULL;

-- What left the context: references into the log wherever its content is there. `body` is JSON.
CREATE TABLE archive (
    tenant   TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    handle   TEXT    NOT NULL,
    epoch    INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, handle),
    FOREIGN KEY (tenant, session, epoch) REFERENCES epochs (tenant, session, epoch) ON DELETE CASCADE
);
CREATE UNIQUE INDEX archive_order ON archive (tenant, session, epoch, place);

-- Memories outlive the sessions in which they were said. `body` is JSON.
CREATE TABLE memories (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    session    TEXT,
    kind       TEXT    NOT NULL,
    stored_at  INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (tenant, id)
);
CREATE INDEX memories_session ON memories (tenant, session, number);

-- What memories are found by: words in lower case, and pairs of Chinese characters.
CREATE TABLE memory_words (
    tenant  TEXT NOT NULL,
    word    TEXT NOT NULL,
    memory  TEXT NOT NULL,
    PRIMARY KEY (tenant, word, memory),
    FOREIGN KEY (tenant, memory) REFERENCES memories (tenant, id) ON DELETE CASCADE
);
CREATE INDEX memory_words_memory ON memory_words (tenant, memory);

CREATE TABLE agents (
    tenant      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    settings    TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The key of a channel is the name of an environment variable or of a file, never the key itself.
CREATE TABLE channels (
    tenant           TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    settings         TEXT    NOT NULL,
    key_environment  TEXT,
    key_file         TEXT,
    updated_at       INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
);
