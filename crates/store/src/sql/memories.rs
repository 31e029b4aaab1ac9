//! Memories.

use std::collections::HashSet;

use super::statement::{Reader, Statement, json};
use super::{Store, now};
use crate::error::StoreError;
use crate::memory::{Memory, Scope, supersedes, terms};
use crate::tenant::Tenant;

/// The most words that one search looks for.
const MOST_WORDS: usize = 64;
/// The most memories that a new one is held against: those that share the most words with it.
const MOST_NEAR: usize = 16;
/// The longest word that is indexed, in bytes.
const LONGEST_WORD: usize = 128;

impl Store {
    /// Stores memories that are not known yet, all or none, and says how many that were. What one of them
    /// [`supersedes`](crate::supersedes) is forgotten.
    pub async fn remember(&self, tenant: &Tenant, memories: &[Memory]) -> Result<usize, StoreError> {
        if memories.is_empty() {
            return Ok(0);
        }
        let known = self.similar_memories(tenant, memories).await?;
        let now = now();
        let (mut inserts, mut words, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
        let mut ids = HashSet::new();
        for memory in memories {
            let id = memory.id();
            // A row may still have an id made of its text alone: its content shows whether the memory is known.
            if known.iter().any(|older| older.id() == id) || !ids.insert(id.clone()) {
                continue;
            }
            for older in known.iter().filter(|older| supersedes(memory, older)) {
                deletes.push(delete(tenant, &older.id()));
            }
            let insert = Statement::new(
                "INSERT INTO memories (tenant, id, session, kind, stored_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (tenant, id) DO NOTHING",
            );
            let insert = insert.with(tenant.as_str()).with(id.as_str()).with(memory.session.as_deref());
            let insert = insert.with(memory.kind.as_str()).with(now).with(json("a memory", memory)?);
            inserts.push(insert);
            for word in index_words(&memory.text) {
                let insert = Statement::new(
                    "INSERT INTO memory_words (tenant, word, memory) VALUES (?1, ?2, ?3) \
                     ON CONFLICT (tenant, word, memory) DO NOTHING",
                );
                words.push(insert.with(tenant.as_str()).with(word).with(id.as_str()));
            }
        }
        let count = inserts.len();
        if count == 0 {
            return Ok(0);
        }
        inserts.extend(words);
        inserts.extend(deletes);
        let changed = self.write(inserts).await?;
        Ok(changed.iter().take(count).sum::<u64>() as usize)
    }

    /// The stored memories of the sessions of `memories` that share the most words with one of them, each with its
    /// row's id: those that they may repeat or supersede.
    async fn similar_memories(&self, tenant: &Tenant, memories: &[Memory]) -> Result<Vec<Memory>, StoreError> {
        let select = |memory: &Memory| {
            let scope = memory.session.clone().map_or(Scope::All, Scope::Session);
            holding(tenant, &scope, &memory.text, MOST_NEAR)
        };
        let outcomes = self.read(memories.iter().filter_map(select).collect()).await?;
        outcomes.iter().flat_map(|outcome| &outcome.rows).map(|row| memory(&mut row.read())).collect()
    }

    /// At most `most` memories, the last stored first.
    pub async fn recent_memories(
        &self,
        tenant: &Tenant,
        scope: &Scope,
        most: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let select = Statement::new(
            "SELECT body FROM memories WHERE tenant = ?1 AND (session = ?2 OR ?2 IS NULL) \
             ORDER BY number DESC LIMIT ?3",
        );
        let select = select.with(tenant.as_str()).with(session(scope)).with(most as u64);
        self.read_all(select, memory).await
    }

    /// At most `most` memories that hold one of the words, those with the most of them first, then the last stored.
    pub async fn search_memories(
        &self,
        tenant: &Tenant,
        scope: &Scope,
        words: &str,
        most: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let Some(select) = holding(tenant, scope, words, most) else { return Ok(Vec::new()) };
        self.read_all(select, memory).await
    }

    /// Forgets the memory of that id ([`Memory::id`]); whether there was one.
    pub async fn forget_memory(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        Ok(self.write_one(delete(tenant, id)).await? > 0)
    }
}

fn delete(tenant: &Tenant, row: &str) -> Statement {
    Statement::for_row("DELETE FROM memories WHERE tenant = ?1 AND id = ?2", tenant, row)
}

fn memory(row: &mut Reader<'_>) -> Result<Memory, StoreError> {
    row.json("a memory")
}

/// The query for memories that hold one of the words, those with the most of them first, then the last stored; `None`
/// without words.
fn holding(tenant: &Tenant, scope: &Scope, words: &str, most: usize) -> Option<Statement> {
    let words: Vec<String> = index_words(words).into_iter().take(MOST_WORDS).collect();
    if words.is_empty() {
        return None;
    }
    let places: Vec<String> = (0..words.len()).map(|index| format!("?{}", index + 4)).collect();
    let sql = format!(
        "SELECT m.body FROM memories m JOIN memory_words w ON w.tenant = m.tenant AND w.memory = m.id \
         WHERE m.tenant = ?1 AND (m.session = ?2 OR ?2 IS NULL) AND w.word IN ({}) \
         GROUP BY m.number, m.body ORDER BY COUNT(*) DESC, m.number DESC LIMIT ?3",
        places.join(", ")
    );
    let select = Statement::composed(sql).with(tenant.as_str()).with(session(scope)).with(most as u64);
    Some(words.into_iter().fold(select, Statement::with))
}

/// The words that a memory is found by, as they are indexed.
fn index_words(text: &str) -> Vec<String> {
    let mut words = terms(text);
    for word in &mut words {
        word.truncate(word.floor_char_boundary(LONGEST_WORD));
    }
    words.dedup();
    words
}

fn session(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::All => None,
        Scope::Session(id) => Some(id),
    }
}
