//! The embedder that a configuration describes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "http")]
use epitome_providers::http::HttpError;
use epitome_providers::{CacheSettings, EmbedderChoice, EmbedderError, FastembedSettings, OpenAiSettings};
use epitome_strategy::{Embedder, SettingType, SettingsTable};

use crate::config::Config;
use crate::error::Problem;
use crate::source::Source;
use crate::tables::EmbeddingsTable;
use crate::values::EmbedderName;

/// The embedder, or `None` where it is switched off, or where the table that this build lacks was not asked for: strategies
/// that go by meaning decline then.
pub(crate) fn embedder(config: &Config) -> Result<Option<Arc<dyn Embedder>>, Problem> {
    let table = &config.tables.embeddings;
    let cache = CacheSettings { capacity: table.cache_vectors as usize, folder: path(&table.cache) };
    let built = choice(config).build(&cache);
    if matches!(built, Err(EmbedderError::NotBuilt { .. })) && config.source("embeddings.embedder") == Source::Default {
        return Ok(None);
    }
    built.map_err(|error| {
        let (key, help) = culprit(&error);
        let place =
            config.sources.place(&format!("embeddings.{key}")).or_else(|| config.sources.place("embeddings.embedder"));
        let name = table.embedder.to_value();
        Problem::new(place, format!("`embedder = {name}`: {error}")).with_help(help)
    })
}

/// The key that is most likely the wrong one, and what would be right.
fn culprit(error: &EmbedderError) -> (&'static str, String) {
    const STATIC: &str = "`embedder = \"static\"` needs neither a model nor a network";
    match error {
        EmbedderError::NotBuilt { feature, .. } => ("embedder", format!("{}; {STATIC}", with_feature(feature))),
        EmbedderError::NotInCache { .. } => {
            let build = with_feature("fastembed-download");
            ("model", format!("the key for a folder is `directory`; {build}"))
        }
        EmbedderError::NoRuntimeLibrary { .. } | EmbedderError::RuntimeLibrary { .. } => {
            ("runtime_library", format!("name it with `runtime_library`; {STATIC}"))
        }
        EmbedderError::ModelFile { .. } => ("directory", STATIC.to_owned()),
        EmbedderError::UnknownModel { .. } => ("model", "a model of your own takes a `directory`".to_owned()),
        #[cfg(feature = "http")]
        EmbedderError::Http(HttpError::NoKey { .. } | HttpError::BadKey { .. }) => {
            ("key_variable", "a service that wants no key takes `key_variable = \"\"`".to_owned())
        }
        #[cfg(feature = "http")]
        EmbedderError::Http(HttpError::BadUrl { .. }) => {
            ("base_url", "an address is such as \"http://localhost:11434/v1\"".to_owned())
        }
        #[cfg(feature = "http")]
        EmbedderError::Http(_) => ("embedder", STATIC.to_owned()),
    }
}

/// The command that builds the program with a cargo feature.
fn with_feature(feature: &str) -> String {
    format!("`cargo install --path crates/cli --features {feature}` does that in a checkout of epitome")
}

/// Keys that the file sets and that the chosen embedder does not read.
pub(crate) fn unread(config: &Config) -> Vec<Problem> {
    let table = &config.tables.embeddings;
    let readers = |name: &str| -> &[EmbedderName] {
        match name {
            "model" | "cache" | "cache_vectors" => &[EmbedderName::Fastembed, EmbedderName::OpenAi],
            "directory" | "models" | "runtime_library" | "pooling" => &[EmbedderName::Fastembed],
            "base_url" | "key_variable" | "timeout_seconds" | "batch_size" | "dimensions" => &[EmbedderName::OpenAi],
            _ => &[EmbedderName::Off, EmbedderName::Static, EmbedderName::Fastembed, EmbedderName::OpenAi],
        }
    };
    let quoted = |name: &EmbedderName| format!("`embedder = {}`", name.to_value());
    EmbeddingsTable::FIELDS
        .iter()
        .filter(|field| !readers(field.name).contains(&table.embedder))
        .filter(|field| table.get(field.name).is_some_and(|value| value != (field.default)()))
        .map(|field| {
            let by: Vec<String> = readers(field.name).iter().map(quoted).collect();
            let message = format!("`{}` is read with {} only", field.name, by.join(" and "));
            let problem = Problem::new(config.sources.place(&format!("embeddings.{}", field.name)), message);
            problem.with_help(format!("here it is {}", quoted(&table.embedder)))
        })
        .collect()
}

fn choice(config: &Config) -> EmbedderChoice {
    let table = &config.tables.embeddings;
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
                pooling: table.pooling,
                ..FastembedSettings::default()
            })
        }
        EmbedderName::OpenAi => {
            let defaults = OpenAiSettings::default();
            EmbedderChoice::OpenAi(OpenAiSettings {
                base_url: named(&table.base_url, defaults.base_url),
                called: config.hides_addresses.then(|| "the service of [embeddings]".to_owned()),
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
