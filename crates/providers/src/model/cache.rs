//! Answers that were given before: in memory, and in a folder where one is set.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use epitome_shelf::{Generations, PendingFile, Privacy};
use epitome_strategy::lock;

/// The hash of everything that an answer depends on.
pub(super) type CacheKey = blake3::Hash;

/// How many times as many answers a folder keeps as the memory: a bench asks for about a thousand.
const IN_FOLDER: usize = 16;

/// A summary that a model wrote, and what its answers took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownAnswer {
    pub text: String,
    pub cost: AnswerCost,
}

/// What answers took: how many they were, and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AnswerCost {
    pub answers: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

/// A bounded cache: entries that are used stay.
#[derive(Debug)]
pub(super) struct Cache {
    /// `None` where nothing is to be kept.
    memory: Option<Mutex<Generations<CacheKey, KnownAnswer>>>,
    folder: Option<AnswerFolder>,
}

/// The key of a request to a model.
pub(super) fn key(parts: &[&str], max_tokens: u32) -> CacheKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&max_tokens.to_le_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize()
}

impl Cache {
    /// Keeps at most `entries` answers in memory, and 16 times as many in `folder`; none where `entries` is 0.
    pub(super) fn new(entries: usize, folder: Option<&Path>) -> Self {
        let of_folder = |path: &Path| AnswerFolder { path: path.to_owned(), most: entries.saturating_mul(IN_FOLDER) };
        let folder = folder.filter(|_| entries > 0).map(of_folder);
        Self { memory: (entries > 0).then(|| Mutex::new(Generations::new(entries))), folder }
    }

    /// The answer under `key`. A folder that cannot be read holds nothing.
    pub(super) fn get(&self, key: &CacheKey) -> Option<KnownAnswer> {
        if let Some(known) = lock(self.memory.as_ref()?).get(key) {
            return Some(known);
        }
        let stored = self.folder.as_ref()?.get(key)?;
        self.remember(key, &stored);
        Some(stored)
    }

    /// Keeps an answer. A folder that cannot be written is left alone.
    pub(super) fn put(&self, key: &CacheKey, answer: &KnownAnswer) {
        self.remember(key, answer);
        if let Some(folder) = &self.folder {
            // Nothing is lost but the time of asking again.
            let _ = folder.put(key, answer);
        }
    }

    fn remember(&self, key: &CacheKey, answer: &KnownAnswer) {
        if let Some(memory) = &self.memory {
            lock(memory).put(*key, answer.clone());
        }
    }
}

/// Answers as files: the hash of all below on the first line, what the answer took on the second, the text below. What was
/// changed or cut counts as missing.
#[derive(Debug)]
struct AnswerFolder {
    path: PathBuf,
    most: usize,
}

impl AnswerFolder {
    fn file(&self, key: &CacheKey) -> PathBuf {
        self.path.join(format!("{}.summary", &key.to_hex()[..32]))
    }

    fn get(&self, key: &CacheKey) -> Option<KnownAnswer> {
        let stored = epitome_shelf::read_plain_text(self.file(key)).ok()?;
        let (_, rest) = stored.split_once('\n').filter(|(hash, rest)| hash_of(rest) == *hash)?;
        let (cost, text) = rest.split_once('\n')?;
        let counts = cost.split(' ').map(|count| count.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let [answers, input, cached, output] = counts[..] else { return None };
        Some(KnownAnswer { text: text.to_owned(), cost: AnswerCost { answers, input, cached, output } })
    }

    fn put(&self, key: &CacheKey, answer: &KnownAnswer) -> io::Result<()> {
        create_folder(&self.path)?;
        let KnownAnswer { text, cost: AnswerCost { answers, input, cached, output } } = answer;
        let rest = format!("{answers} {input} {cached} {output}\n{text}");
        let stored = format!("{}\n{rest}", hash_of(&rest));
        let pending = PendingFile::new(&self.file(key), Privacy::Owner)?;
        pending.file().write_all(stored.as_bytes())?;
        pending.replace()?;
        self.thin();
        Ok(())
    }

    /// Removes the oldest files where there are too many.
    fn thin(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let is_ours = entry.path().extension().is_some_and(|extension| extension == "summary");
                is_ours.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        if files.len() > self.most {
            files.sort();
            for (_, file) in &files[..files.len() - self.most] {
                let _ = fs::remove_file(file);
            }
        }
    }
}

fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Makes a folder that only its owner can read: answers hold text of the sessions. An existing folder stays as it is.
fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn answer(text: &str) -> KnownAnswer {
        let cost = AnswerCost { answers: 2, input: 1_000, cached: 300, output: 20 };
        KnownAnswer { text: text.to_owned(), cost }
    }

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let cache = Cache::new(10, None);
        let keys: Vec<CacheKey> = (0..100).map(|number| key(&["a", &number.to_string()], 1)).collect();
        for key in &keys {
            cache.put(key, &answer("answer"));
            assert!(cache.get(&keys[0]).is_some());
        }
        assert!(cache.get(&keys[1]).is_none() && cache.get(&keys[99]).is_some());
        let none = Cache::new(0, None);
        none.put(&keys[0], &answer("answer"));
        assert!(none.get(&keys[0]).is_none());
    }

    #[test]
    fn keys_tell_requests_apart() {
        let keys = [key(&["ab", "c"], 1), key(&["a", "bc"], 1), key(&["ab", "c"], 2), key(&["ab", "c", ""], 1)];
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn folders_outlive_the_cache_and_damage_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<CacheKey> = (0..40).map(|number| key(&[&number.to_string()], 1)).collect();
        Cache::new(4, Some(folder.path())).put(&keys[0], &answer("one\ntwo"));
        assert_eq!(Cache::new(4, Some(folder.path())).get(&keys[0]), Some(answer("one\ntwo")));
        let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(&file, fs::read_to_string(&file).unwrap().replace("two", "2")).unwrap();
        assert_eq!(Cache::new(4, Some(folder.path())).get(&keys[0]), None);
        let cache = Cache::new(2, Some(folder.path()));
        keys.iter().for_each(|key| cache.put(key, &answer("answer")));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 * IN_FOLDER, "as many as are to be kept");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        Cache::new(4, Some(&path)).put(&key(&["a"], 1), &answer("answer"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
        assert_eq!((mode(&path), mode(&folder.path().join("a")), mode(&file)), (0o700, 0o700, 0o600));
    }
}
