//! The signals of a view: counts that indicate its kind of task.

use std::collections::BTreeMap;

use epitome_session::{Content, Message, Origin, Role};
use epitome_strategy::tools::{self, ToolKind};
use epitome_strategy::{Call, Cue, CueCounts, Cues, Value, View};

use super::commands::{Action, action, command_of};

/// The bytes of a typed message that are searched for cue words: text that is pasted below a request is not the
/// request.
const READ_BYTES: usize = 2_000;

/// Endings of files that hold prose.
const PROSE: &[&str] = &["md", "mdx", "txt", "rst", "adoc", "docx", "tex", "org"];

/// The counts. Only typed text counts as the user's words; tools' and injected texts do not.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Messages that a person typed.
    pub(super) typed: usize,
    /// Of these, the ones with a cue word of code, analysis, conversation.
    pub(super) code_words: usize,
    pub(super) analysis_words: usize,
    pub(super) conversation_words: usize,
    /// Messages in which the model says something.
    pub(super) answers: usize,
    /// Of these, the ones with an edit block.
    pub(super) edit_blocks: usize,
    /// Calls by their effect.
    pub(super) calls: usize,
    pub(super) looks: usize,
    pub(super) web: usize,
    pub(super) runs: usize,
    pub(super) commits: usize,
    pub(super) changes: usize,
    /// Calls of tools of unusual kinds for an agent: those of a service.
    pub(super) others: usize,
    /// Changed or written files: all, and those that hold prose.
    pub(super) files: usize,
    pub(super) prose_files: usize,
    /// Rounds with a change, with calls but no change, without calls.
    pub(super) change_rounds: usize,
    pub(super) look_rounds: usize,
    pub(super) talk_rounds: usize,
}

impl Signals {
    /// Returns the number of rounds: a typed message and what follows it.
    pub(super) fn rounds(&self) -> usize {
        self.change_rounds + self.look_rounds + self.talk_rounds
    }

    /// Returns the number of calls with an informative effect.
    pub(super) fn acts(&self) -> usize {
        self.looks + self.web + self.runs + self.commits + self.changes + self.others
    }

    /// Returns the signals of a view. Linear in the view.
    pub(super) fn read(view: &View<'_>) -> Self {
        let mut signals = Self::default();
        for message in view.messages() {
            if message.is_typed() {
                signals.read_typed(view, message);
            } else if message.role == Role::Assistant && message.origin == Origin::Model {
                signals.read_answer(message);
            }
        }
        signals.read_calls(view);
        signals
    }

    fn read_typed(&mut self, view: &View<'_>, message: &Message) {
        let mut cues = CueCounts::default();
        let search = view.lexicon().search(Cues::of([Cue::Code, Cue::Analysis, Cue::Conversation]));
        for text in texts(message) {
            cues.add(&search.counts(&text[..text.floor_char_boundary(READ_BYTES)]));
        }
        self.typed += 1;
        self.code_words += usize::from(cues.has(Cue::Code));
        self.analysis_words += usize::from(cues.has(Cue::Analysis));
        self.conversation_words += usize::from(cues.has(Cue::Conversation));
    }

    fn read_answer(&mut self, message: &Message) {
        self.answers += usize::from(texts(message).any(|text| !text.is_empty()));
        self.edit_blocks += usize::from(texts(message).any(has_edit_block));
    }

    fn read_calls(&mut self, view: &View<'_>) {
        // For each round, whether something was changed in it.
        let mut rounds: BTreeMap<u32, bool> = BTreeMap::new();
        for call in view.facts().calls() {
            self.calls += 1;
            let action = self.read_call(call);
            let round = view.units()[call.unit as usize].round;
            *rounds.entry(round).or_default() |= action == Action::Change;
        }
        self.change_rounds = rounds.values().filter(|changed| **changed).count();
        self.look_rounds = rounds.len() - self.change_rounds;
        self.talk_rounds = (view.rounds() as usize).saturating_sub(rounds.len());
    }

    fn read_call(&mut self, call: &Call<'_>) -> Action {
        let action = match call.kind {
            ToolKind::Edit if is_view(call) => Action::Look,
            ToolKind::Edit | ToolKind::Write => Action::Change,
            ToolKind::Shell => action(&command_of(call)),
            ToolKind::Read | ToolKind::Search | ToolKind::Lookup => Action::Look,
            ToolKind::Web => Action::Web,
            ToolKind::Plan | ToolKind::Delegate => Action::Nothing,
            ToolKind::Other => {
                self.others += 1;
                Action::Nothing
            }
        };
        if action == Action::Change {
            self.read_paths(call);
        }
        match action {
            Action::Nothing => {}
            Action::Look => self.looks += 1,
            Action::Web => self.web += 1,
            Action::Run => self.runs += 1,
            Action::Commit => self.commits += 1,
            Action::Change => self.changes += 1,
        }
        action
    }

    /// Counts the files that a call changes: those that its arguments or a patch in them name.
    fn read_paths(&mut self, call: &Call<'_>) {
        let json = call.json();
        let path = json.as_ref().and_then(tools::path_argument);
        let texts =
            json.iter().filter(|_| path.is_none()).flat_map(|json| json.as_object()).flat_map(|map| map.values());
        let plain = json.is_none().then_some(call.arguments);
        let patched = texts.filter_map(Value::as_str).chain(plain).flat_map(tools::patch_paths);
        for path in path.into_iter().chain(patched) {
            let ending = path.rsplit('.').next().unwrap_or("");
            self.files += 1;
            self.prose_files += usize::from(PROSE.contains(&ending));
        }
    }
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.blocks.iter().filter_map(|block| match &block.content {
        Content::Text { text } => Some(text.as_ref()),
        Content::Thinking(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Media(_)
        | Content::Opaque(_)
        | Content::Gone => None,
    })
}

/// Whether an answer holds an edit in plain text: a search-and-replace block or a patch.
fn has_edit_block(text: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with("<<<<<<< SEARCH") || line.starts_with("*** Begin Patch") || line.starts_with("@@ -")
    })
}

/// Whether a call of an editing tool with sub-commands only looks.
fn is_view(call: &Call<'_>) -> bool {
    call.arguments.contains("\"view\"")
}
