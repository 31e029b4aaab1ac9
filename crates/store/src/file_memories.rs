//! Memories in a file that several sessions and processes share.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use epitome_strategy::{async_trait, lock};
use serde::{Deserialize, Serialize};

use crate::disk::{LogFile, sync_folder};
use crate::error::StoreError;
use crate::lines::lines;
use crate::memory::{Memory, MemoryStore, Scope, supersedes, terms};

/// The version of the format that is written, and the newest that is read.
const VERSION: u32 = 1;

/// Memories in a file of JSON lines, which only grows.
///
/// Sessions and processes may share the file: it is locked while it is read or written, and the additions of other
/// processes are read before each answer. A call is linear in the additions since the last one, a search in the whole
/// file. The futures never wait when they are polled: they block while another process writes.
#[derive(Debug)]
pub struct FileMemories {
    path: PathBuf,
    state: Mutex<MemoryFile>,
}

/// The part of the file that was read so far.
#[derive(Debug)]
struct MemoryFile {
    file: File,
    /// Bytes of the whole lines that were read.
    length: u64,
    lines: u64,
    /// In the order in which they were stored; those that were forgotten are gone.
    memories: Vec<Option<Memory>>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    epitome_memories: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    Memory(Memory),
    Forget(String),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum RecordRef<'a> {
    Memory(&'a Memory),
    Forget(&'a str),
}

impl FileMemories {
    /// Opens the memories in a file, which is made where it does not exist. Linear in the file.
    ///
    /// Errors where it is not a file of memories, one of a later version, or damaged anywhere but at its end.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        epitome_shelf::check_plain(&path).map_err(StoreError::io("opening", &path))?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(StoreError::io("opening", &path))?;
        let memories = Vec::new();
        let state = MemoryFile { file, length: 0, lines: 0, memories, by_id: HashMap::new() };
        let store = Self { path, state: Mutex::new(state) };
        store.with_lock(true, |_, _| Ok(()))?;
        sync_folder(&store.path)?;
        Ok(store)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does something while the file is locked and everything in it is known.
    fn with_lock<T>(
        &self,
        writes: bool,
        act: impl FnOnce(&mut MemoryFile, &Path) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut state = lock(&self.state);
        let locked = if writes { state.file.lock() } else { state.file.lock_shared() };
        locked.map_err(StoreError::io("locking", &self.path))?;
        let done = state.catch_up(&self.path, writes).and_then(|()| act(&mut state, &self.path));
        state.file.unlock().map_err(StoreError::io("unlocking", &self.path))?;
        done
    }
}

impl MemoryFile {
    /// Reads the additions since the last call. An incomplete write at the end is cut off where the file may be
    /// written.
    fn catch_up(&mut self, path: &Path, writes: bool) -> Result<(), StoreError> {
        let length = self.file.metadata().map_err(StoreError::io("looking at", path))?.len();
        if length < self.length {
            // The file was cut by hand: the memories read before are not in it any more.
            (self.length, self.lines) = (0, 0);
            self.memories.clear();
            self.by_id.clear();
        }
        let mut bytes = Vec::new();
        if length > self.length {
            let at = SeekFrom::Start(self.length);
            let read = self.file.seek(at).and_then(|_| self.file.read_to_end(&mut bytes));
            read.map_err(StoreError::io("reading", path))?;
        }
        let new = lines(&bytes);
        for (index, line) in new.iter().enumerate() {
            let number = self.lines + 1;
            if number == 1 {
                // Only an incomplete header is cut off, never the content of a foreign file.
                if !line.is_whole && header_line(path)?.starts_with(line.bytes) {
                    break;
                }
                check_header(path, line.bytes)?;
            } else if !line.is_whole || (index + 1 == new.len() && !line.is_json()) {
                break;
            } else {
                let record = serde_json::from_slice(line.bytes);
                match record.map_err(|error| StoreError::damaged(path, number, error))? {
                    Record::Memory(memory) => self.add(memory.id(), memory),
                    Record::Forget(id) => self.remove(&id),
                }
            }
            self.lines = number;
            self.length += line.bytes.len() as u64 + 1;
        }
        if writes && length > self.length {
            self.file.set_len(self.length).map_err(StoreError::io("repairing", path))?;
        }
        Ok(())
    }

    /// Appends records in one write, behind a header where the file is new, and waits until they are on the disk.
    fn write(&mut self, path: &Path, records: &[RecordRef<'_>]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let json = |source| StoreError::NotJson { path: path.to_owned(), source };
        if self.length == 0 {
            bytes.extend(header_line(path)?);
        }
        for record in records {
            serde_json::to_writer(&mut bytes, record).map_err(json)?;
            bytes.push(b'\n');
        }
        let start = SeekFrom::Start(self.length);
        self.file.seek(start).map_err(StoreError::io("writing", path))?;
        let file = self.file.try_clone().map_err(StoreError::io("writing", path))?;
        let mut log = LogFile::new(path.to_owned(), Box::new(file), self.length, self.lines);
        log.append(&bytes, true)?;
        self.length += bytes.len() as u64;
        self.lines += (records.len() + usize::from(self.lines == 0)) as u64;
        Ok(())
    }

    fn add(&mut self, id: String, memory: Memory) {
        if !self.by_id.contains_key(&id) {
            self.by_id.insert(id, self.memories.len());
            self.memories.push(Some(memory));
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(memory) = self.by_id.remove(id).and_then(|index| self.memories.get_mut(index)) {
            *memory = None;
        }
    }
}

fn header_line(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(&Header { epitome_memories: VERSION })
        .map_err(|source| StoreError::NotJson { path: path.to_owned(), source })?;
    line.push(b'\n');
    Ok(line)
}

fn check_header(path: &Path, line: &[u8]) -> Result<(), StoreError> {
    let header: Header = serde_json::from_slice(line).map_err(|error| StoreError::NotMemories {
        path: path.to_owned(),
        problem: format!("its first line is not a header: {error}"),
    })?;
    match header.epitome_memories {
        ..=VERSION => Ok(()),
        version => Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION }),
    }
}

#[async_trait]
impl MemoryStore for FileMemories {
    async fn remember(&self, memories: &[Memory]) -> Result<usize, StoreError> {
        self.with_lock(true, |state, path| {
            let (mut new, mut gone) = (Vec::<(String, &Memory)>::new(), Vec::<String>::new());
            for memory in memories {
                let id = memory.id();
                if state.by_id.contains_key(&id) || new.iter().any(|(known, _)| *known == id) {
                    continue;
                }
                let older = state.memories.iter().flatten().filter(|older| supersedes(memory, older));
                gone.extend(older.map(Memory::id));
                new.push((id, memory));
            }
            gone.sort();
            gone.dedup();
            let forgets = gone.iter().map(|id| RecordRef::Forget(id));
            let records: Vec<RecordRef<'_>> =
                forgets.chain(new.iter().map(|(_, memory)| RecordRef::Memory(memory))).collect();
            state.write(path, &records)?;
            gone.iter().for_each(|id| state.remove(id));
            let count = new.len();
            for (id, memory) in new {
                state.add(id, memory.clone());
            }
            Ok(count)
        })
    }

    async fn search(&self, scope: &Scope, words: &str, most: usize) -> Result<Vec<Memory>, StoreError> {
        let wanted = terms(words);
        self.with_lock(false, |state, _| {
            let matches = |memory: &Memory| {
                let held = terms(&memory.text);
                wanted.iter().filter(|word| held.contains(word)).count()
            };
            let newest = state.memories.iter().rev().flatten().filter(|memory| scope.holds(memory));
            let mut found: Vec<(usize, &Memory)> =
                newest.map(|memory| (matches(memory), memory)).filter(|(count, _)| *count > 0).collect();
            found.sort_by_key(|(count, _)| std::cmp::Reverse(*count)); // stable: of equals the newest stay first
            Ok(found.into_iter().take(most).map(|(_, memory)| memory.clone()).collect())
        })
    }

    async fn recent(&self, scope: &Scope, most: usize) -> Result<Vec<Memory>, StoreError> {
        self.with_lock(false, |state, _| {
            let newest = state.memories.iter().rev().flatten().filter(|memory| scope.holds(memory));
            Ok(newest.take(most).cloned().collect())
        })
    }

    async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        self.with_lock(true, |state, path| {
            if !state.by_id.contains_key(id) {
                return Ok(false);
            }
            state.write(path, &[RecordRef::Forget(id)])?;
            state.remove(id);
            Ok(true)
        })
    }
}

#[cfg(test)]
#[path = "file_memories_tests.rs"]
mod tests;
