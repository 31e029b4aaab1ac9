//! Matches the spellings of a path that name the same file.

use std::collections::HashMap;

use epitome_strategy::FileEvent;

/// The file of each event, by number.
pub(crate) struct Paths {
    files: Vec<u32>,
}

impl Paths {
    /// Two spellings are one file when they are equal after normalising, or when one is relative, the other absolute and
    /// ends in it, and no other absolute path of the session does. Linear in the events, but for files of one name.
    pub(crate) fn new(events: &[FileEvent]) -> Self {
        let spellings: Vec<String> = events.iter().map(|event| normalize_path(&event.path)).collect();
        let mut absolute: HashMap<&str, Vec<&str>> = HashMap::new();
        for spelling in spellings.iter().filter(|spelling| is_absolute(spelling)) {
            let known = absolute.entry(name(spelling)).or_default();
            if !known.contains(&spelling.as_str()) {
                known.push(spelling);
            }
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let files = spellings
            .iter()
            .map(|spelling| {
                let file = absolute_of(spelling, &absolute).unwrap_or(spelling);
                let next = numbers.len() as u32;
                *numbers.entry(file).or_insert(next)
            })
            .collect();
        Self { files }
    }

    /// Returns the file of an event, given by its position.
    pub(crate) fn file(&self, event: usize) -> u32 {
        self.files[event]
    }
}

fn absolute_of<'a>(spelling: &str, absolute: &HashMap<&str, Vec<&'a str>>) -> Option<&'a str> {
    if is_absolute(spelling) {
        return None;
    }
    let ends_in_it = |path: &&&str| path.strip_suffix(spelling).is_some_and(|head| head.ends_with('/'));
    let mut candidates = absolute.get(name(spelling))?.iter().filter(ends_in_it);
    let only = candidates.next()?;
    candidates.next().is_none().then_some(*only)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1) == Some(&b':')
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns `./a//b/../c` as `a/c`, `C:\a` as `C:/a`.
fn normalize_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use epitome_strategy::FileAccess;

    #[test]
    fn spellings_of_one_file() {
        let check = |paths: &[&str], expect: &[u32]| {
            let event = |path: &&str| FileEvent {
                path: (*path).to_owned(),
                access: FileAccess::ReadWhole,
                part: String::new(),
                call: 0,
                failed: false,
            };
            let events: Vec<FileEvent> = paths.iter().map(event).collect();
            let files = Paths::new(&events);
            let files: Vec<u32> = (0..events.len()).map(|index| files.file(index)).collect();
            assert_eq!(files, expect, "{paths:?}");
        };
        check(&["a.rs", "./a.rs", "x/../a.rs", "x//a.rs", "x/a.rs"], &[0, 0, 0, 1, 1]);
        check(&["/repo/src/a.rs", "src/a.rs", "a.rs", "c/a.rs"], &[0, 0, 0, 1]);
        check(&["/one/a.rs", "/two/a.rs", "a.rs"], &[0, 1, 2]);
        check(&["/repo/data.rs", "a.rs"], &[0, 1]);
        check(&["C:\\repo\\a.rs", "a.rs"], &[0, 0]);
        check(&["../a.rs", "a.rs"], &[0, 1]);
    }
}
