#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use super::*;

/// Remembers what it was asked for; a text's vector is its number of characters. Fails at texts that say so.
#[derive(Debug, Default)]
struct Counting {
    asked: Mutex<Vec<String>>,
    dimensions: usize,
}

impl Counting {
    fn new(dimensions: usize) -> Arc<Self> {
        Arc::new(Self { dimensions, ..Self::default() })
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

#[async_trait]
impl Embedder for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        if texts.contains(&"fail") {
            return Err(EmbedError { message: "no".to_owned(), retryable: true });
        }
        let vector = |text: &&str| vec![text.chars().count() as f32; self.dimensions];
        Ok(Embeddings::new(self.dimensions, texts.iter().flat_map(vector).collect()))
    }
}

fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
    match pin!(embedder.embed(texts)).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome.map(|embeddings| embeddings.values().to_vec()),
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

fn cached(inner: &Arc<Counting>, folder: Option<&Path>) -> CachedEmbedder {
    let folder = folder.map(Path::to_path_buf);
    CachedEmbedder::new(Arc::<Counting>::clone(inner), &CacheSettings { folder, ..CacheSettings::default() })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    inside(folder).iter().flat_map(|path| inside(path)).collect()
}

#[test]
fn only_what_is_missing_and_each_once() {
    let inner = Counting::new(1);
    let embedder = cached(&inner, None);
    assert_eq!(embed(&embedder, &["a", "bb", "a"]).unwrap(), [1.0, 2.0, 1.0]);
    assert_eq!(inner.requests(), ["a", "bb"]);
    assert_eq!(embed(&embedder, &["bb", "ccc", "a"]).unwrap(), [2.0, 3.0, 1.0]);
    assert_eq!(inner.requests(), ["ccc"]);
    assert_eq!(embed(&embedder, &[]).unwrap(), [0.0; 0]);
}

#[test]
fn a_failure_keeps_what_was_there_before_it() {
    let inner = Counting::new(1);
    let embedder = cached(&inner, None);
    let many: Vec<String> = (0..TEXTS_AT_ONCE).map(|number| number.to_string()).collect();
    let mut texts: Vec<&str> = many.iter().map(String::as_str).collect();
    texts.push("fail");
    assert!(embed(&embedder, &texts).unwrap_err().retryable);
    inner.requests();
    texts.pop();
    embed(&embedder, &texts).unwrap();
    assert_eq!(inner.requests(), [""; 0]);
}

#[test]
fn the_folder_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let inner = Counting::new(2);
    embed(&cached(&inner, Some(folder.path())), &["a", "bb"]).unwrap();
    embed(&cached(&inner, Some(folder.path())), &["bb", "ccc"]).unwrap();
    assert_eq!(inner.requests(), ["a", "bb", "ccc"]);
    let texts = ["a", "bb", "ccc"];
    assert_eq!(embed(&cached(&inner, Some(folder.path())), &texts).unwrap(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(inner.requests(), [""; 0]);
    assert!(
        files(folder.path()).iter().all(|file| file.extension().unwrap() == "vectors"),
        "no pending files are left"
    );
}

#[test]
fn damage_costs_time_and_nothing_else() {
    let check = |damage: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let inner = Counting::new(1);
        embed(&cached(&inner, Some(folder.path())), &["a", "bb"]).unwrap();
        inner.requests();
        files(folder.path()).iter().for_each(|file| damage(file));
        for expect in [vec!["a", "bb"], vec![]] {
            assert_eq!(embed(&cached(&inner, Some(folder.path())), &["a", "bb"]).unwrap(), [1.0, 2.0]);
            assert_eq!(inner.requests(), expect, "the file is rebuilt once");
        }
    };
    check(&|file| fs::write(file, b"").unwrap());
    check(&|file| fs::write(file, b"EPIVECS1 and something else").unwrap());
    check(&|file| {
        let mut bytes = fs::read(file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(file, bytes).unwrap();
    });
    check(&|file| {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
    });
}

#[test]
fn a_folder_that_cannot_be_there_is_no_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let inner = Counting::new(1);
    let embedder = cached(&inner, Some(&file.path().join("below")));
    assert_eq!(embed(&embedder, &["a"]).unwrap(), [1.0]);
}

#[test]
fn a_model_that_changed_its_vectors_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    embed(&cached(&Counting::new(1), Some(folder.path())), &["a", "bb"]).unwrap();
    let inner = Counting::new(2);
    let embedder = cached(&inner, Some(folder.path()));
    assert_eq!(embed(&embedder, &["a", "ccc"]).unwrap(), [1.0, 1.0, 3.0, 3.0]);
}

#[test]
fn many_files_become_one_and_the_oldest_vectors_go() {
    let folder = tempfile::tempdir().unwrap();
    let inner = Counting::new(1);
    for number in 0..40 {
        embed(&cached(&inner, Some(folder.path())), &[&"x".repeat(number)]).unwrap();
    }
    assert!(files(folder.path()).len() < 40);
    let settings = CacheSettings { capacity: 10, folder: Some(folder.path().to_path_buf()) };
    let small = CachedEmbedder::new(Arc::<Counting>::clone(&inner), &settings);
    inner.requests();
    embed(&small, &[&"x".repeat(39), ""]).unwrap();
    assert_eq!(inner.requests(), [""], "the newest is there, the oldest is not");
    assert_eq!(files(folder.path()).len(), 2);
}
