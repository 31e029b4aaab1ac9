//! The effect of a shell command, by its words.

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Nothing that tells of the work: `cd`, `echo`, a plan, a question.
    Nothing,
    /// Read, listed or searched something.
    Look,
    /// Read or searched the web.
    Web,
    /// Built, tested or ran something.
    Run,
    /// Recorded changes, or moved between states of the sources.
    Commit,
    /// Changed a file.
    Change,
}

/// First words of commands by what they do. Sources: the commands in the recorded sessions, POSIX utilities, and the
/// text commands of agents that edit by commands of their own (`str_replace_editor view`, `edit`, `goto`).
const WORDS: &[(Action, &str)] = &[
    (Action::Nothing, "cd echo printf true sleep export set source whoami"),
    (Action::Change, "apply_patch patch tee touch mv cp rm edit create insert append"),
    (Action::Change, "str_replace set-content out-file new-item remove-item"),
    (Action::Commit, "stash"),
    (
        Action::Run,
        "cargo rustc go gcc g++ clang cc make cmake ninja pytest tox nox python python2 python3 ipython uv uvx pip pip3",
    ),
    (
        Action::Run,
        "poetry conda npm npx pnpm yarn bun bunx deno node tsc tsx jest vitest eslint prettier biome mvn gradle",
    ),
    (
        Action::Run,
        "gradlew java javac kotlinc ruby bundle rake rails rspec perl php composer phpunit dotnet swift xcodebuild",
    ),
    (
        Action::Run,
        "docker docker-compose podman kubectl terraform ruff black mypy flake8 pylint golangci-lint gofmt rustfmt",
    ),
    (
        Action::Run,
        "mise just task bazel ponyc zig elixir mix ghc cabal stack dart flutter submit run playwright cypress",
    ),
    (Action::Web, "curl wget http lynx w3m"),
    (
        Action::Look,
        "ls cat head tail less more grep egrep fgrep rg ag ack find fd fdfind tree wc file stat du df pwd which",
    ),
    (
        Action::Look,
        "type whereis awk sed sort uniq cut diff cmp comm jq yq nl od xxd hexdump strings readlink realpath",
    ),
    (
        Action::Look,
        "basename dirname env printenv date uname ps top lsof history man view open goto scroll_up scroll_down",
    ),
    (
        Action::Look,
        "search_dir search_file find_file gh glab get-content get-childitem select-string dir findstr sqlite3",
    ),
    (Action::Look, "psql mysql select show desc describe explain pragma with bat exa eza column tac test"),
];

/// The effect of `git` by its sub-command; all others only look.
const GIT: &[(Action, &str)] = &[
    (Action::Commit, "add commit push merge rebase cherry-pick revert reset restore stash tag rm mv switch am clean"),
    (Action::Change, "apply"),
];

/// Words that precede the command proper.
const PREFIXES: &[&str] =
    &["sudo", "time", "timeout", "nohup", "command", "exec", "env", "nice", "xargs", "then", "do", "else"];

/// Returns the strongest effect of a shell command; programs that are not known have none. Linear in the command.
pub fn action(command: &str) -> Action {
    effects(command).into_iter().flatten().max().unwrap_or(Action::Nothing)
}

/// Whether a command, and every later one of the script, only looks, as far as its programs are known. Linear.
pub fn is_looking(command: &str) -> bool {
    effects(command).into_iter().all(|effect| effect.is_some_and(|effect| effect <= Action::Look))
}

/// Returns the effects of the simple commands of a script; `None` for a program that is not known.
fn effects(command: &str) -> Vec<Option<Action>> {
    let mut effects = Vec::new();
    let mut heredoc: Option<String> = None;
    for line in command.lines() {
        if let Some(end) = &heredoc {
            if line.trim() == end {
                heredoc = None;
            } else if writes_in_script(line) {
                effects.push(Some(Action::Change));
            }
            continue;
        }
        heredoc = heredoc_end(line);
        effects.extend(parts(line).map(of_part));
    }
    effects
}

/// Whether a line of a script that is fed to an interpreter writes a file.
fn writes_in_script(line: &str) -> bool {
    ["write_text(", ".write(", "writeFileSync(", "*** Update File", "*** Add File"]
        .iter()
        .any(|word| line.contains(word))
}

/// Returns the word that ends the here-document which starts on this line.
fn heredoc_end(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start();
    let word: String = rest
        .trim_start_matches(['\'', '"', '\\'])
        .chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect();
    (!word.is_empty() && !rest.starts_with('<')).then_some(word)
}

/// Returns the simple commands of a line. Quotes are not parsed: a separator inside a quoted text makes a part that
/// starts with no known command.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(['|', ';', '&']).map(str::trim).filter(|part| !part.is_empty() && !part.starts_with('#'))
}

fn of_part(part: &str) -> Option<Action> {
    let mut words = part.split_whitespace().map(|word| word.trim_matches(['(', ')', '"', '\'', '$', '{', '}', '`']));
    let is_prefix = |word: &&str| {
        PREFIXES.contains(word)
            || word.contains('=')
            || word.starts_with('-')
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some(first) = words.by_ref().find(|word| !is_prefix(word)) else { return Some(Action::Nothing) };
    let name = first.rsplit('/').next().unwrap_or(first).to_lowercase();
    if redirects(part) {
        return Some(Action::Change);
    }
    match name.as_str() {
        "git" => {
            let sub_command = words.find(|word| !word.starts_with('-') && !word.contains('/')).unwrap_or("");
            find(GIT, sub_command).or(Some(Action::Look))
        }
        "sed" | "perl" if words.any(|word| word.starts_with("-i") || word.starts_with("-pi")) => Some(Action::Change),
        // Of a forge's or a cluster's own programs most sub-commands only look.
        "gh" | "glab" if words.any(|word| matches!(word, "create" | "merge" | "close" | "edit" | "comment")) => {
            Some(Action::Run)
        }
        "str_replace_editor" => match words.next() {
            Some("view") => Some(Action::Look),
            _ => Some(Action::Change),
        },
        "tee" | "cp" | "mv" | "touch" | "rm" if part.split_whitespace().last().is_some_and(is_scratch) => {
            Some(Action::Nothing)
        }
        // A script of the project, named by its path.
        name => find(WORDS, name).or(first.contains('/').then_some(Action::Run)),
    }
}

/// Whether the part writes its output to a file: `> file`, not `2>&1`, `> /dev/null` or a comparison.
fn redirects(part: &str) -> bool {
    let mut rest = part;
    while let Some(at) = rest.find('>') {
        let (before, after) = (&rest[..at], rest[at + 1..].trim_start_matches('>'));
        let target = after.trim_start();
        let plain = before.is_empty() || before.ends_with([' ', '1']);
        let is_file = target
            .starts_with(|char: char| char.is_alphanumeric() || matches!(char, '/' | '.' | '~' | '$' | '"' | '_'));
        if plain && is_file && !is_scratch(target) && (after.len() > target.len() || target.contains(['/', '.'])) {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether a path is a device or lies in a folder for temporary files: writing there changes nothing.
fn is_scratch(path: &str) -> bool {
    let path = path.trim_start_matches('"');
    ["/dev/", "/tmp/", "$TMP", "${TMP"].iter().any(|start| path.starts_with(start)) || path.contains("/Temp/")
}

fn find(table: &[(Action, &str)], name: &str) -> Option<Action> {
    table.iter().find(|(_, names)| names.split(' ').any(|known| known == name)).map(|(action, _)| *action)
}
