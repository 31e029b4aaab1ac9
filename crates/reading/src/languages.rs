//! Which languages the code of a session is in: by the files that were touched, and by what fences say.

use std::collections::HashMap;

use epitome_strategy::{Origin, View};

/// The most languages of a line.
const MOST: usize = 6;

/// Returns the line of `languages.txt` that has a word: a language, and what means it.
fn line_of(word: &str) -> Option<(&'static str, &'static str)> {
    let mut lines = include_str!("languages.txt").lines().filter_map(|line| line.split_once(": "));
    lines.find(|(_, words)| words.split(' ').any(|known| known == word))
}

fn language_of(word: &str) -> Option<&'static str> {
    line_of(&word.to_ascii_lowercase()).map(|(language, _)| language).filter(|language| *language != "-")
}

/// The language of a path, by its extension or its name.
fn of_path(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, extension)) => language_of(extension),
        // A name of one letter is not an extension.
        None => language_of(name).filter(|_| name.len() > 2),
    }
}

/// The languages of the code of a session, at most six: of the files that calls name, and of fenced code in what people and the
/// model say, those of most files and fences first. A file counts once. Linear in the text.
pub fn languages(view: &View<'_>) -> Vec<&'static str> {
    let mut found: HashMap<&'static str, (usize, usize)> = HashMap::new(); // (times, first seen)
    let mut add = |language: &'static str| {
        let next = found.len();
        found.entry(language).or_insert((0, next)).0 += 1;
    };
    let mut paths: Vec<&str> = view.facts().file_events().iter().map(|event| event.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().filter_map(of_path).for_each(&mut add);
    for message in view.messages().filter(|message| matches!(message.origin, Origin::Typed | Origin::Model)) {
        // A call in plain text is fenced too, and says nothing of the work.
        if !message.text_calls.is_empty() {
            continue;
        }
        let fences =
            message.texts().flat_map(|text| text.lines()).filter_map(|line| line.trim_start().strip_prefix("```"));
        fences.filter_map(|word| language_of(word.trim())).for_each(&mut add);
    }
    let mut named: Vec<(&'static str, (usize, usize))> = found.into_iter().collect();
    named.sort_by_key(|(_, (times, first))| (std::cmp::Reverse(*times), *first));
    named.into_iter().map(|(name, _)| name).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_path_is_written_in() {
        let check = |path: &str, expect: Option<&str>| assert_eq!(of_path(path), expect, "{path}");
        check("src/main.rs", Some("Rust"));
        check("C:\\src\\App.TSX", Some("TypeScript"));
        check("deploy/Dockerfile", Some("Dockerfile"));
        check("Makefile", Some("Makefile"));
        check("include/a.h", Some("C"));
        check("README.md", None);
        check("data.json", None);
        check("c", None);
        check("", None);
    }
}
