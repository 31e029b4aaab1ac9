ALTER TABLE transactions ADD COLUMN fingerprint TEXT;
ALTER TABLE transactions ADD COLUMN raw TEXT;

CREATE UNIQUE INDEX transactions_fingerprint ON transactions (fingerprint)
    WHERE fingerprint IS NOT NULL;
