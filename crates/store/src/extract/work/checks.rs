//! The commands that build and test the project, and the failures on the way with their repairs: read off the commands
//! that ran.

use std::collections::HashMap;

use epitome_strategy::commands::{first_command, is_looking};
use epitome_strategy::text::clip;

use super::ComposedMemory;
use super::names::Names;
use super::steps::{CallStep, tells_what};
use crate::memory::MemoryKind;

/// Words of commands that build, test or check something: who comes later runs them again.
const CHECKING: &[&str] = &[
    "test",
    "tests",
    "pytest",
    "tox",
    "nox",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "playwright",
    "build",
    "compile",
    "check",
    "checks",
    "typecheck",
    "type-check",
    "tsc",
    "lint",
    "clippy",
    "fmt",
    "format",
    "biome",
    "eslint",
    "ruff",
    "mypy",
    "pyright",
    "golangci-lint",
    "vet",
    "make",
    "cmake",
    "ninja",
    "mvn",
    "gradle",
    "verify",
    "validate",
    "ci",
    "bench",
    "runtests",
    "e2e",
    "pre-commit",
    "prettier",
    "black",
];

/// Programs that run a project's own commands: the words behind them are examined. A word of these lists in another
/// place is a part of a path or of a message.
const RUNNING: &[&str] = &[
    "cargo",
    "go",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "bunx",
    "npx",
    "deno",
    "uv",
    "poetry",
    "python",
    "python3",
    "make",
    "just",
    "mise",
    "task",
    "mvn",
    "gradle",
    "gradlew",
    "dotnet",
    "swift",
    "zig",
    "rake",
    "bundle",
    "mix",
    "cmake",
    "ctest",
    "ninja",
    "tox",
    "nox",
    "pytest",
    "nx",
    "turbo",
    "tsc",
    "eslint",
    "biome",
    "ruff",
    "mypy",
    "pyright",
    "jest",
    "vitest",
    "mocha",
    "prettier",
    "black",
    "golangci-lint",
    "pre-commit",
    "runtests.py",
    "playwright",
    "rspec",
    "phpunit",
    "composer",
];

/// The most commands that a memory names.
const MOST_NAMED: usize = 4;
/// The largest number of failures that are remembered.
const MOST_FAILURES: usize = 3;
/// Columns of a command and of the line that shows how it ended.
const COMMAND: usize = 90;
const ENDING: usize = 150;

/// One command with all its runs, by their places among the steps.
struct Command {
    text: String,
    runs: Vec<usize>,
}

/// Commands that worked, and failures with the change behind which they went. Linear.
pub(super) fn compose(steps: &[CallStep<'_>], names: &Names) -> Vec<ComposedMemory> {
    let commands = commands(steps);
    let mut told: Vec<ComposedMemory> = worked(steps, &commands).into_iter().collect();
    let mut failures: Vec<ComposedMemory> =
        commands.iter().filter_map(|command| failure(steps, &commands, command, names)).collect();
    failures.sort_by(|left, right| right.2.1.total_cmp(&left.2.1).then(right.0.cmp(&left.0)));
    failures.truncate(MOST_FAILURES);
    told.extend(failures);
    told
}

/// The checking commands, in the order in which they ran first.
fn commands(steps: &[CallStep<'_>]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let Some(script) = step.script.as_deref().filter(|_| step.output.is_some()) else { continue };
        let Some(text) = first_command(script).map(|text| bare_command(&text)).filter(|text| checks(text)) else {
            continue;
        };
        let Some(text) = clip(&text, COMMAND).filter(|text| !text.ends_with('…') && !text.contains('`')) else {
            continue;
        };
        let at = *known.entry(text.clone()).or_insert_with(|| {
            commands.push(Command { text, runs: Vec::new() });
            commands.len() - 1
        });
        commands[at].runs.push(index);
    }
    commands
}

/// A command without what its output went through.
fn bare_command(command: &str) -> String {
    let end = [
        " | ", " > ", " 2>", " && echo", " && grep", " && cat", " && ls", " && head", " && tail", " && git", "; echo",
        " || ",
    ]
    .iter()
    .filter_map(|mark| command.find(mark))
    .min();
    command[..end.unwrap_or(command.len())].trim().trim_end_matches([';', '&']).trim().to_owned()
}

/// Whether a command builds, tests or checks the project.
fn checks(command: &str) -> bool {
    if is_looking(command)
        || command.contains(" -c ")
        || command.contains(" -e ")
        || command.contains('\n')
        || command.contains("<<")
    {
        return false;
    }
    command.split("&&").any(|part| {
        let words: Vec<&str> = part.split_whitespace().skip_while(|word| word.contains('=')).take(5).collect();
        let Some(program) = words.first() else { return false };
        let program = program.rsplit('/').next().unwrap_or(program);
        let parts = words.iter().skip(1).flat_map(|word| word.split([':', '-', '.', '/']).chain([*word]));
        RUNNING.contains(&program) && std::iter::once(program).chain(parts).any(|word| CHECKING.contains(&word))
    })
}

/// The commands whose last run succeeded, those that ran most often first.
fn worked(steps: &[CallStep<'_>], commands: &[Command]) -> Option<ComposedMemory> {
    let last = |command: &Command| command.runs.last().copied();
    let mut good: Vec<(&Command, &CallStep<'_>)> = commands
        .iter()
        .filter_map(|command| Some((command, &steps[last(command)?])))
        .filter(|(_, step)| !step.failed)
        .collect();
    good.sort_by_key(|(command, _)| std::cmp::Reverse(command.runs.len()));
    good.truncate(MOST_NAMED);
    let newest = good.iter().map(|(_, step)| step.message()).max()?;
    let places: Vec<Option<&str>> = good.iter().map(|(_, step)| step.place()).collect();
    let place = places[0].filter(|_| places.windows(2).all(|two| two[0] == two[1]));
    let place = place.map_or(String::new(), |place| format!(" in `{place}`"));
    let mut text = format!("Commands that ran without failure{place}:");
    for (index, (command, step)) in good.iter().enumerate() {
        let ending =
            step.ending().and_then(|line| clip(line, 60)).filter(|line| !line.ends_with('…') && tells_a_count(line));
        let ending = ending.map_or(String::new(), |line| format!(" ({line})"));
        let part = format!("{} `{}`{ending}", if index > 0 { "," } else { "" }, command.text);
        if text.chars().count() + part.chars().count() >= super::LONGEST_MEMORY {
            break;
        }
        text.push_str(&part);
    }
    text.push('.');
    Some((newest, text, (MemoryKind::Fact, 2.2)))
}

/// Whether a line has a number of tests.
fn tells_a_count(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
        && ["pass", "ok", "error", "warning"].iter().any(|word| line.contains(word))
}

/// The last failure of a command: with the files that were changed before it ran without, or as it was left.
fn failure(steps: &[CallStep<'_>], commands: &[Command], command: &Command, names: &Names) -> Option<ComposedMemory> {
    let at = command.runs.iter().rposition(|run| steps[*run].failed)?;
    let failed = &steps[command.runs[at]];
    let line = failed.ending().and_then(|line| clip(line, ENDING)).filter(|line| tells_what(line))?;
    let Some(next) = command.runs.get(at + 1).copied() else {
        // Of one test or file it says little where the same program ran without failure later.
        let program = command.text.split_whitespace().next();
        let later = commands
            .iter()
            .filter(|other| other.text.split_whitespace().next() == program)
            .flat_map(|other| &other.runs);
        if later.into_iter().any(|run| *run > command.runs[at] && !steps[*run].failed) {
            return None;
        }
        let text = format!("`{}` failed when it ran last: {line}", command.text);
        return Some((failed.message(), text, (MemoryKind::Failure, 1.95)));
    };
    let between = steps[command.runs[at] + 1..next].iter().flat_map(|step| &step.changed);
    let files = names.list(between)?;
    let text = format!("`{}` failed ({line}) and ran without failure after {files} had been changed.", command.text);
    Some((steps[next].message(), text, (MemoryKind::Failure, 2.25)))
}
