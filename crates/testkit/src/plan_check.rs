//! Checks of one strategy alone: a fixture goes in, its plan comes out as text.
//!
//! Whatever the case is about, a check also makes sure that the plan edits only what may be edited, that its ranges are
//! ranges of the texts that they cut, that no edit overlaps another, that a summary replaces neighbours, that planning
//! twice gives the same plan, and that the plan survives a round trip through JSON.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use epitome_engine::block_on;
use epitome_session::{Content, Entry, KeptRanges, Language, Session, Unit, UnitKind, units};
use epitome_strategy::{
    BlockRef, Configurable, Edit, Embedder, Embeddings, EntryTokens, Goal, HostChanges, Plan, Protection,
    SettingsTable, Strategy, SummaryText, TaskKind, TokenCounter, Tokens, Value, Vectors, View,
};

use crate::embedder::FakeEmbedder;
use crate::fixture::{FakeCounter, session};

/// Tokens that every message costs beside its blocks.
pub const MESSAGE_TOKENS: Tokens = 4;

/// One case: a session, a strategy with settings, and a goal.
#[derive(Debug)]
pub struct PlanCase {
    session: Session,
    strategy: Arc<dyn Strategy>,
    target: Option<Tokens>,
    limit: Option<Tokens>,
    window: Option<Tokens>,
    max_summary_tokens: Option<Tokens>,
    cycle: u32,
    focus: Option<String>,
    focus_given: bool,
    task: TaskKind,
    first_unsent_unit: Option<u32>,
    language: Language,
    host: HostChanges,
    protections: Vec<(usize, Protection)>,
    embedder: Option<Arc<dyn Embedder>>,
}

/// A plan and its text.
#[derive(Debug)]
pub struct CheckedPlan {
    /// The plan.
    pub plan: Plan,
    /// One line an edit, as [`PlanCase::expect`] compares it.
    pub text: String,
    /// Tokens of the view before, by [`FakeCounter`].
    pub before: Tokens,
    /// The approximate tokens after all of the plan's edits: every mark as [`View::mark_tokens`] has it, every summary
    /// at its longest, trimmed arguments not subtracted.
    pub after: Tokens,
}

impl PlanCase {
    /// Returns a case for the strategy `S`. `settings` are `key=value` words, values as JSON:
    /// `keep_rounds=2 tools=["Read"]`.
    ///
    /// Constants of the strategy are set in the same way. Panics on words that the strategy does not have.
    #[expect(clippy::panic, reason = "a broken case is a bug in a test")]
    pub fn new<S: Configurable>(fixture: &str, settings: &str) -> Self {
        let mut table = S::Settings::default();
        for (name, value) in values(settings) {
            table.set_constant(&name, &value).unwrap_or_else(|error| panic!("{error}"));
        }
        Self::from_session(session(fixture), Arc::new(S::with_settings(table)))
    }

    /// Returns a case for an existing session and strategy.
    pub fn from_session(session: Session, strategy: Arc<dyn Strategy>) -> Self {
        Self {
            session,
            strategy,
            target: None,
            limit: None,
            window: None,
            max_summary_tokens: None,
            cycle: 1,
            focus: None,
            focus_given: false,
            task: TaskKind::Unknown,
            first_unsent_unit: None,
            language: Language::English,
            host: HostChanges::Any,
            protections: Vec::new(),
            embedder: Some(Arc::new(FakeEmbedder)),
        }
    }

    /// Sets the target in tokens; 1 when not given: as little as possible.
    #[must_use]
    pub fn target(mut self, target: Tokens) -> Self {
        self.target = Some(target);
        self
    }

    /// Sets the tokens that one summary may take at most.
    #[must_use]
    pub fn max_summary_tokens(mut self, tokens: Tokens) -> Self {
        self.max_summary_tokens = Some(tokens);
        self
    }

    /// Sets the limit in tokens; the target when not given.
    #[must_use]
    pub fn limit(mut self, limit: Tokens) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the model's window; the limit when not given.
    #[must_use]
    pub fn window(mut self, window: Tokens) -> Self {
        self.window = Some(window);
        self
    }

    /// Sets the focus.
    #[must_use]
    pub fn focus(mut self, focus: &str) -> Self {
        self.focus = Some(focus.to_owned());
        self
    }

    /// Sets a focus that the host gives, as a question of its own.
    #[must_use]
    pub fn question(mut self, focus: &str) -> Self {
        self.focus_given = true;
        self.focus(focus)
    }

    /// Sets the kind of the task; unknown when not given.
    #[must_use]
    pub fn task(mut self, task: TaskKind) -> Self {
        self.task = task;
        self
    }

    /// Sets the number of this compaction of the session; 1 when not given.
    #[must_use]
    pub fn cycle(mut self, cycle: u32) -> Self {
        self.cycle = cycle;
        self
    }

    /// Sets the first unit that the model has not been sent yet.
    #[must_use]
    pub fn unsent_from(mut self, unit: u32) -> Self {
        self.first_unsent_unit = Some(unit);
        self
    }

    /// Sets the changes that the host can make; the protections that follow from it are set by [`protect`](Self::protect).
    #[must_use]
    pub fn host(mut self, host: HostChanges) -> Self {
        self.host = host;
        self
    }

    /// Sets the language of written texts.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Sets another protection of a unit than its place in the session gives.
    #[must_use]
    pub fn protect(mut self, unit: usize, protection: Protection) -> Self {
        self.protections.push((unit, protection));
        self
    }

    /// Sets the embedder for a strategy that needs vectors; [`FakeEmbedder`] when not given, `None` for no embedder.
    #[must_use]
    pub fn embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.embedder = embedder;
        self
    }

    /// Returns the plan. Panics when it breaks one of the rules above.
    #[expect(clippy::panic, reason = "a broken plan is a bug that a test is to show")]
    pub fn run(&self) -> CheckedPlan {
        let entries = self.session.view();
        let units = units(entries);
        let tokens: Vec<EntryTokens> = entries.iter().map(count_entry).collect();
        let mut protections = protections(entries, &units);
        for (unit, protection) in &self.protections {
            protections[*unit] = *protection;
        }
        let mut view = View::new(entries, &units, &tokens, &protections, &FakeCounter, self.language);
        // The longer form of the marks: a strategy's estimate is never more than its real saving.
        view = view.with_handles(true);
        if self.strategy.meta().needs.embeddings
            && let Some(embedder) = &self.embedder
        {
            let vectors = vectors(&view, &**embedder, self.focus.as_deref());
            view = view.with_vectors(vectors.map(Arc::new).map_err(Arc::from));
        }
        let before = view.total_tokens();
        let target = self.target.unwrap_or(1);
        let limit = self.limit.unwrap_or(target);
        let goal = Goal {
            current: before,
            target,
            limit,
            window: self.window.unwrap_or(limit),
            max_summary_tokens: self.max_summary_tokens,
            task: self.task,
            cycle: self.cycle,
            focus: self.focus.clone(),
            focus_given: self.focus_given,
            first_unsent_unit: self.first_unsent_unit,
            language: self.language,
            host: self.host,
        };
        let ask = || match goal.is_met() {
            // As the engine's driver, which does not ask then.
            true => Ok(Plan::decline("the goal is met")),
            false => self.strategy.plan(&view, &goal),
        };
        let plan = ask().unwrap_or_else(|error| panic!("no plan: {error}"));
        assert_eq!(ask().as_ref(), Ok(&plan), "planning twice gave two plans");
        let json = serde_json::to_string(&plan).unwrap_or_else(|error| panic!("no JSON: {error}"));
        assert_eq!(serde_json::from_str::<Plan>(&json).ok().as_ref(), Some(&plan), "not the same plan from JSON");
        check_rules(&view, &plan);
        let after = plan.edits.iter().fold(before, |left, edit| left.saturating_sub(saving(&view, edit)));
        CheckedPlan { text: render(&view, &plan), plan, before, after }
    }

    /// Compares the plan's text with `expect`, white space around lines left out.
    #[track_caller]
    pub fn expect(&self, expect: &str) -> CheckedPlan {
        let planned = self.run();
        let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(planned.text.lines().collect::<Vec<_>>(), expect, "\nthe plan:\n{}\n", planned.text);
        planned
    }
}

/// Returns the vectors of a view's units and of the question, as the engine makes them.
fn vectors(view: &View<'_>, embedder: &dyn Embedder, focus: Option<&str>) -> Result<Vectors, String> {
    let units = view.units().len();
    let texts: Vec<String> = (0..units).map(|unit| view.facts().unit_text(unit)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).chain(focus).collect();
    let embedded = block_on(embedder.embed(&texts)).map_err(|error| error.to_string())?;
    let focus = focus.and_then(|_| embedded.row(units)).map(<[f32]>::to_vec);
    let dimensions = embedded.dimensions();
    let rows = embedded.values().iter().copied().take(units * dimensions).collect();
    Ok(Vectors { units: Embeddings::new(dimensions, rows), focus })
}

/// Returns the settings that `key=value` words name. Panics on an invalid word.
#[expect(clippy::panic, reason = "a broken case is a bug in a test")]
pub fn values(settings: &str) -> BTreeMap<String, Value> {
    let word = |word: &str| {
        let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("`{word}` is not key=value"));
        (key.to_owned(), value.parse().unwrap_or_else(|_| panic!("`{value}` is not JSON")))
    };
    settings.split_whitespace().map(word).collect()
}

/// Returns a message's tokens by [`FakeCounter`].
pub fn count_entry(entry: &Entry) -> EntryTokens {
    let blocks: Vec<Tokens> = entry.message.blocks.iter().map(|block| count_content(&block.content)).collect();
    EntryTokens { total: blocks.iter().sum::<Tokens>() + MESSAGE_TOKENS, blocks }
}

fn count_content(content: &Content) -> Tokens {
    let count = |text: &str| FakeCounter.count(text);
    match content {
        Content::Text { text } => count(text),
        Content::Thinking(thinking) => count(&thinking.text) + thinking.signature.as_deref().map_or(0, count),
        Content::ToolCall(call) => count(&call.id) + count(&call.name) + count(call.arguments.text()),
        Content::ToolResult(result) => count(&result.call_id) + count(&result.text),
        Content::Media(_) => 100,
        Content::Opaque(opaque) => count(&opaque.json),
        Content::Gone => 0,
    }
}

/// Returns the engine's default protections: system prompt, first and newest genuine user message, pins, open calls,
/// the newest step. For other protections see [`PlanCase::protect`].
pub fn protections(entries: &[Entry], units: &[Unit]) -> Vec<Protection> {
    let first = |kind| units.iter().position(|unit| unit.kind == kind);
    let last = |kind| units.iter().rposition(|unit| unit.kind == kind);
    let (task, newest, step) = (first(UnitKind::User), last(UnitKind::User), last(UnitKind::Step));
    let protection = |(index, unit): (usize, &Unit)| match unit.kind {
        UnitKind::System => Protection::System,
        _ if !unit.closed => Protection::Open,
        _ if Some(index) == newest => Protection::NewestUser,
        _ if Some(index) == task => Protection::OriginalTask,
        _ if entries[unit.entries.clone()].iter().any(|entry| entry.message.pinned) => Protection::Pinned,
        UnitKind::Step if Some(index) == step && newest.is_none_or(|user| user < index) => Protection::NewestStep,
        _ => Protection::Free,
    };
    units.iter().enumerate().map(protection).collect()
}

#[expect(clippy::panic, reason = "a broken plan is a bug that a test is to show")]
fn check_rules(view: &View<'_>, plan: &Plan) {
    assert!(plan.declined.is_none() || plan.edits.is_empty(), "a plan that declines has no edits: {plan:?}");
    assert!(plan.declined.is_some() || !plan.edits.is_empty(), "an empty plan says why");
    let (mut gone, mut touched) = (HashSet::new(), HashSet::new());
    for edit in &plan.edits {
        let code = &edit.reason().code;
        let is_kebab = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !code.is_empty();
        assert!(is_kebab, "`{code}` is not kebab-case");
        assert!(!edit.reason().detail.is_empty(), "a reason has a detail: {edit:?}");
        match edit {
            Edit::Drop { units, .. } | Edit::Summarize { units, .. } => {
                assert!(!units.is_empty(), "an edit of nothing: {edit:?}");
                let stays = |unit: &u32| {
                    let is_system = view.units()[*unit as usize].kind == UnitKind::System;
                    !is_system && !units.contains(unit) && !gone.contains(unit)
                };
                if let (Edit::Summarize { .. }, Some(first), Some(last)) = (edit, units.first(), units.last()) {
                    let between = (*first..*last).find(stays);
                    assert!(between.is_none(), "unit {between:?} stays between what a summary replaces: {edit:?}");
                }
                for unit in units {
                    assert!(view.protection(*unit as usize).may_leave(), "unit {unit} may not leave: {edit:?}");
                    assert!(gone.insert(*unit), "unit {unit} leaves twice");
                }
            }
            Edit::Excerpt { message, block, .. } | Edit::Trim { message, block, .. } => {
                let unit = view.unit_of(*message as usize);
                assert!(view.protection(unit).may_edit(), "unit {unit} may not be edited: {edit:?}");
                assert!(touched.insert((*message, *block)), "block {message}.{block} is edited twice");
                let at = BlockRef { message: *message, block: *block };
                let block = view.block(at).unwrap_or_else(|| panic!("no such block: {edit:?}"));
                match edit {
                    Edit::Excerpt { keep, .. } => {
                        let text = block.excerptable().unwrap_or_else(|| panic!("not to be cut: {edit:?}"));
                        KeptRanges::new(text, keep).unwrap_or_else(|error| panic!("{error}: {edit:?}"));
                    }
                    _ => assert!(block.as_call().is_some(), "no call: {edit:?}"),
                }
            }
        }
    }
    for (message, _) in touched {
        assert!(!gone.contains(&(view.unit_of(message as usize) as u32)), "message {message} is edited and leaves");
    }
}

/// Returns roughly what an edit saves.
fn saving(view: &View<'_>, edit: &Edit) -> Tokens {
    match edit {
        Edit::Drop { units, .. } => units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum(),
        Edit::Summarize { units, summary, .. } => {
            let leave: Tokens = units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
            let text = match summary {
                SummaryText::Ready(text) => view.count(text),
                SummaryText::Request(request) => request.max_tokens,
            };
            leave.saturating_sub(text + MESSAGE_TOKENS)
        }
        Edit::Excerpt { message, block, keep, .. } => {
            let at = BlockRef { message: *message, block: *block };
            let Some(text) = view.block(at).and_then(|block| block.excerptable()) else { return 0 };
            let gaps = KeptRanges::new(text, keep).map_or(0, |kept| kept.gaps(text.len()).len());
            let kept: String = keep.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
            let marks = match gaps {
                0 => 0,
                gaps => view.mark_tokens() + (gaps as Tokens - 1) * view.further_mark_tokens(),
            };
            view.count(text).saturating_sub(view.count(&kept) + marks)
        }
        Edit::Trim { .. } => 0,
    }
}

/// Returns a plan as text: one line an edit.
///
/// ```text
/// drop u3 (old-tool-result)
/// summarize u2..u5, u7 in 400 tokens (older-than-window)
/// excerpt m4.0 keep "first line⏎" + "last line" (large-tool-result)
/// trim m3.1 to 200 characters (long-arguments)
/// declined: nothing to cut
/// ```
pub fn render(view: &View<'_>, plan: &Plan) -> String {
    if let Some(reason) = &plan.declined {
        return format!("declined: {reason}");
    }
    let mut text = String::new();
    for edit in &plan.edits {
        let line = match edit {
            Edit::Drop { units, .. } => format!("drop {}", unit_list(units)),
            Edit::Summarize { units, summary, .. } => match summary {
                SummaryText::Ready(text) => format!("summarize {} as {text:?}", unit_list(units)),
                SummaryText::Request(request) => {
                    format!("summarize {} in {} tokens", unit_list(units), request.max_tokens)
                }
            },
            Edit::Excerpt { message, block, keep, .. } => {
                let at = BlockRef { message: *message, block: *block };
                let source = view.block(at).and_then(|block| block.excerptable()).map_or("", AsRef::as_ref);
                let pieces: Vec<String> = keep
                    .iter()
                    .map(|range| source.get(range.start as usize..range.end as usize).unwrap_or("<no range>"))
                    .map(abbreviate)
                    .collect();
                let kept = if pieces.is_empty() { "nothing".to_owned() } else { pieces.join(" + ") };
                format!("excerpt m{message}.{block} keep {kept}")
            }
            Edit::Trim { message, block, max_chars, .. } => {
                format!("trim m{message}.{block} to {max_chars} characters")
            }
        };
        let _ = writeln!(text, "{line} ({})", edit.reason().code);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns units as `u1, u3..u5`, ends included.
fn unit_list(units: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for unit in units {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *unit => *last = *unit,
            _ => runs.push((*unit, *unit)),
        }
    }
    let show = |(first, last): &(u32, u32)| {
        if first == last { format!("u{first}") } else { format!("u{first}..u{last}") }
    };
    runs.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Returns a kept piece in quotes, line feeds shown as `⏎`; of a long one the two ends.
fn abbreviate(piece: &str) -> String {
    const END: usize = 30;
    let shown = piece.replace('\r', "␍").replace('\n', "⏎");
    let count = shown.chars().count();
    if count <= 2 * END + 10 {
        return format!("\"{shown}\"");
    }
    let head: String = shown.chars().take(END).collect();
    let tail: String = shown.chars().skip(count - END).collect();
    format!("\"{head}…{tail}\"")
}

#[cfg(test)]
#[path = "plan_check_tests.rs"]
mod tests;
