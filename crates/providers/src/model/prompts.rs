//! The prompts: Markdown files with placeholders, compiled in, each replaceable by a file of the same name.

use std::path::{Path, PathBuf};

use epitome_strategy::Language;
use thiserror::Error;

/// A prompt's file, the placeholders that it must hold, and the text in both languages.
struct ShippedPrompt {
    name: &'static str,
    placeholders: &'static [&'static str],
    texts: [&'static str; 2],
}

macro_rules! shipped {
    ($($name:literal $placeholders:expr),* $(,)?) => {
        [$(ShippedPrompt {
            name: $name,
            placeholders: &$placeholders,
            texts: [include_str!(concat!("prompts/en/", $name, ".md")), include_str!(concat!("prompts/zh/", $name, ".md"))],
        }),*]
    };
}

const SHIPPED: [ShippedPrompt; 13] = shipped![
    "system" [],
    "summarize" ["transcript", "layout", "rules"],
    "update" ["summary", "transcript", "layout", "rules"],
    "merge" ["parts", "layout", "rules"],
    "retry" ["answer", "problem", "words"],
    "sections" [],
    "brief" [],
    "json" [],
    "rules" ["words", "focus", "keep"],
    "focus" ["question"],
    "keep" ["strings"],
    "handoff" ["update", "layout", "rules"],
    "refresh" [],
];

const FOLDERS: [&str; 2] = ["en", "zh"];

/// A problem of a folder of prompts.
#[derive(Debug, Error)]
pub enum PromptError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is a file of a name that no prompt has.
    #[error("`{path}` is not a prompt; prompts are {known}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The names that there are.
        known: String,
    },
    /// A prompt does not say where something goes that the model has to see.
    #[error("`{path}` does not hold `{{{placeholder}}}`")]
    Missing {
        /// The file.
        path: PathBuf,
        /// The placeholder's name.
        placeholder: &'static str,
    },
    /// A prompt holds a placeholder that it does not have.
    #[error("`{path}` holds `{{{placeholder}}}`, which means nothing there")]
    Meaningless {
        /// The file.
        path: PathBuf,
        /// The placeholder's name.
        placeholder: String,
    },
}

/// The prompts of both languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompts([PromptTexts; 2]);

/// The prompts of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptTexts(Vec<String>);

impl Prompts {
    /// The prompts that ship, with the files of `folder` in their place; or everything that is wrong with these.
    pub(super) fn load(folder: Option<&Path>) -> Result<Self, Vec<PromptError>> {
        let mut languages =
            [0, 1].map(|language| SHIPPED.iter().map(|it| it.texts[language].trim().to_owned()).collect::<Vec<_>>());
        let mut problems = Vec::new();
        if let Some(folder) = folder {
            for (language, name) in languages.iter_mut().zip(FOLDERS) {
                replace(&folder.join(name), language, &mut problems);
            }
            let strays = entries(folder, &mut problems);
            problems.extend(
                strays.into_iter().filter(|path| !FOLDERS.iter().any(|name| path.ends_with(name))).map(unknown),
            );
        }
        if problems.is_empty() { Ok(Self(languages.map(PromptTexts))) } else { Err(problems) }
    }

    /// The prompts of a language.
    pub(super) fn texts(&self, language: Language) -> &PromptTexts {
        language.pick(&self.0[0], &self.0[1])
    }
}

impl PromptTexts {
    /// The prompt of that name as it is.
    pub(super) fn get(&self, name: &str) -> &str {
        let index = SHIPPED.iter().position(|shipped| shipped.name == name);
        index.and_then(|index| self.0.get(index)).map_or("", String::as_str)
    }

    /// The prompt of that name with `values` in the places of the placeholders; what a value holds is not looked at again.
    pub(super) fn fill(&self, name: &str, values: &[(&str, &str)]) -> String {
        let mut filled = String::new();
        for piece in pieces(self.get(name)) {
            match piece {
                TemplatePiece::Text(text) => filled.push_str(text),
                TemplatePiece::Placeholder(name) => {
                    filled.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
                }
            }
        }
        filled
    }
}

/// Puts the files of one language's folder in the places of `texts`. A folder that is not there replaces nothing.
fn replace(folder: &Path, texts: &mut [String], problems: &mut Vec<PromptError>) {
    if !folder.exists() {
        return;
    }
    for path in entries(folder, problems) {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".md"));
        let Some(index) = SHIPPED.iter().position(|shipped| Some(shipped.name) == name) else {
            problems.push(unknown(path));
            continue;
        };
        match epitome_shelf::read_plain_text(&path) {
            Ok(text) => {
                check(&path, &SHIPPED[index], &text, problems);
                texts[index] = text.trim().to_owned();
            }
            Err(source) => problems.push(PromptError::Unreadable { path, source }),
        }
    }
}

fn check(path: &Path, shipped: &ShippedPrompt, text: &str, problems: &mut Vec<PromptError>) {
    let path = || path.to_owned();
    let held: Vec<&str> = pieces(text)
        .filter_map(|piece| match piece {
            TemplatePiece::Placeholder(name) => Some(name),
            TemplatePiece::Text(_) => None,
        })
        .collect();
    let missing = shipped.placeholders.iter().filter(|name| !held.contains(name));
    problems.extend(missing.map(|placeholder| PromptError::Missing { path: path(), placeholder }));
    let meaningless = held.iter().filter(|name| !shipped.placeholders.contains(name));
    problems.extend(meaningless.map(|name| PromptError::Meaningless { path: path(), placeholder: (*name).to_owned() }));
}

fn unknown(path: PathBuf) -> PromptError {
    let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
    let known = format!("en/NAME.md and zh/NAME.md, where NAME is one of {}", names.join(", "));
    PromptError::Unknown { path, known }
}

/// The entries of a folder, sorted; hidden files are ignored.
fn entries(folder: &Path, problems: &mut Vec<PromptError>) -> Vec<PathBuf> {
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let read = std::fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = read.unwrap_or_else(|source| {
        problems.push(PromptError::Unreadable { path: folder.to_owned(), source });
        Vec::new()
    });
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    paths
}

enum TemplatePiece<'t> {
    Text(&'t str),
    Placeholder(&'t str),
}

/// A template as texts and placeholders: a word of small letters in braces is one.
fn pieces(template: &str) -> impl Iterator<Item = TemplatePiece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let word =
            |text: &str| Some(text.strip_prefix('{')?.split_once('}')?.0.len()).filter(|end| is_word(&text[1..=*end]));
        if let Some(length) = word(rest) {
            let name = &rest[1..=length];
            rest = &rest[length + 2..];
            return Some(TemplatePiece::Placeholder(name));
        }
        let end =
            rest.match_indices('{').map(|(at, _)| at).find(|at| word(&rest[*at..]).is_some()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(TemplatePiece::Text(text))
    })
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
