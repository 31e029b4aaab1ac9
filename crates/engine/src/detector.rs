//! Tells what kind of task a session is, from the tools that were called and from who speaks how much.

use epitome_session::{Content, Origin, Role};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{TaskDetector, TaskKind, Verdict, View};

/// The detector that ships: counts what tools did and who spoke.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignalDetector;

/// Fewer messages than this tell nothing.
const FEWEST_MESSAGES: usize = 4;

/// With fewer calls per genuine user turn, the session is a conversation with some help of tools.
const CALLS_PER_TURN: f64 = 3.0;

/// Shell commands that change files.
const CHANGING_COMMANDS: &[&str] = &[
    "sed -i",
    "cat >",
    "cat <<",
    "tee ",
    "apply_patch",
    "patch -p",
    "git apply",
    "> /",
    "str_replace",
    "edit ",
    "create ",
];

#[derive(Default)]
struct Signals {
    typed: usize,
    typed_chars: usize,
    answers: usize,
    calls: usize,
    changes: usize,
    looks: usize,
    web: usize,
    edit_blocks: usize,
}

impl Signals {
    fn read(view: &View<'_>) -> Self {
        let mut signals = Self::default();
        for message in view.messages() {
            let text = || {
                message.blocks.iter().filter_map(|block| match &block.content {
                    Content::Text { text } => Some(text),
                    _ => None,
                })
            };
            if message.is_typed() {
                signals.typed += 1;
                signals.typed_chars += text().map(|text| text.len()).sum::<usize>();
            } else if message.role == Role::Assistant && message.origin == Origin::Model {
                signals.answers += 1;
                signals.edit_blocks += text().filter(|text| text.contains("<<<<<<< SEARCH")).count();
            }
        }
        for call in view.facts().calls() {
            signals.calls += 1;
            match call.kind {
                ToolKind::Edit | ToolKind::Write => signals.changes += 1,
                ToolKind::Shell if CHANGING_COMMANDS.iter().any(|command| call.arguments.contains(command)) => {
                    signals.changes += 1;
                }
                ToolKind::Read | ToolKind::Search | ToolKind::Lookup | ToolKind::Shell => signals.looks += 1,
                ToolKind::Web => signals.web += 1,
                ToolKind::Plan | ToolKind::Delegate | ToolKind::Other => {}
            }
        }
        signals
    }

    fn verdict(&self) -> (TaskKind, f64) {
        let per_turn = self.calls as f64 / self.typed.max(1) as f64;
        let changes = self.changes as f64 / self.calls.max(1) as f64;
        let web = self.web as f64 / self.calls.max(1) as f64;
        match () {
            () if self.calls == 0 && self.edit_blocks > 0 => (TaskKind::Code, 0.8),
            () if self.calls == 0 && self.typed >= 2 => (TaskKind::Conversation, 0.9),
            () if self.calls == 0 => (TaskKind::Unknown, 0.3),
            () if self.changes == 0 && self.typed >= 4 && per_turn < CALLS_PER_TURN => (TaskKind::Conversation, 0.7),
            () if self.changes == 0 => (TaskKind::Analysis, 0.7),
            () if web > 0.15 || (self.typed >= 20 && changes < 0.2) => (TaskKind::Mixed, 0.6),
            () if changes >= 0.05 || self.changes >= 3 => {
                (TaskKind::Code, ((0.6 + changes.min(0.35)) * 100.0).round() / 100.0)
            }
            () => (TaskKind::Analysis, 0.5),
        }
    }
}

impl TaskDetector for SignalDetector {
    fn detect(&self, view: &View<'_>) -> Verdict {
        if view.len() < FEWEST_MESSAGES {
            let evidence = vec![format!("only {}", counted(view.len(), "message"))];
            return Verdict { kind: TaskKind::Unknown, confidence: 0.2, evidence };
        }
        let signals = Signals::read(view);
        let (kind, confidence) = signals.verdict();
        let mut evidence = vec![format!(
            "{} in {}: {} change files, {} look things up, {} go to the web",
            counted(signals.calls, "tool call"),
            counted(signals.typed, "user turn"),
            signals.changes,
            signals.looks,
            signals.web
        )];
        if signals.edit_blocks > 0 {
            evidence.push(format!("{} answers hold edit blocks", signals.edit_blocks));
        }
        if let Some(mean) = signals.typed_chars.checked_div(signals.typed) {
            evidence.push(format!("{}; a user turn has {mean} bytes on average", counted(signals.answers, "answer")));
        }
        Verdict { kind, confidence, evidence }
    }
}

/// A number with its noun.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
