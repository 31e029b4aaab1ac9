//! The part of the cache that outlives the process: a folder with files of vectors.
//!
//! Each batch of new vectors is a file of its own, written under another name and then renamed, so that a file is whole or
//! not there, and processes that share the folder do not undo each other's work. When there are many files they are joined.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_shelf::{PendingFile, Privacy};

use super::TextHash;

const MAGIC: &[u8; 8] = b"EPIVECS1";

/// More files than these are joined into one when they are read.
const MANY_FILES: usize = 32;

/// The vectors of one embedder in a folder.
#[derive(Debug)]
pub(super) struct VectorFolder {
    path: PathBuf,
    capacity: usize,
    was_read: bool,
}

impl VectorFolder {
    /// The part of `folder` that belongs to the embedder called `name`; touches nothing yet.
    pub(super) fn new(folder: &Path, name: &str, capacity: usize) -> Self {
        let hash = blake3::hash(name.as_bytes()).to_hex();
        Self { path: folder.join(&hash[..16]), capacity, was_read: false }
    }

    /// Calls `found` with every vector, the oldest file's first; at the first call only. Damaged files are removed.
    pub(super) fn read_once(&mut self, mut found: impl FnMut(TextHash, Arc<[f32]>)) {
        if std::mem::replace(&mut self.was_read, true) {
            return;
        }
        let files = self.files();
        let mut vectors = Vec::new();
        for file in &files {
            match epitome_shelf::read_plain(file).ok().as_deref().and_then(decode) {
                Some(read) => vectors.extend(read),
                // Nothing is lost but time: its vectors are computed again.
                None => drop(fs::remove_file(file)),
            }
        }
        let surplus = vectors.len().saturating_sub(self.capacity);
        vectors.drain(..surplus);
        if (files.len() > MANY_FILES || surplus > 0) && self.write(&vectors).is_ok() {
            let joined = self.path.join(file_name(&vectors));
            for file in files.iter().filter(|file| **file != joined) {
                let _ = fs::remove_file(file);
            }
        }
        for (hash, vector) in vectors {
            found(hash, vector);
        }
    }

    /// Writes new vectors. A folder that cannot be written is left alone.
    pub(super) fn add(&self, vectors: &[(TextHash, Arc<[f32]>)]) {
        let _ = self.write(vectors);
    }

    fn write(&self, vectors: &[(TextHash, Arc<[f32]>)]) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        let pending = PendingFile::new(&self.path.join(file_name(vectors)), Privacy::Shared)?;
        pending.file().write_all(&encode(vectors))?;
        pending.file().sync_all()?;
        pending.replace().map(drop)
    }

    /// The files with vectors, the oldest first; of one age in the order of their names.
    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let age = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
                path.extension().is_some_and(|extension| extension == "vectors").then_some((age, path))
            })
            .collect();
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    }
}

/// The name of a file with `vectors`: the same for the same texts.
fn file_name(vectors: &[(TextHash, Arc<[f32]>)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (hash, _) in vectors {
        hasher.update(hash);
    }
    format!("{}.vectors", &hasher.finalize().to_hex()[..16])
}

/// A file: the magic bytes, the hash of the rest, the numbers of a vector, then a text's hash and its vector each.
fn encode(vectors: &[(TextHash, Arc<[f32]>)]) -> Vec<u8> {
    let dimensions = vectors.first().map_or(0, |(_, vector)| vector.len());
    let mut rest = Vec::with_capacity(4 + vectors.len() * (32 + 4 * dimensions));
    rest.extend_from_slice(&u32::try_from(dimensions).unwrap_or(0).to_le_bytes());
    for (hash, vector) in vectors.iter().filter(|(_, vector)| vector.len() == dimensions) {
        rest.extend_from_slice(hash);
        vector.iter().for_each(|number| rest.extend_from_slice(&number.to_le_bytes()));
    }
    [&MAGIC[..], blake3::hash(&rest).as_bytes(), &rest].concat()
}

/// The vectors of a file, or `None` where a byte of it has changed since it was written.
fn decode(bytes: &[u8]) -> Option<Vec<(TextHash, Arc<[f32]>)>> {
    let (hash, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<32>()?;
    if blake3::hash(rest).as_bytes() != hash {
        return None;
    }
    let (dimensions, rest) = rest.split_first_chunk()?;
    let dimensions = usize::try_from(u32::from_le_bytes(*dimensions)).ok()?;
    let entries = rest.chunks_exact(32 + 4 * dimensions).map(|entry| {
        let (hash, numbers) = entry.split_first_chunk::<32>()?;
        let vector = numbers.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        Some((*hash, vector))
    });
    entries.collect()
}
