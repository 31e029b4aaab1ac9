//! The settings of the embedders: plain data, there in every build.

use std::path::PathBuf;
use std::time::Duration;

use epitome_strategy::named;

/// A neural model that runs on this machine, through fastembed and ONNX Runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastembedSettings {
    /// One of fastembed's models by its name, such as `MultilingualE5Small`, in any case; or any name where `directory` is
    /// given.
    pub model: String,
    /// A folder with `model.onnx` and the tokenizer's four files. Without it the model is looked for in `cache_directory`.
    pub directory: Option<PathBuf>,
    /// Where models lie that were downloaded, laid out as the model hub's own tools do it. Default:
    /// `$XDG_CACHE_HOME/epitome/models`.
    pub cache_directory: Option<PathBuf>,
    /// ONNX Runtime's library, or the folder that holds it. Default: `ORT_DYLIB_PATH`, then
    /// `$XDG_DATA_HOME/epitome/onnxruntime/`. A process loads one library: the first one asked for.
    pub runtime_library: Option<PathBuf>,
    /// The way in which the model's output becomes one vector, for a model in `directory`.
    pub pooling: FastembedPooling,
    /// The prefix of each text. Default: `query: ` for the E5 models, which were trained with it, else nothing.
    pub prefix: Option<String>,
    /// The number of the model's tokens of a text that are read.
    pub max_tokens: usize,
    /// Threads for one text; `None` for one a core.
    pub threads: Option<usize>,
}

/// The way in which a model's output becomes one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FastembedPooling {
    /// The mean of all tokens: MiniLM, E5.
    #[default]
    Mean,
    /// The first token: BGE, Snowflake.
    First,
}

named! { FastembedPooling { Mean = "mean", First = "first" } }

impl Default for FastembedSettings {
    /// `AllMiniLML6V2` (English), out of the cache, 256 tokens a text.
    fn default() -> Self {
        Self {
            model: "AllMiniLML6V2".to_owned(),
            directory: None,
            cache_directory: None,
            runtime_library: None,
            pooling: FastembedPooling::Mean,
            prefix: None,
            max_tokens: 256,
            threads: None,
        }
    }
}

/// A service with an OpenAI-compatible endpoint for embeddings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAiSettings {
    /// The address that `/embeddings` is appended to: `https://api.openai.com/v1`, `http://localhost:11434/v1`.
    pub base_url: String,
    /// The service's name in errors, for readers who must not learn its address. Errors show the address where it is
    /// missing.
    pub called: Option<String>,
    /// The model as the service calls it.
    pub model: String,
    /// The environment variable with the key; `None` for a service that wants none.
    pub key_variable: Option<String>,
    /// The longest wait for one request.
    pub timeout: Duration,
    /// The number of tries of a request, the first one included.
    pub tries: u32,
    /// Texts in one request; at least 1.
    pub batch_size: usize,
    /// The number of values in a vector, where the model can shorten its vectors.
    pub dimensions: Option<usize>,
    /// The number of bytes of a text that are sent. Services refuse a request with a text beyond the model's limit of
    /// tokens.
    pub max_text_bytes: usize,
}

impl Default for OpenAiSettings {
    /// OpenAI's own service with `text-embedding-3-small`; 64 texts a request, 12,000 bytes a text, 30 s, 3 tries.
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            called: None,
            model: "text-embedding-3-small".to_owned(),
            key_variable: Some("OPENAI_API_KEY".to_owned()),
            timeout: Duration::from_secs(30),
            tries: 3,
            batch_size: 64,
            dimensions: None,
            max_text_bytes: 12_000,
        }
    }
}
