//! `epitome init`: a commented configuration file, or the crate of a strategy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::InitArgs;
use crate::failure::{CommandResult, Failure};
use crate::output::{Target, wrote};
use crate::render::style::STRONG;
use crate::terminal::tell;

/// The files of a strategy's crate: path and content, in which `{{id}}`, `{{Type}}`, `{{crate}}`, and `{{strategy}}`
/// and `{{testkit}}` (the places of those packages) are filled in.
const SKELETON: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("skeleton/Cargo.toml.in")),
    ("README.md", include_str!("skeleton/README.md.in")),
    ("src/lib.rs", include_str!("skeleton/lib.rs.in")),
    ("src/tests.rs", include_str!("skeleton/tests.rs.in")),
];

pub(crate) fn run(args: &InitArgs, quiet: bool) -> CommandResult {
    if let Some(name) = &args.strategy {
        return strategy(name, args, quiet);
    }
    let target = Target::new(Some(&args.output), None)?;
    if let Target::File { path, .. } = &target
        && path.exists()
        && !args.force
    {
        let failure = Failure::usage_text(format!("{} is there already", path.display()));
        return Err(failure.with_help("name another file with -o, or replace it with --force"));
    }
    target.write(epitome::config::template(&epitome::registry()).as_bytes())?;
    if let (Target::File { path, .. }, false) = (&target, quiet) {
        wrote(&target, "every key with its default and what it does");
        tell(&format!("use it with {STRONG}--config {}{STRONG:#}\n", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the crate of a strategy into a folder that is not there yet, or empty.
fn strategy(name: &str, args: &InitArgs, quiet: bool) -> CommandResult {
    if !is_kebab_case(name) {
        let failure = Failure::usage_text(format!("`{name}` is not a name of a strategy"));
        return Err(failure.with_help("a name is lower-case words and digits with hyphens, such as my-strategy"));
    }
    if epitome::registry().get(name).is_ok() {
        let failure = Failure::usage_text(format!("there is a strategy `{name}` already"));
        return Err(failure.with_help("`epitome strategies` lists those that ship"));
    }
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(name));
    let is_taken = if folder.is_dir() { fs::read_dir(&folder)?.next().is_some() } else { folder.exists() };
    if is_taken {
        let failure = Failure::usage_text(format!("{} is there already", folder.display()));
        return Err(failure.with_help("name a folder that is not there, or an empty one, with --dir"));
    }
    let Some(epitome) = &args.epitome else {
        let failure = Failure::usage_text(format!("no version of epitome is published for `{name}` to depend on"));
        return Err(failure.with_help(
            "say where it is with --epitome: the folder of a checkout, or the address of a git repository",
        ));
    };
    let fill = SkeletonValues::new(name, epitome)?;
    for (file, template) in SKELETON {
        let path = folder.join(file);
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, fill.fill(template)));
        written.map_err(|error| {
            let error = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
            Failure::usage(error).with_help("name a folder that you may write to with --dir")
        })?;
    }
    if !quiet {
        let shown = folder.display();
        tell(&format!("the crate of `{name}` written to {STRONG}{shown}{STRONG:#}\n"));
        tell(&format!("test it with {STRONG}cargo test --manifest-path {shown}/Cargo.toml{STRONG:#}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lower-case words and digits with single hyphens, a letter first.
fn is_kebab_case(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.split('-').all(is_word)
}

/// The values for the names in the skeleton.
struct SkeletonValues {
    values: [(&'static str, String); 5],
}

impl SkeletonValues {
    fn new(name: &str, epitome: &Path) -> Result<Self, Failure> {
        let capital = |word: &str| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
        };
        let place = |folder: &str| -> Result<String, Failure> {
            // cargo takes addresses with a scheme alone.
            if let Some(address) = epitome.to_str().filter(|text| text.contains("://")) {
                return Ok(format!("{{ git = {} }}", serde_json::to_string(address)?));
            }
            let path = epitome.join("crates").join(folder);
            let found = fs::canonicalize(&path).ok().filter(|path| path.join("Cargo.toml").is_file());
            let found = found.ok_or_else(|| {
                let failure = Failure::usage_text(format!("there is no package in {}", path.display()));
                failure.with_help("--epitome takes the folder of a checkout of epitome, or an address such as https://HOST/epitome.git")
            })?;
            // A TOML string is spelt as a JSON one.
            Ok(format!("{{ path = {} }}", serde_json::to_string(&found.display().to_string())?))
        };
        let values = [
            ("{{id}}", name.to_owned()),
            ("{{Type}}", name.split('-').map(capital).collect()),
            ("{{crate}}", name.replace('-', "_")),
            ("{{strategy}}", place("strategy")?),
            ("{{testkit}}", place("testkit")?),
        ];
        Ok(Self { values })
    }

    fn fill(&self, template: &str) -> String {
        self.values.iter().fold(template.to_owned(), |text, (key, value)| text.replace(key, value))
    }
}
