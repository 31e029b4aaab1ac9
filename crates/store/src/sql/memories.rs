//! Memories.

use std::collections::HashSet;

use super::statement::{Outcome, Statement, json};
use super::{SqlStore, now};
use crate::error::StoreError;
use crate::memory::{Memory, Scope, terms};
use crate::store::Tenant;

/// The most words that one search looks for.
const MOST_WORDS: usize = 64;
/// The longest word that is indexed, in bytes.
const LONGEST_WORD: usize = 128;

impl SqlStore {
    pub(super) async fn remember_now(&self, tenant: &Tenant, memories: &[Memory]) -> Result<usize, StoreError> {
        if memories.is_empty() {
            return Ok(0);
        }
        let now = now();
        let mut inserts = Vec::new();
        let mut words = Vec::new();
        let mut known = HashSet::new();
        for memory in memories {
            let id = memory.id();
            if !known.insert(id.clone()) {
                continue;
            }
            let insert = Statement::new(
                "INSERT INTO memories (tenant, id, session, kind, stored_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (tenant, id) DO NOTHING",
            );
            let insert = insert.with(tenant.as_str()).with(id.as_str()).with(memory.session.as_deref());
            let insert = insert.with(memory.kind.as_str()).with(now).with(json("a memory", memory)?);
            inserts.push(insert);
            for word in indexed(&memory.text) {
                let insert = Statement::new(
                    "INSERT INTO memory_words (tenant, word, memory) VALUES (?1, ?2, ?3) \
                     ON CONFLICT (tenant, word, memory) DO NOTHING",
                );
                words.push(insert.with(tenant.as_str()).with(word).with(id.as_str()));
            }
        }
        let count = inserts.len();
        inserts.extend(words);
        let changed = self.write(inserts).await?;
        Ok(changed.iter().take(count).sum::<u64>() as usize)
    }

    pub(super) async fn recent_now(
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
        memories(&self.read_one(select).await?)
    }

    pub(super) async fn search_now(
        &self,
        tenant: &Tenant,
        scope: &Scope,
        words: &str,
        most: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let words: Vec<String> = indexed(words).into_iter().take(MOST_WORDS).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<String> = (0..words.len()).map(|index| format!("?{}", index + 4)).collect();
        let sql = format!(
            "SELECT m.body FROM memories m JOIN memory_words w ON w.tenant = m.tenant AND w.memory = m.id \
             WHERE m.tenant = ?1 AND (m.session = ?2 OR ?2 IS NULL) AND w.word IN ({}) \
             GROUP BY m.number, m.body ORDER BY COUNT(*) DESC, m.number DESC LIMIT ?3",
            places.join(", ")
        );
        let select = Statement::composed(sql).with(tenant.as_str()).with(session(scope)).with(most as u64);
        let select = words.into_iter().fold(select, Statement::with);
        memories(&self.read_one(select).await?)
    }

    pub(super) async fn forget_now(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        let delete = Statement::new("DELETE FROM memories WHERE tenant = ?1 AND id = ?2");
        Ok(self.write_one(delete.with(tenant.as_str()).with(id)).await? > 0)
    }
}

/// The words that a memory is found by, as they are indexed.
fn indexed(text: &str) -> Vec<String> {
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

fn memories(outcome: &Outcome) -> Result<Vec<Memory>, StoreError> {
    outcome.rows.iter().map(|row| row.read().json("a memory")).collect()
}
