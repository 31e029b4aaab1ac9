//! Vectors that were computed once are not computed again.

mod folder;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use epitome_shelf::Generations;
use epitome_strategy::{EmbedError, Embedder, Embeddings, async_trait, lock};

use folder::VectorFolder;

/// The BLAKE3 hash of a text.
type TextHash = [u8; 32];

/// The number of texts in one request: vectors computed before a failure are kept.
const TEXTS_AT_ONCE: usize = 256;

/// Where vectors are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSettings {
    /// The most vectors in memory, and in the folder for each embedder. A vector of 384 numbers takes 1.5 KB.
    pub capacity: usize,
    /// A folder that outlives the process; created where it is missing. `None` keeps vectors in memory only.
    pub folder: Option<PathBuf>,
}

impl Default for CacheSettings {
    /// 50,000 vectors, in memory only.
    fn default() -> Self {
        Self { capacity: 50_000, folder: None }
    }
}

/// Puts a cache in front of an embedder, keyed by the embedder's name and the text's content.
///
/// Only texts that were not met before are asked for, each once however often it is there. The cache never fails: a folder
/// that cannot be read or written, or a damaged file in it, is as if it were not there, and the vectors are computed again.
#[derive(Debug)]
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    state: Mutex<CacheState>,
}

#[derive(Debug)]
struct CacheState {
    memory: Generations<TextHash, Arc<[f32]>>,
    folder: Option<VectorFolder>,
}

impl CachedEmbedder {
    /// `inner` with a cache; the folder's vectors are read at the first text.
    pub fn new(inner: Arc<dyn Embedder>, settings: &CacheSettings) -> Self {
        let folder = settings.folder.as_ref().map(|folder| VectorFolder::new(folder, inner.name(), settings.capacity));
        Self { inner, state: Mutex::new(CacheState { memory: Generations::new(settings.capacity), folder }) }
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut CacheState) -> T) -> T {
        // A panic while the lock was held can have lost vectors, but spoilt none.
        work(&mut lock(&self.state))
    }

    /// The kept vectors of `hashes`.
    fn kept_vectors(&self, hashes: &[TextHash]) -> HashMap<TextHash, Arc<[f32]>> {
        self.with_state(|state| {
            if let Some(folder) = &mut state.folder {
                folder.read_once(|hash, vector| state.memory.put(hash, vector));
            }
            let known = self.inner.dimensions();
            let fits = |vector: &Arc<[f32]>| known == 0 || vector.len() == known;
            hashes.iter().filter_map(|hash| Some((*hash, state.memory.get(hash).filter(fits)?))).collect()
        })
    }

    fn keep(&self, computed: &[(TextHash, Arc<[f32]>)]) {
        self.with_state(|state| {
            for (hash, vector) in computed {
                state.memory.put(*hash, Arc::clone(vector));
            }
            if let Some(folder) = &state.folder {
                folder.add(computed);
            }
        });
    }

    /// Adds the vectors of the texts that `found` lacks, each text once.
    async fn complete(
        &self,
        texts: &[&str],
        hashes: &[TextHash],
        found: &mut HashMap<TextHash, Arc<[f32]>>,
    ) -> Result<(), EmbedError> {
        let mut missing: Vec<(TextHash, &str)> = Vec::new();
        let mut met = found.keys().copied().collect::<HashSet<_>>();
        for (hash, text) in hashes.iter().zip(texts) {
            if met.insert(*hash) {
                missing.push((*hash, text));
            }
        }
        for chunk in missing.chunks(TEXTS_AT_ONCE) {
            let asked: Vec<&str> = chunk.iter().map(|(_, text)| *text).collect();
            let embedded = self.inner.embed(&asked).await?;
            if embedded.len() != asked.len() {
                let message = format!("the embedder gave {} vectors for {} texts", embedded.len(), asked.len());
                return Err(EmbedError { message, retryable: false });
            }
            let vectors = (0..asked.len()).filter_map(|at| embedded.row(at)).map(Arc::from);
            let computed: Vec<(TextHash, Arc<[f32]>)> = chunk.iter().map(|(hash, _)| *hash).zip(vectors).collect();
            // A text without words may get a vector of any length where the embedder does not know its own yet.
            let known = self.inner.dimensions();
            if computed.iter().all(|(_, vector)| vector.len() == known) {
                self.keep(&computed);
            }
            found.extend(computed);
        }
        Ok(())
    }
}

#[async_trait]
impl Embedder for CachedEmbedder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let hashes: Vec<TextHash> = texts.iter().map(|text| *blake3::hash(text.as_bytes()).as_bytes()).collect();
        let mut found = self.kept_vectors(&hashes);
        self.complete(texts, &hashes, &mut found).await?;
        let mut dimensions = found.values().map(|vector| vector.len()).max().unwrap_or(self.dimensions());
        if found.values().any(|vector| vector.len() != dimensions) {
            // The model behind the name has changed: nothing that was kept is worth anything.
            found.clear();
            self.complete(texts, &hashes, &mut found).await?;
            dimensions = found.values().map(|vector| vector.len()).max().unwrap_or(0);
        }
        let mut values = vec![0.0; texts.len() * dimensions];
        for (hash, row) in hashes.iter().zip(values.chunks_exact_mut(dimensions.max(1))) {
            if let Some(vector) = found.get(hash).filter(|vector| vector.len() == dimensions) {
                row.copy_from_slice(vector);
            }
        }
        Ok(Embeddings::new(dimensions, values))
    }
}

#[cfg(test)]
mod tests;
