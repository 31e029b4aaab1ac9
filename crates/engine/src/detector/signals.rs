//! The signals of a view: counts that indicate its kind of task.

use epitome_session::{Heading, HeadingKind, Message, Origin, Role};
use epitome_strategy::commands::{Action, action};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::{self, Record, Speaker};
use epitome_strategy::{Cue, CueCounts, Cues, Lexicon, View, ZeroCounter};

use super::call_purpose::CallPurpose;

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

    /// Returns the signals of a view. Behind a summary the messages that it covers count; where they are not known, what
    /// the summary says was called and said does. Linear in the view and in these messages.
    pub(super) fn read(view: &View<'_>) -> Self {
        let mut signals = Self::default();
        let mut rounds = Rounds::default();
        signals.read_view(view, view.lexicon(), &mut rounds);
        (signals.change_rounds, signals.look_rounds, signals.talk_rounds) = rounds.counts();
        signals
    }

    fn read_view(&mut self, view: &View<'_>, lexicon: &Lexicon, rounds: &mut Rounds) {
        let mut calls = view.facts().calls().iter().peekable();
        for (position, message) in view.messages().enumerate() {
            if message.origin == Origin::Summary {
                self.read_summary(view, position, lexicon, rounds);
            } else {
                self.read_message(message, lexicon, rounds);
            }
            while let Some(call) = calls.next_if(|call| call.at.message as usize == position) {
                rounds.add(self.read_call(&CallPurpose::of_call(call)));
            }
        }
    }

    /// Reads the words of a message, and begins a round where a person typed it.
    fn read_message(&mut self, message: &Message, lexicon: &Lexicon, rounds: &mut Rounds) {
        if message.is_typed() {
            self.read_typed_message(message, lexicon, rounds);
        } else if message.role == Role::Assistant && message.origin == Origin::Model {
            self.read_answer(message.texts().map(|text| &**text));
        }
    }

    fn read_summary(&mut self, view: &View<'_>, position: usize, lexicon: &Lexicon, rounds: &mut Rounds) {
        let originals = view.originals(position);
        if originals.is_empty() {
            view.message(position).texts().for_each(|text| self.read_records(text, lexicon, rounds));
        } else {
            View::read_messages(&originals, &ZeroCounter, view.language(), |view| {
                self.read_view(view, lexicon, rounds)
            });
        }
    }

    /// Reads a message that a person typed. A provider that takes no two messages of a user in a row has them in one: then
    /// a summary stands among the texts.
    fn read_typed_message(&mut self, message: &Message, lexicon: &Lexicon, rounds: &mut Rounds) {
        if !message.texts().any(|text| is_summary(text)) {
            self.read_typed(lexicon, message.texts().map(|text| &**text));
            rounds.begin();
            return;
        }
        let texts: Vec<&str> = message.texts().map(|text| &**text).collect();
        for texts in texts.chunk_by(|one, other| is_summary(one) == is_summary(other)) {
            if texts.first().is_some_and(|text| is_summary(text)) {
                texts.iter().for_each(|text| self.read_records(text, lexicon, rounds));
            } else {
                self.read_typed(lexicon, texts.iter().copied());
                rounds.begin();
            }
        }
    }

    fn read_records(&mut self, text: &str, lexicon: &Lexicon, rounds: &mut Rounds) {
        for record in transcript::read(text) {
            match record {
                Record::Speech { speaker: Speaker::User, rows } => {
                    self.read_typed(lexicon, std::iter::once(&*rows.text()));
                    rounds.begin();
                }
                Record::Speech { speaker: Speaker::Assistant, rows } => {
                    self.read_answer(std::iter::once(&*rows.text()));
                }
                Record::Call { name, head, arguments, .. } => {
                    rounds.add(self.read_call(&CallPurpose::of_record(&name, &head, &arguments)));
                }
                Record::Speech { .. } | Record::LeftOut(_) | Record::Unsaid => {}
            }
        }
    }

    fn read_typed<'t>(&mut self, lexicon: &Lexicon, texts: impl Iterator<Item = &'t str>) {
        let mut cues = CueCounts::default();
        let search = lexicon.search(Cues::new([Cue::Code, Cue::Analysis, Cue::Conversation]));
        for text in texts {
            cues.add(&search.counts(&text[..text.floor_char_boundary(READ_BYTES)]));
        }
        self.typed += 1;
        self.code_words += usize::from(cues.has(Cue::Code));
        self.analysis_words += usize::from(cues.has(Cue::Analysis));
        self.conversation_words += usize::from(cues.has(Cue::Conversation));
    }

    fn read_answer<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        let (mut says, mut edits) = (false, false);
        for text in texts {
            says |= !text.is_empty();
            edits |= has_edit_block(text);
        }
        self.answers += usize::from(says);
        self.edit_blocks += usize::from(edits);
    }

    fn read_call(&mut self, asked: &CallPurpose<'_>) -> Action {
        self.calls += 1;
        let action = match asked.kind {
            ToolKind::Edit if asked.is_view() => Action::Look,
            ToolKind::Edit | ToolKind::Write => Action::Change,
            ToolKind::Shell => action(&asked.command()),
            ToolKind::Read | ToolKind::Search | ToolKind::Lookup => Action::Look,
            ToolKind::Web => Action::Web,
            ToolKind::Plan | ToolKind::Delegate => Action::Nothing,
            ToolKind::Other => {
                self.others += 1;
                Action::Nothing
            }
        };
        if action == Action::Change {
            for path in asked.changed_paths() {
                let ending = path.rsplit('.').next().unwrap_or("");
                self.files += 1;
                self.prose_files += usize::from(PROSE.contains(&ending));
            }
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
}

/// The rounds, and what was done in each.
#[derive(Default)]
struct Rounds {
    begun: usize,
    /// For each round with calls, whether something was changed in it.
    changed: Vec<bool>,
    /// Whether the present round has calls.
    has_calls: bool,
}

impl Rounds {
    fn begin(&mut self) {
        self.begun += 1;
        self.has_calls = false;
    }

    /// Adds a call to the present round.
    fn add(&mut self, action: Action) {
        if !std::mem::replace(&mut self.has_calls, true) {
            self.changed.push(false);
        }
        if let Some(changed) = self.changed.last_mut() {
            *changed |= action == Action::Change;
        }
    }

    /// Returns the number of rounds with a change, with calls but no change, without calls.
    fn counts(&self) -> (usize, usize, usize) {
        let change = self.changed.iter().filter(|changed| **changed).count();
        (change, self.changed.len() - change, self.begun.saturating_sub(self.changed.len()))
    }
}

/// Whether a text begins with the heading of a summary.
fn is_summary(text: &str) -> bool {
    Heading::read(text).is_some_and(|heading| heading.kind == HeadingKind::Summary)
}

/// Whether an answer holds an edit in plain text: a search-and-replace block or a patch.
fn has_edit_block(text: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with("<<<<<<< SEARCH") || line.starts_with("*** Begin Patch") || line.starts_with("@@ -")
    })
}
