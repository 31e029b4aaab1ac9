//! fastembed with a real model. `EPITOME_FASTEMBED_DIR` names the folder that `tools/fastembed-assets/fetch` filled; with
//! `EPITOME_REQUIRE_FASTEMBED=1` it is an error that there is none.
#![allow(clippy::unwrap_used)]

#[cfg(not(feature = "fastembed"))]
#[test]
fn a_build_without_fastembed_says_so() {
    use epitome_providers::{CacheSettings, EmbedderChoice};
    assert!(std::env::var_os("EPITOME_REQUIRE_FASTEMBED").is_none(), "build with `--features fastembed`");
    let message =
        EmbedderChoice::Fastembed(Default::default()).build(&CacheSettings::default()).unwrap_err().to_string();
    assert_eq!(message, "this build has no embedder `fastembed`: build it with the cargo feature `fastembed`");
}

#[cfg(feature = "fastembed")]
mod with_fastembed {
    use std::io::Write;
    use std::path::PathBuf;

    use epitome_engine::block_on;
    use epitome_providers::{CacheSettings, EmbedderChoice, FastembedEmbedder, FastembedSettings};
    use epitome_strategy::{Embedder, Embeddings};

    fn settings() -> Option<FastembedSettings> {
        let Some(directory) = std::env::var_os("EPITOME_FASTEMBED_DIR").map(PathBuf::from) else {
            let required = std::env::var("EPITOME_REQUIRE_FASTEMBED").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "EPITOME_FASTEMBED_DIR is not set: run tools/fastembed-assets/fetch FOLDER and name the folder"
            );
            // Past the test harness, which swallows what is printed.
            let _ = writeln!(std::io::stderr(), "SKIPPED: EPITOME_FASTEMBED_DIR is not set, fastembed was not run");
            return None;
        };
        let runtime_library = Some(directory.join("onnxruntime"));
        let model = "all-MiniLM-L6-v2".to_owned();
        Some(FastembedSettings { model, directory: Some(directory), runtime_library, ..FastembedSettings::default() })
    }

    #[test]
    fn a_real_model_knows_what_is_near() {
        let Some(settings) = settings() else { return };
        let embedder = FastembedEmbedder::new(&settings).unwrap();
        let long = "a text far beyond what the model reads ".repeat(2000);
        let texts =
            ["the cat sat on the mat", "a kitten is sitting on a rug", "quarterly revenue grew by 4%", "", &long];
        let embeddings = block_on(embedder.embed(&texts)).unwrap();
        assert_eq!((embeddings.dimensions(), embeddings.len(), embedder.dimensions()), (384, texts.len(), 384));
        let row = |at: usize| embeddings.row(at).unwrap();
        let near = Embeddings::similarity(row(0), row(1));
        let far = Embeddings::similarity(row(0), row(2));
        assert!(near > far + 0.3, "{near} {far}");
        assert!((0..texts.len()).all(|at| (Embeddings::similarity(row(at), row(at)) - 1.0).abs() < 1e-4));

        // A text's vector is the same in any company, so that the cache may ask for it in any.
        let alone = block_on(embedder.embed(&texts[1..2])).unwrap();
        assert_eq!(alone.row(0), embeddings.row(1));

        let name = embedder.name();
        assert!(name.starts_with("fastembed:all-MiniLM-L6-v2#"), "{name}");
        let choice = EmbedderChoice::Fastembed(settings);
        let cached = choice.build(&CacheSettings::default()).unwrap().unwrap();
        assert_eq!(cached.name(), name, "the name does not change between runs");
        assert_eq!(block_on(cached.embed(&texts[..2])).unwrap().values(), &embeddings.values()[..2 * 384]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libonnxruntime.so");
        std::fs::write(&library, "").unwrap();
        let check = |settings: FastembedSettings, expect: &str| {
            let message = FastembedEmbedder::new(&settings).unwrap_err().to_string();
            assert!(message.contains(expect), "{message}");
        };
        let base = || FastembedSettings { runtime_library: Some(library.clone()), ..FastembedSettings::default() };
        let nowhere = Some(folder.path().join("nowhere"));
        check(
            FastembedSettings { runtime_library: nowhere.clone(), ..base() },
            "ONNX Runtime's library was not found; looked for `",
        );
        check(FastembedSettings { directory: nowhere.clone(), ..base() }, "nowhere`: No such file");
        check(FastembedSettings { model: "none".to_owned(), ..base() }, "fastembed has no model `none`; it has ");
        if !cfg!(feature = "fastembed-download") {
            check(
                FastembedSettings { cache_directory: nowhere, ..base() },
                "the model `AllMiniLML6V2` is not in the cache `",
            );
        }
    }
}
