CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL,
    payload      TEXT NOT NULL,
    created_ms   INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    last_error   TEXT,
    delivered_ms INTEGER
);

CREATE INDEX outbox_pending ON outbox (id) WHERE delivered_ms IS NULL;
