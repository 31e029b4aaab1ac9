//! Measures the embedders on this machine: time to the first vector, texts a second, and how well answers are found.
//!
//! `cargo run -p epitome-providers --example embed`. With `EPITOME_FASTEMBED_DIR` (see `tools/fastembed-assets`) fastembed too.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use epitome_engine::block_on;
use epitome_providers::{CacheSettings, EmbedderChoice, FastembedSettings};
use epitome_strategy::{Embedder, Embeddings};

/// A text of 123 tokens when written five times.
const SENTENCE: &str = "The engine reads the session log and decides which tool results may be pruned without losing the \
                        decisions the agent took. ";

fn main() -> Result<(), Box<dyn Error>> {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("../embeddings/tests/check");
    let sets = ["english", "chinese", "identifiers"].map(|name| fs::read_to_string(check.join(format!("{name}.txt"))));
    let [english, chinese, identifiers] = sets;
    let (english, chinese, identifiers) = (english?, chinese?, identifiers?);
    let no_distractors = String::new();
    let sets = [(&english, &no_distractors), (&chinese, &no_distractors), (&identifiers, &english)];
    let mut choices = vec![(EmbedderChoice::Static, 50_000)];
    if let Some(directory) = std::env::var_os("EPITOME_FASTEMBED_DIR").map(PathBuf::from) {
        let runtime_library = Some(directory.join("onnxruntime"));
        let model = "all-MiniLM-L6-v2".to_owned();
        let directory = Some(directory);
        let settings = FastembedSettings { model, directory, runtime_library, ..FastembedSettings::default() };
        choices.push((EmbedderChoice::Fastembed(settings), 128));
    }
    for (choice, n_texts) in choices {
        let start = Instant::now();
        let Some(embedder) = choice.build(&CacheSettings::default())? else { continue };
        block_on(embedder.embed(&["first"]))?;
        let first = start.elapsed();
        let texts: Vec<String> = (0..n_texts).map(|number| format!("{number} {}", SENTENCE.repeat(5))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let start = Instant::now();
        block_on(embedder.embed(&texts))?;
        let rate = f64::from(n_texts) / start.elapsed().as_secs_f64();
        println!("{}: first vector after {first:.1?}, {rate:.0} texts/s of 123 tokens", embedder.name());
        for (set, distractors) in sets {
            println!("    {:.3} mean reciprocal rank", reciprocal_rank(&embedder, set, distractors)?);
        }
    }
    Ok(())
}

fn reciprocal_rank(embedder: &Arc<dyn Embedder>, set: &str, distractors: &str) -> Result<f64, Box<dyn Error>> {
    let is_text = |line: &&str| !line.starts_with('#') && !line.is_empty();
    let pairs = || set.lines().filter(is_text).filter_map(|line| line.split_once(" => "));
    let (questions, mut passages): (Vec<&str>, Vec<&str>) = pairs().unzip();
    passages.extend(set.lines().filter(is_text).filter(|line| !line.contains(" => ")));
    passages
        .extend(distractors.lines().filter(is_text).map(|line| line.split_once(" => ").map_or(line, |(_, line)| line)));
    let (asked, given) = (block_on(embedder.embed(&questions))?, block_on(embedder.embed(&passages))?);
    let mut sum = 0.0;
    for at in 0..questions.len() {
        let question = asked.row(at).unwrap_or_default();
        let near = |passage: usize| Embeddings::similarity(question, given.row(passage).unwrap_or_default());
        let nearer = (0..passages.len()).filter(|passage| near(*passage) > near(at)).count();
        sum += 1.0 / (1.0 + nearer as f64);
    }
    Ok(sum / questions.len() as f64)
}
