//! Finds the key event of each unit.

use epitome_strategy::commands::{Action, action, check_key, has_failed, is_check, script_of, simple_commands};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{
    Call, Cue, CueCounts, Cues, FileAccess, Message, Origin, ToolOutput, Unit, UnitKind, View, named,
};

use crate::Settings;

named! {
    /// The kinds of event, the least first: when the kept units do not fit, they leave in this order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Kind {
        /// The model reported a failure or a repair.
        ErrorOrFix = "error or fix",
        /// A tool reported an error, or a command failed.
        Failure = "failure",
        /// A file was changed or written.
        Change = "change",
        /// Tests were run, work was committed.
        Outcome = "outcome",
        /// The model or a person decided something.
        Decision = "decision",
        /// A task started or was finished.
        TaskMark = "task mark",
        /// A person typed it.
        UserInput = "user input",
        /// A person wants it to be remembered.
        UserMark = "user mark",
    }
}

/// The most important event of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// Its evidence, for a person.
    pub(crate) what: String,
}

/// Returns the event of each unit. Linear in the view.
pub(crate) fn events(view: &View<'_>, settings: &Settings) -> Vec<Option<Event>> {
    let mut events: Vec<Option<Event>> = view.units().iter().map(|unit| unit_event(view, unit, settings)).collect();
    let mut add = |unit: u32, kind: Kind, what: String| {
        let event = &mut events[unit as usize];
        if event.as_ref().is_none_or(|known| known.kind < kind) {
            *event = Some(Event { kind, what });
        }
    };
    let facts = view.facts();
    for file in facts.file_events().iter().filter(|event| !event.failed) {
        let call = &facts.calls()[file.call as usize];
        let verb = match file.access {
            FileAccess::Edit => "changed",
            FileAccess::Write => "wrote",
            FileAccess::ReadWhole | FileAccess::ReadPart => continue,
        };
        add(call.unit, Kind::Change, format!("{verb} {}", file.path));
    }
    for output in facts.outputs() {
        let call = output.call.map(|call| &facts.calls()[call as usize]);
        if let Some((kind, what)) = came_out(output, call) {
            add(output.unit, kind, what);
        }
    }
    events
}

/// Returns the event in a tool's output.
fn came_out(output: &ToolOutput<'_>, call: Option<&Call<'_>>) -> Option<(Kind, String)> {
    let shell = call.filter(|call| call.kind == ToolKind::Shell);
    let script = shell.and_then(|call| script_of(call));
    if let Some(what) = script.as_deref().and_then(milestone) {
        return Some((Kind::Outcome, format!("{} ran `{what}`", output.tool)));
    }
    let failed =
        output.is_error || shell.is_some() && has_failed(output.text, output.is_error, script.as_deref()) == Some(true);
    failed.then(|| (Kind::Failure, format!("{} failed", output.tool)))
}

/// Returns the command of a script that checks the project, or that records or publishes work.
fn milestone(script: &str) -> Option<String> {
    simple_commands(script).find_map(|command| match action(command) {
        _ if is_check(command) => Some(check_key(command)),
        Action::Commit => Some(command.split_whitespace().take(2).collect::<Vec<_>>().join(" ")),
        _ => None,
    })
}

/// Returns the event in the messages of a unit.
fn unit_event(view: &View<'_>, unit: &Unit, settings: &Settings) -> Option<Event> {
    let of_message = |position: usize| {
        let message = view.message(position);
        let cues = || view.facts().cues(position);
        let (kind, what) = match message.origin {
            Origin::Typed => typed(cues()),
            Origin::Model => by_model(view, message, cues(), settings)?,
            Origin::Instructions
            | Origin::Developer
            | Origin::Configuration
            | Origin::Injected
            | Origin::ToolOutput
            | Origin::Tool
            | Origin::Summary
            | Origin::Notice
            | Origin::Answer => return None,
        };
        Some(Event { kind, what: what.to_owned() })
    };
    match unit.kind {
        UnitKind::System | UnitKind::Summary | UnitKind::Orphan => None,
        UnitKind::User | UnitKind::Injected | UnitKind::Step => {
            unit.entries.clone().filter_map(of_message).max_by_key(|event| event.kind)
        }
    }
}

fn typed(cues: CueCounts) -> (Kind, &'static str) {
    match cues.has(Cue::Important) || cues.has(Cue::Remember) {
        true => (Kind::UserMark, "the user wants it remembered"),
        false => (Kind::UserInput, "the user's words"),
    }
}

fn by_model(view: &View<'_>, message: &Message, cues: CueCounts, settings: &Settings) -> Option<(Kind, &'static str)> {
    let calls_nothing = message.calls().next().is_none() && message.text_calls.is_empty();
    let (starts, ends) = (cues.has(Cue::TaskStart), cues.has(Cue::Completion));
    // In a step with calls the words tell of the next moment only; a mark counts everywhere.
    if (starts || ends) && (calls_nothing || has_task_mark(view, message)) {
        return Some((Kind::TaskMark, if ends { "a task is finished" } else { "a task starts" }));
    }
    let longer = |text: &str| text.chars().nth(settings.min_decision_chars as usize).is_some();
    if cues.has(Cue::Decision) && message.texts().any(|text| longer(text)) {
        return Some((Kind::Decision, "a decision"));
    }
    (cues.has(Cue::Error) || cues.has(Cue::Fix)).then_some((Kind::ErrorOrFix, "an error or a fix"))
}

/// Whether it holds a mark such as `!!!COMPLETE!!!`.
fn has_task_mark(view: &View<'_>, message: &Message) -> bool {
    let is_mark = |text: &str| {
        let marks = view.lexicon().search(Cues::new([Cue::TaskStart, Cue::Completion])).find(text);
        marks.into_iter().any(|found| text[found.range].starts_with("!!!"))
    };
    message.texts().any(|text| text.contains("!!!") && is_mark(text))
}
