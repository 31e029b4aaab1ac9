//! Neural models on this machine, through fastembed and ONNX Runtime.

mod assets;
mod runtime;

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use ::fastembed::{EmbeddingModel, InitOptionsUserDefined, TextEmbedding};
use epitome_strategy::{EmbedError, Embedder, Embeddings, async_trait, lock};

use super::{EmbedderError, FastembedSettings, beginning, normalize};

/// The approximate largest number of bytes of one of the model's tokens; text beyond `max_tokens` of them is not even
/// cut up.
const BYTES_A_TOKEN: usize = 32;

/// Runs one of fastembed's models, or one that lies in a folder.
///
/// Each text is run on its own: models with dynamic quantization give a text other vectors in other company, and the cache
/// asks for the texts in ever other company. One at a time costs no speed on a processor.
pub struct FastembedEmbedder {
    settings: FastembedSettings,
    library: PathBuf,
    files: Files,
    name: String,
    prefix: String,
    model: Mutex<Option<TextEmbedding>>,
    dimensions: OnceLock<usize>,
}

/// Where the model's files are.
#[derive(Debug, Clone)]
enum Files {
    Directory(assets::ModelFiles),
    Cache { model: EmbeddingModel, directory: PathBuf },
}

impl std::fmt::Debug for FastembedEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FastembedEmbedder")
            .field("name", &self.name)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl FastembedEmbedder {
    /// The embedder of `settings`. Finds the library and the model's files; loads them at the first text.
    ///
    /// # Errors
    ///
    /// The library, the model or one of its files is missing, and the message names the place where it was looked for;
    /// or the name is not one of fastembed's.
    pub fn new(settings: &FastembedSettings) -> Result<Self, EmbedderError> {
        let library = runtime::find(settings.runtime_library.as_deref())?;
        let (files, identity) = match &settings.directory {
            Some(directory) => {
                let files = assets::ModelFiles::find(directory)?;
                let identity = format!("{}#{}", settings.model, files.fingerprint()?);
                (Files::Directory(files), identity)
            }
            None => {
                let (model, code) = assets::known_model(&settings.model)?;
                let directory = settings.cache_directory.clone().unwrap_or_else(assets::default_cache);
                if !cfg!(feature = "fastembed-download") {
                    assets::cached_model(&directory, &model)?;
                }
                (Files::Cache { model, directory }, code)
            }
        };
        let needs_prefix = identity.to_lowercase().contains("e5");
        let prefix = settings.prefix.clone().unwrap_or_else(|| if needs_prefix { "query: " } else { "" }.to_owned());
        let name = format!("fastembed:{identity}/{}/{:?}/{prefix}", settings.max_tokens, settings.pooling);
        let (model, dimensions) = (Mutex::default(), OnceLock::new());
        Ok(Self { settings: settings.clone(), library, files, name, prefix, model, dimensions })
    }

    fn load(&self) -> Result<TextEmbedding, EmbedderError> {
        let environment = runtime::environment(&self.library)?;
        let mut options = InitOptionsUserDefined::new()
            .with_max_length(self.settings.max_tokens)
            .with_environment(environment.clone());
        if let Some(threads) = self.settings.threads {
            options = options.with_intra_threads(threads);
        }
        match &self.files {
            Files::Directory(files) => files.load(assets::pooling(self.settings.pooling), options),
            Files::Cache { model, directory } => match assets::cached_model(directory, model) {
                Ok(files) => {
                    let pooling = TextEmbedding::get_default_pooling_method(model);
                    files.load(pooling.unwrap_or(::fastembed::Pooling::Mean), options)
                }
                Err(missing) => assets::download(model, directory, options, missing),
            },
        }
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |message: String| EmbedError { message, retryable: false };
        let mut model = lock(&self.model);
        let model = match &mut *model {
            Some(model) => model,
            empty => empty.insert(self.load().map_err(|error| failed(error.to_string()))?),
        };
        let max_bytes = self.settings.max_tokens.saturating_mul(BYTES_A_TOKEN);
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let text = format!("{}{}", self.prefix, beginning(text, max_bytes));
            let embedded =
                model.embed([text], Some(1)).map_err(|error| failed(format!("the model failed: {error}")))?;
            let mut vector =
                embedded.into_iter().next().ok_or_else(|| failed("the model gave no vector".to_owned()))?;
            normalize(&mut vector);
            vectors.push(vector);
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for FastembedEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or(0)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        // Inference needs this thread or one like it for its whole time: there is nothing to wait for meanwhile.

        let vectors = self.vectors(texts)?;
        let dimensions = *self.dimensions.get_or_init(|| vectors.first().map_or(0, Vec::len));
        Ok(Embeddings::new(dimensions, vectors.concat()))
    }
}
