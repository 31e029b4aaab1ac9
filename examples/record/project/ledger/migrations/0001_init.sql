CREATE TABLE transactions (
    id          INTEGER PRIMARY KEY,
    day         TEXT NOT NULL,
    description TEXT NOT NULL,
    source      TEXT NOT NULL,
    created_at  TEXT NOT NULL
);

CREATE TABLE postings (
    id             INTEGER PRIMARY KEY,
    transaction_id INTEGER NOT NULL REFERENCES transactions (id),
    account        TEXT NOT NULL,
    amount         INTEGER NOT NULL,
    currency       TEXT NOT NULL
);

CREATE INDEX postings_account ON postings (account);
CREATE INDEX transactions_day ON transactions (day);

CREATE TRIGGER postings_no_update BEFORE UPDATE ON postings
BEGIN
    SELECT RAISE(ABORT, 'postings are append-only');
END;

CREATE TRIGGER postings_no_delete BEFORE DELETE ON postings
BEGIN
    SELECT RAISE(ABORT, 'postings are append-only');
END;
