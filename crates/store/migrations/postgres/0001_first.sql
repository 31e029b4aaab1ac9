-- Names compare by their bytes (COLLATE "C"), whatever the language of the database.
--
-- Times are milliseconds since 1970-01-01 UTC. Every table belongs to tenants: nothing of one is seen by another.

-- A session is the messages with a number, the epochs and the undos of epochs, each done at its `sequence`.
CREATE TABLE sessions (
    tenant        TEXT COLLATE "C"    NOT NULL,
    id            TEXT COLLATE "C"    NOT NULL,
    -- How many changes it has seen; the sequence of the next one.
    version       BIGINT NOT NULL,
    agent         TEXT,
    title         TEXT,
    -- The title in lower case, to search in.
    title_folded  TEXT,
    -- What the host keeps about it: JSON.
    settings      TEXT    NOT NULL,
    -- The tool definitions: JSON.
    tools         TEXT,
    messages      BIGINT NOT NULL,
    epochs        BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_newest ON sessions (tenant, updated_at DESC, id);

-- Compactions. `body` is the epoch as JSON, as it was when it was committed.
CREATE TABLE epochs (
    tenant           TEXT COLLATE "C"    NOT NULL,
    session          TEXT COLLATE "C"    NOT NULL,
    epoch            BIGINT NOT NULL,
    sequence         BIGINT NOT NULL,
    -- How many rows of `archive` were committed with it.
    items            BIGINT NOT NULL,
    origin           TEXT    NOT NULL,
    started_by       TEXT    NOT NULL,
    log_length       BIGINT NOT NULL,
    tokens_before    BIGINT,
    tokens_after     BIGINT,
    committed_at     BIGINT NOT NULL,
    -- When it was undone, and which change that was.
    undone_at        BIGINT,
    undone_sequence  BIGINT,
    body             TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, epoch),
    FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);

-- What was said (with a number, from 0), and what compactions in force added (with an epoch). `body` is the message as
-- JSON, as it was recorded.
CREATE TABLE messages (
    tenant           TEXT COLLATE "C"    NOT NULL,
    session          TEXT COLLATE "C"    NOT NULL,
    message          TEXT COLLATE "C"    NOT NULL,
    sequence         BIGINT NOT NULL,
    number           BIGINT,
    added_epoch      BIGINT,
    added_index      BIGINT,
    role             TEXT    NOT NULL,
    origin           TEXT    NOT NULL,
    is_summary       BOOLEAN NOT NULL,
    -- When it left the view for good, with which epoch, and the id of the message that stands in its place, if any.
    compacted_at     BIGINT,
    compacted_epoch  BIGINT,
    compacted_into   TEXT COLLATE "C" ,
    stored_at        BIGINT NOT NULL,
    body             TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, message),
    FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX messages_log ON messages (tenant, session, number);
CREATE UNIQUE INDEX messages_added ON messages (tenant, session, added_epoch, added_index);
CREATE INDEX messages_behind ON messages (tenant, session, compacted_into) WHERE compacted_into IS NOT NULL;

-- What left the context: references into the log wherever its content is there. `body` is JSON.
CREATE TABLE archive (
    tenant   TEXT COLLATE "C"    NOT NULL,
    session  TEXT COLLATE "C"    NOT NULL,
    handle   TEXT COLLATE "C"    NOT NULL,
    epoch    BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (tenant, session, handle),
    FOREIGN KEY (tenant, session, epoch) REFERENCES epochs (tenant, session, epoch) ON DELETE CASCADE
);
CREATE UNIQUE INDEX archive_order ON archive (tenant, session, epoch, place);

-- Memories outlive the sessions in which they were said. `body` is JSON.
CREATE TABLE memories (
    number     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     TEXT COLLATE "C"    NOT NULL,
    id         TEXT COLLATE "C"    NOT NULL,
    session    TEXT COLLATE "C" ,
    kind       TEXT    NOT NULL,
    stored_at  BIGINT NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (tenant, id)
);
CREATE INDEX memories_session ON memories (tenant, session, number);

-- What memories are found by: words in lower case, and pairs of Chinese characters.
CREATE TABLE memory_words (
    tenant  TEXT COLLATE "C" NOT NULL,
    word    TEXT COLLATE "C" NOT NULL,
    memory  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, word, memory),
    FOREIGN KEY (tenant, memory) REFERENCES memories (tenant, id) ON DELETE CASCADE
);
CREATE INDEX memory_words_memory ON memory_words (tenant, memory);

CREATE TABLE agents (
    tenant      TEXT COLLATE "C"    NOT NULL,
    name        TEXT COLLATE "C"    NOT NULL,
    settings    TEXT    NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The key of a channel is the name of an environment variable or of a file, never the key itself.
CREATE TABLE channels (
    tenant           TEXT COLLATE "C"    NOT NULL,
    name             TEXT COLLATE "C"    NOT NULL,
    settings         TEXT    NOT NULL,
    key_environment  TEXT,
    key_file         TEXT,
    updated_at       BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
);
