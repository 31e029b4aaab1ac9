//! What a line that is none of the session's own says about the lines below it: a speaker, a tool, a file, a command.

use epitome_eval::{EvalError, Patterns};
use std::collections::HashSet;

/// Words that name a speaker, in lower case, whole words.
const USER: &[&str] = &["user", "person", "human", "typed", "用户"];
const MODEL: &[&str] = &["assistant", "model", "agent", "conclusion", "conclusions", "助手", "模型", "结论"];
const TOOL: &[&str] = &["tool", "tools", "result", "results", "output", "printed", "command", "工具", "结果", "输出"];

/// Who may have said a line, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Speakers(u8);

impl Speakers {
    pub(super) const NONE: Self = Self(0);
    /// The user's side.
    pub(super) const USER: Self = Self(1);
    /// The model in words.
    pub(super) const MODEL: Self = Self(2);
    /// A tool.
    pub(super) const TOOL: Self = Self(4);
    /// All of them: a summary covers the text of every speaker, so its lines have no speaker as a label.
    pub(super) const ANY: Self = Self(7);

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// What can be named: calls by their files and commands, tools, speakers.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The names of all calls, each once, and for each name the calls that it may mean.
    names: Patterns,
    calls: Vec<HashSet<u32>>,
    tools: HashSet<String>,
    /// The calls that have a name.
    named: HashSet<u32>,
}

/// What a label names.
#[derive(Debug, Clone, Default)]
pub(super) struct Label {
    pub(super) speakers: Speakers,
    pub(super) calls: HashSet<u32>,
}

impl Label {
    pub(super) fn is_empty(&self) -> bool {
        self.speakers == Speakers::NONE && self.calls.is_empty()
    }
}

impl Vocabulary {
    pub(super) fn new(of_calls: &[Vec<String>], tools: &[String]) -> Result<Self, EvalError> {
        let mut names: Vec<&str> = of_calls.iter().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut calls = vec![HashSet::new(); names.len()];
        for (call, of_call) in of_calls.iter().enumerate() {
            for name in of_call {
                if let Ok(place) = names.binary_search(&name.as_str()) {
                    calls[place].insert(call as u32);
                }
            }
        }
        let named = calls.iter().flatten().copied().collect();
        let tools = tools.iter().map(|tool| tool.to_lowercase()).collect();
        Ok(Self { names: Patterns::new(&names, true)?, calls, tools, named })
    }

    /// Whether a call can be named at all: one without a file, a command or another word in its arguments cannot.
    pub(super) fn can_name(&self, call: u32) -> bool {
        self.named.contains(&call)
    }

    /// What a line names. Linear in it and in the calls that it may mean.
    pub(super) fn read(&self, line: &str) -> Label {
        let mut label = Label::default();
        self.names.each(line, |name, _, _| label.calls.extend(&self.calls[name]));
        let lower = line.to_lowercase();
        let mut name = |speaker: Speakers| label.speakers = label.speakers.with(speaker);
        for word in lower.split(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-')) {
            let is = |words: &[&str]| {
                words.iter().any(|known| *known == word || (!known.is_ascii() && word.contains(known)))
            };
            if is(USER) {
                name(Speakers::USER);
            }
            if is(MODEL) {
                name(Speakers::MODEL);
            }
            if is(TOOL) || self.tools.contains(word) {
                name(Speakers::TOOL);
            }
        }
        // A file or a command means its output.
        if !label.calls.is_empty() {
            label.speakers = label.speakers.with(Speakers::TOOL);
        }
        label
    }
}
