//! The embedder and the cue words that a configuration describes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use epitome_providers::{CacheSettings, EmbedderChoice, FastembedPooling, FastembedSettings, OpenAiSettings};
use epitome_strategy::{Cue, Embedder, Lexicon, SettingType, SettingsTable};

use crate::config::Config;
use crate::error::Problem;
use crate::tables::EmbeddingsTable;
use crate::values::{EmbedderName, PoolingName};

/// The embedder, or `None` where it is switched off.
pub(crate) fn embedder(config: &Config) -> Result<Option<Arc<dyn Embedder>>, Problem> {
    let table = &config.embeddings;
    let cache = CacheSettings { capacity: table.cache_vectors as usize, folder: path(&table.cache) };
    choice(table).build(&cache).map_err(|error| {
        let problem = Problem::new(config.place("embeddings.embedder"), format!("`embedder`: {error}"));
        problem.with_help("`static` needs neither a model nor a network")
    })
}

fn choice(table: &EmbeddingsTable) -> EmbedderChoice {
    let named = |text: &str, otherwise: String| if text.is_empty() { otherwise } else { text.to_owned() };
    match table.embedder {
        EmbedderName::Off => EmbedderChoice::Off,
        EmbedderName::Static => EmbedderChoice::Static,
        EmbedderName::Fastembed => {
            let defaults = FastembedSettings::default();
            EmbedderChoice::Fastembed(FastembedSettings {
                model: named(&table.model, defaults.model),
                directory: path(&table.directory),
                cache_directory: path(&table.models),
                runtime_library: path(&table.runtime_library),
                pooling: match table.pooling {
                    PoolingName::Mean => FastembedPooling::Mean,
                    PoolingName::First => FastembedPooling::First,
                },
                ..FastembedSettings::default()
            })
        }
        EmbedderName::OpenAi => {
            let defaults = OpenAiSettings::default();
            EmbedderChoice::OpenAi(OpenAiSettings {
                base_url: named(&table.base_url, defaults.base_url),
                model: named(&table.model, defaults.model),
                key_variable: Some(table.key_variable.clone()).filter(|name| !name.is_empty()),
                timeout: Duration::from_secs(table.timeout_seconds.into()),
                batch_size: table.batch_size as usize,
                dimensions: Some(table.dimensions as usize).filter(|dimensions| *dimensions > 0),
                ..OpenAiSettings::default()
            })
        }
    }
}

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

/// The cue words that ship, and those that the configuration adds.
pub(crate) fn lexicon(config: &Config) -> Result<Arc<Lexicon>, Problem> {
    let words = |(cue, name): (Cue, &str)| {
        let value = config.lexicon.get(&name.replace('-', "_"))?;
        let words: Vec<String> = SettingType::from_value(&value).ok()?;
        (!words.is_empty()).then_some((cue, words))
    };
    let more: std::collections::BTreeMap<Cue, Vec<String>> = Cue::ALL.into_iter().filter_map(words).collect();
    if more.is_empty() {
        return Ok(Lexicon::standard());
    }
    Lexicon::extended(&more).map(Arc::new).map_err(|error| {
        let holds = |(_, words): &(&Cue, &Vec<String>)| words.contains(&error.word);
        let key = more.iter().find(holds).map(|(cue, _)| format!("lexicon.{}", cue.as_str().replace('-', "_")));
        Problem::new(key.and_then(|key| config.place(&key)), error.to_string())
    })
}
