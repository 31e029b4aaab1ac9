-- The ids of memories count the session too: what one session said another may keep. Rows up to this number have the id of
-- their text alone.
CREATE TABLE memory_ids (of_text_until BIGINT NOT NULL);
INSERT INTO memory_ids SELECT COALESCE(MAX(number), 0) FROM memories;
