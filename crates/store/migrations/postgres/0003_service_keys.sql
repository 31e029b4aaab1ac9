-- Keys that a service makes for itself, and that its instances share: what they sign is nothing to others.
CREATE TABLE IF NOT EXISTS service_keys (name TEXT PRIMARY KEY, secret TEXT NOT NULL, created_at BIGINT NOT NULL);
