//! The weights of the signals for each kind of task.
//!
//! Set by hand from what the kinds mean, in steps of one half, and corrected in a few rounds against the labelled
//! sessions. They are not fitted: a fit agreed less with the sessions of a repository that was left out of it
//! (`docs/detection.md`).

use epitome_strategy::TaskKind;
use epitome_strategy::text::counted;

use super::signals::Signals;

/// The kinds that are weighed, in the order of the weights.
pub(super) const KINDS: [TaskKind; 4] = [TaskKind::Code, TaskKind::Analysis, TaskKind::Conversation, TaskKind::Mixed];

/// The score that a kind starts with. A mixed session needs evidence that it is one.
pub(super) const BIAS: [f64; 4] = [0.0, 0.0, 0.0, -1.0];

/// A signal for or against kinds.
#[derive(Debug)]
pub(super) struct Feature {
    /// For code, analysis, conversation, mixed.
    pub(super) weights: [f64; 4],
    /// Its strength, from 0 to 1.
    pub(super) value: fn(&Signals) -> f64,
    /// Its wording, with the figures.
    pub(super) says: fn(&Signals) -> String,
}

/// Every feature.
#[rustfmt::skip] // one line a weight
pub(super) const FEATURES: &[Feature] = &[
    //                   code  analysis  conversation  mixed
    Feature { weights: [ 2.0,  -1.0,     -1.0,          0.5], value: sources,       says: says_changes },
    Feature { weights: [ 1.5,  -1.5,     -0.5,          0.0], value: change_rate,   says: says_changes },
    Feature { weights: [ 1.0,   0.0,     -0.5,          0.0], value: runs,          says: says_runs },
    Feature { weights: [ 4.0,  -1.0,     -1.0,          0.0], value: edit_blocks,   says: says_edit_blocks },
    Feature { weights: [-1.5,  -0.5,      0.0,          2.5], value: documents,     says: says_documents },
    Feature { weights: [-0.5,   2.5,     -1.0,          0.0], value: only_looks,    says: says_looks },
    Feature { weights: [-1.0,   1.5,     -0.5,          0.5], value: web,           says: says_web },
    Feature { weights: [-1.0,  -1.5,      3.0,          0.0], value: talk,          says: says_talk },
    Feature { weights: [-1.0,  -0.5,      2.5,         -0.5], value: service,       says: says_service },
    Feature { weights: [ 0.5,   1.0,     -2.0,          0.0], value: calls_a_turn,  says: says_calls_a_turn },
    Feature { weights: [-0.5,   0.0,     -1.0,          2.5], value: web_and_change, says: says_web_and_change },
    Feature { weights: [ 0.0,  -1.0,     -1.0,          2.0], value: talk_and_change, says: says_talk_and_change },
    Feature { weights: [-0.5,   0.0,     -0.5,          1.0], value: mixture,       says: says_mixture },
    Feature { weights: [ 1.0,   0.0,     -0.5,          0.0], value: code_words,    says: says_code_words },
    Feature { weights: [-0.5,   1.0,      0.0,          0.5], value: analysis_words, says: says_analysis_words },
    Feature { weights: [-0.5,  -0.5,      1.0,          0.0], value: courtesy,      says: says_courtesy },
];

/// Returns `count / (count + half)`: 0 for none, one half at `half`, near 1 for many.
fn many(count: f64, half: f64) -> f64 {
    count / (count + half)
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Returns the changes of files that hold no prose; a change of an unnamed file counts as one.
fn source_changes(signals: &Signals) -> f64 {
    signals.changes as f64 - prose_changes(signals)
}

fn prose_changes(signals: &Signals) -> f64 {
    signals.changes as f64 * share(signals.prose_files, signals.files)
}

/// Returns the share of rounds with calls: the calls of a session that mostly talks are less informative.
fn work(signals: &Signals) -> f64 {
    1.0 - share(signals.talk_rounds, signals.rounds())
}

fn sources(signals: &Signals) -> f64 {
    many(source_changes(signals), 3.0)
}

fn change_rate(signals: &Signals) -> f64 {
    (4.0 * source_changes(signals) / signals.acts().max(1) as f64).min(1.0) * work(signals)
}

fn runs(signals: &Signals) -> f64 {
    (4.0 * share(signals.runs + signals.commits, signals.acts())).min(1.0) * work(signals)
}

fn edit_blocks(signals: &Signals) -> f64 {
    3.0 * share(signals.edit_blocks, signals.answers)
}

fn documents(signals: &Signals) -> f64 {
    share(signals.prose_files, signals.files) * many(prose_changes(signals), 2.0)
}

fn only_looks(signals: &Signals) -> f64 {
    let changing = (8.0 * share(signals.changes, signals.acts())).min(1.0);
    many((signals.looks + signals.web) as f64, 3.0) * (1.0 - changing) * (0.5 + 0.5 * work(signals))
}

fn web(signals: &Signals) -> f64 {
    2.0 * share(signals.web, signals.acts())
}

fn talk(signals: &Signals) -> f64 {
    share(signals.talk_rounds, signals.rounds()) * many(signals.talk_rounds as f64, 2.0)
}

fn service(signals: &Signals) -> f64 {
    (2.0 * share(signals.others, signals.acts())).min(1.0) * many(signals.typed as f64, 2.0)
}

fn calls_a_turn(signals: &Signals) -> f64 {
    many(signals.calls as f64, 4.0 * signals.typed.max(1) as f64)
}

fn web_and_change(signals: &Signals) -> f64 {
    many(signals.web as f64, 3.0) * many(signals.changes as f64, 3.0)
}

fn talk_and_change(signals: &Signals) -> f64 {
    let talks = (2.0 * share(signals.talk_rounds, signals.rounds())).min(1.0) * many(signals.talk_rounds as f64, 3.0);
    talks * many(signals.changes as f64, 3.0)
}

fn mixture(signals: &Signals) -> f64 {
    let rounds = signals.rounds();
    let rarer = signals.change_rounds.min(rounds - signals.change_rounds);
    if rounds > 1 { (2.0 * share(rarer, rounds)).min(1.0) * many(rounds as f64, 5.0) } else { 0.0 }
}

/// Returns a share of the typed messages, which counts more the more messages there are.
fn of_typed(count: usize, signals: &Signals) -> f64 {
    share(count, signals.typed) * many(signals.typed as f64, 1.0)
}

fn code_words(signals: &Signals) -> f64 {
    of_typed(signals.code_words, signals)
}

fn analysis_words(signals: &Signals) -> f64 {
    of_typed(signals.analysis_words, signals)
}

fn courtesy(signals: &Signals) -> f64 {
    of_typed(signals.conversation_words, signals)
}

fn says_changes(signals: &Signals) -> String {
    format!("{} of {} change files", signals.changes, counted(signals.calls, "tool call"))
}

fn says_runs(signals: &Signals) -> String {
    let runs = format!("{} of {} build, test or run something", signals.runs, counted(signals.calls, "tool call"));
    match signals.commits {
        0 => runs,
        1 => format!("{runs}, 1 records changes in git"),
        commits => format!("{runs}, {commits} record changes in git"),
    }
}

fn says_edit_blocks(signals: &Signals) -> String {
    format!("{} of {} hold edit blocks", signals.edit_blocks, counted(signals.answers, "answer"))
}

fn says_documents(signals: &Signals) -> String {
    format!("{} of {} are documents", signals.prose_files, counted(signals.files, "file change"))
}

fn says_looks(signals: &Signals) -> String {
    let looks = signals.looks + signals.web;
    format!("{looks} of {} read or search, {} change files", counted(signals.calls, "tool call"), signals.changes)
}

fn says_web(signals: &Signals) -> String {
    format!("{} of {} go to the web", signals.web, counted(signals.calls, "tool call"))
}

fn says_talk(signals: &Signals) -> String {
    format!("{} of {} have no tool call", signals.talk_rounds, counted(signals.rounds(), "turn"))
}

fn says_service(signals: &Signals) -> String {
    format!("{} of {} are of a service's own tools", signals.others, counted(signals.calls, "tool call"))
}

fn says_calls_a_turn(signals: &Signals) -> String {
    format!("{} in {}", counted(signals.calls, "tool call"), counted(signals.typed, "typed message"))
}

fn says_web_and_change(signals: &Signals) -> String {
    format!(
        "{} of {} go to the web, {} change files",
        signals.web,
        counted(signals.calls, "tool call"),
        signals.changes
    )
}

fn says_talk_and_change(signals: &Signals) -> String {
    let turns = counted(signals.rounds(), "turn");
    format!("{} of {turns} only talk, {} change files", signals.talk_rounds, counted(signals.changes, "call"))
}

fn says_mixture(signals: &Signals) -> String {
    format!("{} of {} change files, the others do not", signals.change_rounds, counted(signals.rounds(), "turn"))
}

fn says_code_words(signals: &Signals) -> String {
    format!("{} of {} speak of code", signals.code_words, counted(signals.typed, "typed message"))
}

fn says_analysis_words(signals: &Signals) -> String {
    format!("{} of {} ask for explanation or research", signals.analysis_words, counted(signals.typed, "typed message"))
}

fn says_courtesy(signals: &Signals) -> String {
    format!("{} of {} are small talk or courtesy", signals.conversation_words, counted(signals.typed, "typed message"))
}
