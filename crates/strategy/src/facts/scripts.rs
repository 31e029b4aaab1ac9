//! The files that calls in plain text read and change: shell scripts, and commands such as
//! `str_replace_editor create a.py`.

use super::files::FileAccess;
use crate::commands::simple_commands;

/// Commands of agents' shells, with their action on the file that follows them.
const COMMANDS: &[(&str, FileAccess)] = &[
    ("open", FileAccess::ReadWhole),
    ("view", FileAccess::ReadWhole),
    ("create", FileAccess::Write),
    ("str_replace", FileAccess::Edit),
    ("insert", FileAccess::Edit),
    ("undo_edit", FileAccess::Edit),
];

/// Returns the files that a script names, with the action on each; `open` is the file that the agent's editor shows,
/// which commands such as `edit 3:5` change. Linear in the script.
pub(super) fn file_events(script: &str, open: &mut Option<String>) -> Vec<(String, FileAccess)> {
    let mut events = Vec::new();
    for command in simple_commands(script) {
        // The text for such a command is in the lines behind it, and is not a script.
        if let Some(found) = editor_command(command, open) {
            events.extend(found);
            break;
        }
        changed_by(command, &mut events);
    }
    events
}

/// Returns the action of a line that is a command of an agent's editor; `None` for any other line.
fn editor_command(line: &str, open: &mut Option<String>) -> Option<Option<(String, FileAccess)>> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let name = if first == "str_replace_editor" { words.next()? } else { first };
    if first == "edit" {
        let is_range = words.next().is_some_and(|word| word.starts_with(|char: char| char.is_ascii_digit()));
        return is_range.then(|| open.clone().map(|path| (path, FileAccess::Edit)));
    }
    let (_, access) = COMMANDS.iter().find(|(known, _)| *known == name)?;
    let path = path_of(words.next()?)?;
    *open = Some(path.to_owned());
    Some(Some((path.to_owned(), *access)))
}

/// Returns the files that one command edits. What its output is sent to is no edit, unless it is a text in the script itself.
pub(crate) fn edited_by(command: &str) -> impl Iterator<Item = (String, FileAccess)> {
    let mut changed = Vec::new();
    changed_by(command, &mut changed);
    let has_own_text = command.contains("<<");
    changed.into_iter().filter(move |(_, access)| *access == FileAccess::Edit || has_own_text)
}

/// Returns the file that one command changes: by redirection, `tee`, or `sed -i`.
fn changed_by(command: &str, events: &mut Vec<(String, FileAccess)>) {
    let mut quote = None;
    let mut before = ' ';
    for (at, char) in command.char_indices() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            // `2>` redirects errors, `=>` and `->` are not redirections, and the second `>` of `>>` is read with the
            // first.
            (None, '>') if !matches!(before, '2' | '&' | '=' | '-' | '>') => {
                let target = &command[at + 1..];
                let (target, access) = match target.strip_prefix('>') {
                    Some(target) => (target, FileAccess::Edit),
                    None => (target, FileAccess::Write),
                };
                let path = target.split_whitespace().next().and_then(path_of);
                events.extend(path.map(|path| (path.to_owned(), access)));
            }
            (None, _) => {}
        }
        before = char;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let access = match words.first() {
        Some(&"tee") if words.contains(&"-a") => FileAccess::Edit,
        Some(&"tee") => FileAccess::Write,
        Some(&"sed") if words.iter().any(|word| word.starts_with("-i") || *word == "--in-place") => FileAccess::Edit,
        _ => return,
    };
    let path = words.last().copied().filter(|word| !word.starts_with('-')).and_then(path_of);
    events.extend(path.map(|path| (path.to_owned(), access)));
}

/// Returns a word as the path of a lasting file: `/dev/null`, numbers and computed names are not such paths.
fn path_of(word: &str) -> Option<&str> {
    let path = word.trim_matches(['"', '\'', ';', ')']);
    let is_path = path.contains(['/', '.']) && path.chars().any(char::is_alphabetic) && !path.starts_with("/dev/");
    (is_path && !path.contains(['$', '`', '*', '(', '{', '<', '>', '&'])).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, expect: &[(&str, FileAccess)]) {
        let events = file_events(script, &mut Some("opened.py".to_owned()));
        let events: Vec<(&str, FileAccess)> = events.iter().map(|(path, access)| (path.as_str(), *access)).collect();
        assert_eq!(events, expect, "{script}");
    }

    #[test]
    fn scripts_change_files() {
        use FileAccess::{Edit, Write};
        check("cat > src/a.py <<'EOF'\nif a > b.c:\n    x >> y.z\nEOF\nls", &[("src/a.py", Write)]);
        check("cat <<EOF >> notes.md\ntext\nEOF", &[("notes.md", Edit)]);
        check("cd /repo && sed -i 's/a > b/c/' lib/x.py && cat lib/x.py", &[("lib/x.py", Edit)]);
        check("python t.py > out.log 2>&1; echo 'a > b.txt'", &[("out.log", Write)]);
        check("make 2>/dev/null | tee build.log", &[("build.log", Write)]);
        check("printf x | tee -a b.log", &[("b.log", FileAccess::Edit)]);
        check("grep -rn 'x' . > /dev/null", &[]);
        check("echo $x > $out.txt", &[]);
        check("python -c 'lambda: a->b' && cargo test", &[]);
    }

    #[test]
    fn editors_change_files() {
        use FileAccess::{Edit, ReadWhole, Write};
        check("str_replace_editor view /testbed/a.py --view_range 1 9", &[("/testbed/a.py", ReadWhole)]);
        check("str_replace_editor create /testbed/t.py --file_text 'a > b.c\nx > y.z'", &[("/testbed/t.py", Write)]);
        check("str_replace_editor str_replace /testbed/a.py --old_str 'x' --new_str 'y'", &[("/testbed/a.py", Edit)]);
        check("create t.py", &[("t.py", Write)]);
        check("edit 3:5\nx > y.z\nend_of_edit", &[("opened.py", Edit)]);
        check("open src/a.py 120", &[("src/a.py", ReadWhole)]);
        check("open the door", &[]);
    }

    #[test]
    fn an_editor_goes_on_with_what_it_opened() {
        let mut open = None;
        assert_eq!(file_events("edit 1:1\nx\nend_of_edit", &mut open), []);
        file_events("create b.py", &mut open);
        assert_eq!(file_events("edit 1:1\nx\nend_of_edit", &mut open), [("b.py".to_owned(), FileAccess::Edit)]);
    }
}
