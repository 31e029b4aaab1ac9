//! A model's files: in a folder, in the cache, or on their way.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ::fastembed::{
    EmbeddingModel, InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

use super::super::{EmbedderError, FastembedPooling};

/// The file names of the network, the likeliest first.
const MODEL_NAMES: &[&str] =
    &["model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"];

/// The number of bytes at either end of the network that go into its fingerprint.
const FINGERPRINTED_BYTES: u64 = 1024 * 1024;

/// The files of a model.
#[derive(Debug, Clone)]
pub(super) struct ModelFiles {
    directory: PathBuf,
    network: String,
    /// Weights beside the network, for models that keep them apart.
    weights: Vec<String>,
}

impl ModelFiles {
    /// The files in `directory`.
    pub(super) fn find(directory: &Path) -> Result<Self, EmbedderError> {
        let network = MODEL_NAMES.iter().find(|name| directory.join(name).is_file()).unwrap_or(&MODEL_NAMES[0]);
        Self::with_network(directory, network, &[])
    }

    fn with_network(directory: &Path, network: &str, weights: &[String]) -> Result<Self, EmbedderError> {
        let files = Self { directory: directory.to_path_buf(), network: network.to_owned(), weights: weights.to_vec() };
        let tokenizer = ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];
        for name in tokenizer.into_iter().chain([network]).chain(weights.iter().map(String::as_str)) {
            fs::metadata(directory.join(name)).map_err(|error| files.unreadable(name, &error))?;
        }
        Ok(files)
    }

    fn unreadable(&self, file: &str, error: &dyn std::fmt::Display) -> EmbedderError {
        EmbedderError::ModelFile {
            file: file.to_owned(),
            directory: self.directory.clone(),
            problem: error.to_string(),
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, EmbedderError> {
        fs::read(self.directory.join(name)).map_err(|error| self.unreadable(name, &error))
    }

    /// Tells models apart: the network's length and both of its ends, and the tokenizer. Reading all of a network would take
    /// longer than some sessions' compaction.
    pub(super) fn fingerprint(&self) -> Result<String, EmbedderError> {
        let mut hasher = blake3::Hasher::new();
        let mut read = || -> io::Result<()> {
            let mut file = File::open(self.directory.join(&self.network))?;
            let length = file.metadata()?.len();
            hasher.update(&length.to_le_bytes());
            let mut end = Vec::new();
            (&mut file).take(FINGERPRINTED_BYTES).read_to_end(&mut end)?;
            hasher.update(&end);
            end.clear();
            file.seek(SeekFrom::Start(length.saturating_sub(FINGERPRINTED_BYTES)))?;
            file.read_to_end(&mut end)?;
            hasher.update(&end);
            Ok(())
        };
        read().map_err(|error| self.unreadable(&self.network, &error))?;
        hasher.update(&self.bytes("tokenizer.json")?);
        Ok(hasher.finalize().to_hex()[..12].to_owned())
    }

    /// The model, ready to run. Takes a quarter of a second for a small one.
    pub(super) fn load(
        &self,
        pooling: Pooling,
        options: InitOptionsUserDefined,
    ) -> Result<TextEmbedding, EmbedderError> {
        let tokenizer_files = TokenizerFiles {
            tokenizer_file: self.bytes("tokenizer.json")?,
            config_file: self.bytes("config.json")?,
            special_tokens_map_file: self.bytes("special_tokens_map.json")?,
            tokenizer_config_file: self.bytes("tokenizer_config.json")?,
        };
        let mut model =
            UserDefinedEmbeddingModel::new(self.bytes(&self.network)?, tokenizer_files).with_pooling(pooling);
        for weights in &self.weights {
            let name = weights.rsplit('/').next().unwrap_or(weights).to_owned();
            model = model.with_external_initializer(name, self.bytes(weights)?);
        }
        TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| self.unreadable(&self.network, &error))
    }
}

/// fastembed's kind of pooling.
pub(super) fn pooling(chosen: FastembedPooling) -> Pooling {
    match chosen {
        FastembedPooling::Mean => Pooling::Mean,
        FastembedPooling::First => Pooling::Cls,
    }
}

/// fastembed's model of this name, and how the hub calls it.
pub(super) fn known_model(name: &str) -> Result<(EmbeddingModel, String), EmbedderError> {
    let models = TextEmbedding::list_supported_models();
    let is_it = |info: &::fastembed::ModelInfo<EmbeddingModel>| {
        format!("{:?}", info.model).eq_ignore_ascii_case(name) || info.model_code.eq_ignore_ascii_case(name)
    };
    // Some models share a repository on the hub; the files tell them apart.
    let found = models.iter().find(|info| is_it(info));
    let found = found.map(|info| (info.model.clone(), format!("{}/{}", info.model_code, info.model_file)));
    found.ok_or_else(|| {
        let mut known: Vec<String> = models.iter().map(|info| format!("{:?}", info.model)).collect();
        known.sort();
        EmbedderError::UnknownModel { model: name.to_owned(), known: known.join(", ") }
    })
}

/// `$XDG_CACHE_HOME/epitome/models`.
pub(super) fn default_cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir).join("epitome/models")
}

/// The files of `model` in a cache that the hub's tools laid out:
/// `models--<owner>--<name>/refs/main` names the folder under `snapshots/`.
pub(super) fn cached_model(cache: &Path, model: &EmbeddingModel) -> Result<ModelFiles, EmbedderError> {
    let not_there = || EmbedderError::NotInCache { model: format!("{model:?}"), cache: cache.to_path_buf() };
    let info = TextEmbedding::get_model_info(model).map_err(|_| not_there())?;
    let repository = cache.join(format!("models--{}", info.model_code.replace('/', "--")));
    let revision = fs::read_to_string(repository.join("refs/main")).map_err(|_| not_there())?;
    let snapshot = repository.join("snapshots").join(revision.trim());
    if !snapshot.join(&info.model_file).is_file() {
        return Err(not_there());
    }
    ModelFiles::with_network(&snapshot, &info.model_file, &info.additional_files)
}

/// Fetches the model into the cache and loads it.
#[cfg(feature = "fastembed-download")]
pub(super) fn download(
    model: &EmbeddingModel,
    cache: &Path,
    options: InitOptionsUserDefined,
    _: EmbedderError,
) -> Result<TextEmbedding, EmbedderError> {
    let mut fetch = ::fastembed::TextInitOptions::new(model.clone())
        .with_cache_dir(cache.to_path_buf())
        .with_show_download_progress(false)
        .with_max_length(options.max_length);
    fetch.environment = options.environment;
    fetch.intra_threads = options.intra_threads;
    TextEmbedding::try_new(fetch).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        EmbedderError::ModelFile {
            file: format!("{model:?}"),
            directory: cache.to_path_buf(),
            problem: format!("it is not there and cannot be downloaded: {error}{cause}"),
        }
    })
}

/// This build does not fetch models.
#[cfg(not(feature = "fastembed-download"))]
pub(super) fn download(
    _: &EmbeddingModel,
    _: &Path,
    _: InitOptionsUserDefined,
    missing: EmbedderError,
) -> Result<TextEmbedding, EmbedderError> {
    Err(missing)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const FILES: &[&str] =
        &["model.onnx", "tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

    fn filled(directory: &Path, files: &[&str]) {
        fs::create_dir_all(directory).unwrap();
        files.iter().for_each(|file| fs::write(directory.join(file), file).unwrap());
    }

    #[test]
    fn each_file_is_missed() {
        for missing in FILES {
            let folder = tempfile::tempdir().unwrap();
            filled(folder.path(), FILES);
            ModelFiles::find(folder.path()).unwrap();
            fs::remove_file(folder.path().join(missing)).unwrap();
            let message = ModelFiles::find(folder.path()).unwrap_err().to_string();
            assert!(message.contains(&format!("the model's `{missing}` cannot be read")), "{message}");
        }
    }

    #[test]
    fn fingerprints_tell_models_apart() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), FILES);
        let fingerprint = || ModelFiles::find(folder.path()).unwrap().fingerprint().unwrap();
        let first = fingerprint();
        assert_eq!(fingerprint(), first);
        fs::write(folder.path().join("model.onnx"), "other").unwrap();
        assert_ne!(fingerprint(), first);
    }

    #[test]
    fn models_by_name() {
        let (model, _) = known_model("multilinguale5small").unwrap();
        assert_eq!(model, EmbeddingModel::MultilingualE5Small);
        assert_eq!(known_model("intfloat/multilingual-e5-small").unwrap().0, EmbeddingModel::MultilingualE5Small);
        let message = known_model("nothing").unwrap_err().to_string();
        assert!(message.contains("no model `nothing`; it has AllMiniLML12V2, "), "{message}");
    }

    #[test]
    fn the_cache_is_read_as_the_hub_lays_it_out() {
        let cache = tempfile::tempdir().unwrap();
        let model = EmbeddingModel::AllMiniLML6V2;
        let message = cached_model(cache.path(), &model).unwrap_err().to_string();
        assert!(message.contains("`AllMiniLML6V2` is not in the cache"), "{message}");
        let repository = cache.path().join("models--Qdrant--all-MiniLM-L6-v2-onnx");
        filled(&repository.join("snapshots/abc"), FILES);
        filled(&repository.join("refs"), &[]);
        fs::write(repository.join("refs/main"), "abc\n").unwrap();
        assert_eq!(cached_model(cache.path(), &model).unwrap().directory, repository.join("snapshots/abc"));
    }
}
