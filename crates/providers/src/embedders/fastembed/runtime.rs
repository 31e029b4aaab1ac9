//! ONNX Runtime's library: finding and loading it.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use epitome_strategy::lock;

use ort::environment::Environment;

use super::super::EmbedderError;

/// The library's file: the one that `chosen` names, else `ORT_DYLIB_PATH`, else the user's data folder.
pub(super) fn find(chosen: Option<&Path>) -> Result<PathBuf, EmbedderError> {
    let candidates = match chosen {
        Some(chosen) => vec![chosen.to_path_buf()],
        None => std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from).into_iter().chain(data_folder()).collect(),
    };
    find_among(candidates)
}

fn find_among(looked_at: Vec<PathBuf>) -> Result<PathBuf, EmbedderError> {
    looked_at.iter().find_map(|candidate| library_at(candidate)).ok_or(EmbedderError::NoRuntimeLibrary { looked_at })
}

fn data_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))?;
    Some(base.join("epitome/onnxruntime"))
}

/// `path` where it is a file; the library in it where it is a folder.
fn library_at(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_path_buf());
    }
    let names = std::fs::read_dir(path).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_library = |name: &String| {
        name == "onnxruntime.dll"
            || name.starts_with("libonnxruntime.so")
            || name.starts_with("libonnxruntime.") && name.ends_with(".dylib")
    };
    // The shortest name is the one without a version, where there is one.
    let name = names.filter(is_library).min_by_key(|name| (name.len(), name.clone()))?;
    Some(path.join(name))
}

/// ONNX Runtime's environment, out of `library` at the first call. A process has one: later calls get the same.
pub(super) fn environment(library: &Path) -> Result<Environment, EmbedderError> {
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
    let mut environment = lock(&ENVIRONMENT);
    if let Some(environment) = &*environment {
        return Ok(environment.clone());
    }
    let failed = |problem: String| EmbedderError::RuntimeLibrary { path: library.to_path_buf(), problem };
    // Anything else of `ort` before this panics where the library is missing or too old.
    let builder = ort::init_from(library).map_err(|error| failed(error.to_string()))?;
    let built = builder.with_name("epitome").build().map_err(|error| failed(error.to_string()))?;
    Ok(environment.insert(built).clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn libraries_in_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert_eq!(library_at(path), None);
        assert_eq!(library_at(&path.join("nowhere")), None);
        for name in ["libonnxruntime_providers_shared.so", "readme"] {
            fs::write(path.join(name), "").unwrap();
        }
        assert_eq!(library_at(path), None);
        for name in ["libonnxruntime.so.1.31.1", "libonnxruntime.so"] {
            fs::write(path.join(name), "").unwrap();
            assert_eq!(library_at(path), Some(path.join(name)));
        }
        assert_eq!(library_at(&path.join("readme")), Some(path.join("readme")), "a file is taken as it is");
    }

    #[test]
    fn a_missing_library_says_where_it_was_looked_for() {
        let message = find(Some(Path::new("/no/such/place"))).unwrap_err().to_string();
        assert!(message.contains("looked for `/no/such/place`") && message.contains("ORT_DYLIB_PATH"), "{message}");
    }

    #[test]
    fn something_that_is_no_library_is_an_error_and_no_panic() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "no library").unwrap();
        let outcome = environment(file.path());
        // Another test of this process may have loaded the real one before.
        if let Err(error) = outcome {
            assert!(error.to_string().contains("cannot be loaded"), "{error}");
        }
    }
}
