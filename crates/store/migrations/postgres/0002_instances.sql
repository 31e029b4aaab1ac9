-- What the instances of a service on this database tell each other.

-- Events of sessions, for listeners at all instances. Ids are given under a lock: whoever has read up to one has missed none
-- before it. Rows are deleted from the lowest id up, some time after they were told.
CREATE TABLE session_events (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant   TEXT COLLATE "C" NOT NULL,
    session  TEXT COLLATE "C" NOT NULL,
    name     TEXT   NOT NULL,
    -- The event as JSON.
    body     TEXT   NOT NULL,
    told_at  BIGINT NOT NULL
);
CREATE INDEX session_events_session ON session_events (tenant, session, id);

-- Tells the ids of these events from those of another database.
CREATE TABLE event_feed (name TEXT NOT NULL);
INSERT INTO event_feed SELECT md5(random()::text || clock_timestamp()::text);

-- The requests that tenants have left, in thousandths. They mean nothing after a crash, so they are not logged.
CREATE UNLOGGED TABLE request_rates (
    tenant     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    remaining  BIGINT NOT NULL,
    -- How many the last draw was granted.
    granted    BIGINT NOT NULL,
    filled_at  BIGINT NOT NULL
) WITH (fillfactor = 50);
