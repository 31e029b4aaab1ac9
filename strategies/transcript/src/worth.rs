//! What a line is worth: the names and words in it, who said it, how long ago, and whether what the model said next was
//! about it.
//!
//! The factors and their order come from two studies on recorded sessions with questions that the continuation needed
//! answered; `docs/evaluation.md` has what each is worth. They are round numbers: halving or doubling one changes little.

use std::collections::HashMap;

use epitome_strategy::View;
use epitome_strategy::tools::ToolKind;

use crate::arguments::Sign;
use crate::changes::replaced;
use crate::source::{Action, Kind, Passage, Source};
use crate::terms::{KeyMap, Terms, hash};
use crate::weights::weight;

/// What every line may add to a transcript.
#[derive(Debug)]
pub(crate) struct Worth {
    /// Tokens of each line, its line feed included.
    pub(crate) tokens: Vec<u32>,
    /// The terms of all lines, and where those of each line are.
    pub(crate) terms: Vec<u32>,
    pub(crate) spans: Vec<(u32, u32)>,
    /// How near each of these terms is to what the line's passage was about: 0 for not at all.
    pub(crate) topic: Vec<f32>,
    /// The worth of each term.
    pub(crate) of_term: Vec<f32>,
    /// What the terms of a line are multiplied with, and what it is worth beside them.
    pub(crate) factor: Vec<f32>,
    pub(crate) flat: Vec<f32>,
}

impl Worth {
    /// The terms of a line.
    pub(crate) fn terms_of(&self, line: u32) -> &[u32] {
        let (start, end) = self.spans[line as usize];
        &self.terms[start as usize..end as usize]
    }

    /// Linear in the lines and their terms.
    pub(crate) fn new(view: &View<'_>, source: &Source) -> Self {
        let mut known = Terms::default();
        let mut terms = Vec::new();
        let mut spans = Vec::with_capacity(source.lines.len());
        for line in &source.lines {
            let start = terms.len() as u32;
            known.read(line.text(), &mut terms);
            spans.push((start, terms.len() as u32));
        }
        let tokens: Vec<u32> = source.lines.iter().map(|line| view.count(line.text()) + 1).collect();
        let lines = source.lines.len();
        let mut worth = Self {
            tokens,
            topic: vec![0.0; terms.len()],
            terms,
            spans,
            of_term: Vec::new(),
            factor: vec![1.0; lines],
            flat: vec![0.0; lines],
        };
        let counts = Counts::new(source, &worth, &known);
        worth.of_term = (0..known.len()).map(|term| counts.worth_of(term, &known)).collect();
        worth.weigh_passages(source);
        worth.weigh_repeats(source);
        worth.relate(source, &counts);
        worth
    }

    fn weigh_passages(&mut self, source: &Source) {
        let newest = newest_of_same(source);
        let is_replaced = replaced(source);
        let mut later: HashMap<Kind, u32> = HashMap::new();
        let mut previous = None;
        let mut newer_reads = 0.0_f32;
        for passage in source.passages.iter().rev() {
            let later = later.entry(passage.kind).or_default();
            if previous != Some(passage.message) {
                *later += 1;
            }
            previous = Some(passage.message);
            let age = age(passage, source.messages);
            let action = passage.action.map(|action| &source.actions[action as usize]);
            let tokens: u32 = passage.lines.clone().map(|line| self.tokens[line as usize]).sum();
            let mut factor = match passage.kind {
                Kind::Typed => weight("typed", 4.0),
                Kind::Told => weight("told", 8.0),
                Kind::Answer => weight("answer", 3.0) * age,
                Kind::Said => weight("said", 2.0) * age,
                Kind::Call => weight("call", 1.5) * age,
                Kind::Argument => weight("argument", 1.0) * age.powf(weight("argage", 1.0)),
                Kind::Injected => weight("injected", 1.0) * age,
                Kind::Output => weight("output", 1.0) * age * (1.0 + (-(tokens as f32) / weight("short", 150.0)).exp()),
            };
            if matches!(passage.kind, Kind::Output | Kind::Argument | Kind::Injected) {
                factor *= (passage.lines.len() as f32).powf(-weight("lines", 0.0));
                factor *= (*later as f32).powf(-weight("later", 0.0));
            }
            if passage.kind == Kind::Output
                && let Some(action) = action
            {
                let is_newest = newest.get(&signature(source, action)).is_none_or(|newest| *newest == action.head);
                factor *= match (is_newest, is_of_state(source, action)) {
                    (false, _) => weight("outdated", 0.8),
                    (true, true) => weight("state", 1.4),
                    (true, false) => 1.0,
                };
            }
            if passage.kind == Kind::Output && action.is_some_and(|action| is_reading(source, action)) {
                factor *= 1.0 + weight("read", 0.0) * (-newer_reads / weight("readage", 5.0)).exp();
                newer_reads += 1.0;
            }
            for line in passage.lines.clone() {
                let index = line as usize;
                self.factor[index] = factor;
                match passage.kind {
                    Kind::Told => self.flat[index] = 1000.0,
                    Kind::Call => {
                        let writes = action.is_some_and(|action| {
                            matches!(action.kind, ToolKind::Edit | ToolKind::Write)
                                && newest.get(&signature(source, action)) == Some(&action.head)
                        });
                        self.flat[index] = weight("headflat", 1.0) + if writes { weight("write", 3.0) } else { 0.0 };
                    }
                    Kind::Argument if source.lines[index].sign == Sign::Old => self.factor[index] *= 0.5,
                    _ => {}
                }
                if passage.kind == Kind::Output {
                    let reads = action.is_some_and(|action| is_reading(source, action));
                    let text = source.lines[index].text().trim_start();
                    if reads && is_comment(text) {
                        self.factor[index] *= weight("comment", 0.5);
                    }
                    if is_definition(text) {
                        self.factor[index] *= weight("def", 1.2);
                    }
                    if !reads && is_outcome(text) {
                        self.factor[index] *= weight("outmul", 1.6);
                        self.flat[index] += weight("outadd", 1.5) * age;
                    }
                }
                if is_replaced[index] {
                    self.factor[index] *= weight("replaced", 0.1);
                }
            }
            if passage.kind == Kind::Output {
                let edge = weight("edge", 0.5) * age;
                let all = passage.lines.clone();
                for line in all.clone().take(2).chain(all.rev().take(2)) {
                    self.flat[line as usize] += edge;
                }
            }
        }
    }

    /// Lines that tools print again and again, their numbers and paths aside, are worth little.
    fn weigh_repeats(&mut self, source: &Source) {
        let mut messages: KeyMap<(u32, u32)> = KeyMap::default();
        let mut keys = vec![0; source.lines.len()];
        for passage in source.passages.iter().filter(|passage| passage.kind == Kind::Output) {
            for line in passage.lines.clone() {
                let text = source.lines[line as usize].text();
                if text.len() > 12 {
                    let key = mask(text);
                    keys[line as usize] = key;
                    let (last, count) = messages.entry(key).or_insert((u32::MAX, 0));
                    if *last != passage.message {
                        (*last, *count) = (passage.message, *count + 1);
                    }
                }
            }
        }
        for (line, key) in keys.into_iter().enumerate().filter(|(_, key)| *key != 0) {
            let count = messages.get(&key).map_or(0, |(_, count)| *count);
            if count >= 3 {
                self.factor[line] *= weight("boilerplate", 0.3);
                self.flat[line] *= weight("boilerplate", 0.3);
            }
            self.factor[line] *= (count.max(1) as f32).powf(-weight("copies", 0.0));
        }
    }

    /// Tells for each term of what a tool printed how near it is to what the model said around it, and what people typed.
    fn relate(&mut self, source: &Source, counts: &Counts) {
        let spoken = Spoken::new(source, self);
        let mut near: Vec<(u32, f32)> = vec![(u32::MAX, 0.0); self.of_term.len()];
        for (number, passage) in source.passages.iter().enumerate() {
            if passage.kind != Kind::Output {
                continue;
            }
            let number = number as u32;
            let asked = passage.action.map_or(passage.message, |action| source.actions[action as usize].message);
            for (message, weight) in spoken.around(asked) {
                for term in message {
                    let slot = &mut near[*term as usize];
                    *slot = if slot.0 == number { (number, slot.1.max(weight)) } else { (number, weight) };
                }
            }
            for line in passage.lines.clone() {
                let (start, end) = self.spans[line as usize];
                for at in start as usize..end as usize {
                    let term = self.terms[at] as usize;
                    let said = if near[term].0 == number { near[term].1 } else { 0.0 };
                    let typed = if counts.is_typed[term] { weight("topictyped", 1.0) } else { 0.0 };
                    self.topic[at] = said.max(typed) * counts.rarity(term) * self.factor[line as usize];
                }
            }
        }
    }
}

/// What is left of a worth of 1 at a passage's place in the session: the newest keeps all.
fn age(passage: &Passage, messages: u32) -> f32 {
    let place = passage.message as f32 / messages.saturating_sub(1).max(1) as f32;
    1.0 - weight("age", 0.9) * (1.0 - place)
}

/// How often terms stand where.
struct Counts {
    /// Messages that hold each term.
    messages: Vec<u32>,
    /// Lines that hold each term.
    lines: Vec<u32>,
    /// Whether a person, the model or a call named it.
    is_said: Vec<bool>,
    is_typed: Vec<bool>,
    all_lines: f32,
}

impl Counts {
    fn new(source: &Source, worth: &Worth, known: &Terms) -> Self {
        let mut counts = Self {
            messages: vec![0; known.len()],
            lines: vec![0; known.len()],
            is_said: vec![false; known.len()],
            is_typed: vec![false; known.len()],
            all_lines: source.lines.len() as f32 + 2.0,
        };
        let mut last = vec![u32::MAX; known.len()];
        for passage in &source.passages {
            let said =
                matches!(passage.kind, Kind::Typed | Kind::Told | Kind::Said | Kind::Answer | Kind::Call);
            for line in passage.lines.clone() {
                for term in worth.terms_of(line) {
                    let term = *term as usize;
                    counts.lines[term] += 1;
                    if last[term] != passage.message {
                        (last[term], counts.messages[term]) = (passage.message, counts.messages[term] + 1);
                    }
                    counts.is_said[term] |= said;
                    counts.is_typed[term] |= matches!(passage.kind, Kind::Typed | Kind::Told);
                }
            }
        }
        counts
    }

    fn worth_of(&self, term: usize, known: &Terms) -> f32 {
        let (messages, said) = (self.messages[term], self.is_said[term]);
        if known.is_name(term as u32) {
            match (said, messages) {
                (true, _) => weight("named", 4.0),
                (false, 2..) => 1.0,
                (false, _) => weight("rare", 0.5),
            }
        } else {
            let said = if said { weight("wordsaid", 1.5) } else { 1.0 };
            weight("word", 1.2) * said / (1.0 + weight("common", 0.2) * (messages.max(1) as f32).ln())
        }
    }

    /// How rare a term is among the lines, from 0 to 1.
    fn rarity(&self, term: usize) -> f32 {
        (self.all_lines / self.lines[term].max(1) as f32).ln() / self.all_lines.ln()
    }
}

/// What the model said, and what it called, message by message.
struct Spoken {
    messages: Vec<u32>,
    terms: Vec<Vec<u32>>,
}

impl Spoken {
    fn new(source: &Source, worth: &Worth) -> Self {
        let mut spoken = Self { messages: Vec::new(), terms: Vec::new() };
        let of_model = |passage: &&Passage| matches!(passage.kind, Kind::Said | Kind::Answer | Kind::Call);
        for passage in source.passages.iter().filter(of_model) {
            if spoken.messages.last() != Some(&passage.message) {
                spoken.messages.push(passage.message);
                spoken.terms.push(Vec::new());
            }
            if let Some(terms) = spoken.terms.last_mut() {
                // What is said at length is about many things.
                for line in passage.lines.clone().take(LONGEST_SPEECH) {
                    terms.extend_from_slice(worth.terms_of(line));
                }
            }
        }
        spoken
    }

    /// The terms of the message that asked for an output, and of the next ones, each with its weight.
    fn around(&self, asked: u32) -> impl Iterator<Item = (&[u32], f32)> {
        let at = self.messages.partition_point(|message| *message < asked);
        let own = self.messages.get(at).is_some_and(|message| *message == asked);
        let next = at + usize::from(own);
        let later = (next..self.messages.len().min(next + NEXT_MESSAGES))
            .map(|message| (self.terms[message].as_slice(), weight("topicnext", 1.5)));
        let own = own.then(|| (self.terms[at].as_slice(), weight("topicown", 1.0)));
        own.into_iter().chain(later)
    }
}

/// Messages of the model behind an output that tell what of it mattered.
const NEXT_MESSAGES: usize = 3;
/// Lines of one message that tell what it is about.
const LONGEST_SPEECH: usize = 40;

/// What a call is about: calls of the same signature ask for the same thing.
fn signature(source: &Source, action: &Action) -> u64 {
    let head = source.lines[action.head as usize].text();
    let asked = head.strip_prefix(&*action.name).map_or(head, |rest| rest.trim_start_matches(": "));
    let asked = asked.split(" | ").next().unwrap_or(asked);
    let asked = without_folder_change(asked);
    let mut words = asked.split_whitespace();
    let first = words.next().unwrap_or_default();
    let key = if first.contains(['/', '\\']) { asked } else { &asked[..first_words(asked)] };
    hash(action.name.bytes().chain([0]).chain(key.bytes()))
}

/// A command without the change of the folder in front of it.
pub(crate) fn without_folder_change(command: &str) -> &str {
    match command.strip_prefix("cd ").and_then(|rest| rest.split_once(" && ")) {
        Some((_, command)) => command.trim_start(),
        None => command,
    }
}

/// The bytes of the first two words.
fn first_words(text: &str) -> usize {
    let mut words = text.split_whitespace();
    let (_, second) = (words.next(), words.next());
    second.map_or(text.len(), |word| word.as_ptr() as usize - text.as_ptr() as usize + word.len())
}

/// The line of the newest call of each signature.
fn newest_of_same(source: &Source) -> HashMap<u64, u32> {
    source.actions.iter().map(|action| (signature(source, action), action.head)).collect()
}

/// Commands that tell how things stand.
const STATE_COMMANDS: &[&str] = &[
    "git status", "git log", "git diff --stat", "git branch", "git push", "git commit", "git show", "gh pr", "gh run",
    "gh issue", "gh repo", "pytest", "go test", "go build", "go vet", "cargo test", "cargo build", "cargo check",
    "cargo clippy", "npm test", "npm run", "pnpm test", "pnpm run", "yarn test", "yarn build", "bun test", "bun run",
    "make", "tsc", "eslint", "ruff", "mypy", "mvn", "gradle",
];

fn is_of_state(source: &Source, action: &Action) -> bool {
    let head = source.lines[action.head as usize].text();
    action.kind == ToolKind::Shell && STATE_COMMANDS.iter().any(|command| head.contains(command))
}

fn is_reading(source: &Source, action: &Action) -> bool {
    let head = source.lines[action.head as usize].text();
    let asked = head.strip_prefix(&*action.name).map_or(head, |rest| rest.trim_start_matches(": "));
    let asked = without_folder_change(asked);
    matches!(action.kind, ToolKind::Read | ToolKind::Search | ToolKind::Web)
        || (action.kind == ToolKind::Shell
            && ["cat ", "sed -n", "head ", "tail ", "nl ", "grep ", "rg ", "ls", "find ", "Get-Content", "git show", "git diff"].iter().any(|command| asked.starts_with(command)))
}

fn is_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", "\"\"\"", "'''", ";;", "%"].iter().any(|mark| line.starts_with(mark)) && !line.starts_with("#include") && !line.starts_with("## ")
}

fn is_definition(line: &str) -> bool {
    let mut line = line;
    for word in ["pub ", "export ", "async ", "static ", "default ", "public ", "private ", "abstract "] {
        line = line.strip_prefix(word).unwrap_or(line);
    }
    ["def ", "class ", "func ", "fn ", "function ", "interface ", "type ", "struct ", "enum ", "impl ", "const ", "trait ", "module ", "# ", "## ", "### "].iter().any(|word| line.starts_with(word))
}

const OUTCOMES: &[&str] = &["error", "fail", "fatal", "panic", "exception", "traceback", "denied", "rejected", "blocked", "not found", "no such", "cannot", "unable", "invalid", "warning", "passed", "success", "exit code", "exited", "created", "updated", "merged", "pushed", "committed", "timed out", "killed", "conflict", "modified", "untracked", "deleted", "ahead", "behind", "clean", "✓", "✗", "returncode>1"];

fn is_outcome(line: &str) -> bool {
    if line.len() > 400 { return false; }
    let lower = line.to_ascii_lowercase();
    OUTCOMES.iter().any(|word| lower.contains(word))
}

/// A hash of a line without its numbers and paths.
fn mask(text: &str) -> u64 {
    let words = text.split_whitespace().filter(|word| !word.contains(['/', '\\']));
    hash(words.flat_map(|word| word.bytes().filter(|byte| !byte.is_ascii_digit()).chain([b' ']))).max(1)
}
