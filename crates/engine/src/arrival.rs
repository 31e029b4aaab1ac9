//! Edits on arrival: a huge tool result is cut before it is ever sent, which costs no prompt cache.

use epitome_session::{Entry, Epoch, EpochOrigin, Reason, Role, Session, Trigger, units};
use epitome_strategy::cut::{Focus, informative_lines};
use epitome_strategy::{Archive, BlockRef, Cancellation, Tokens};

use crate::editor::{BlockEdit, Editor};
use crate::engine::{Engine, EngineError};
use crate::guard::EditRefusal;
use crate::language::language;
use crate::ledger::Ledger;
use crate::working::WorkingView;
use epitome_session::heading::group_digits;

/// The name of a cut on arrival in reports.
const ARRIVAL: &str = "arrival";

/// A cut on arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its epoch, for [`Session::undo`].
    pub epoch: u32,
    /// Tokens of the view before.
    pub tokens_before: Tokens,
    /// Tokens of the view after.
    pub tokens_after: Tokens,
    /// How many results it cut.
    pub results: u32,
}

impl Arrival {
    /// Commits the changes of a view as an epoch that does not count as a compaction; the session has `before` tokens
    /// without it and `after` with it.
    pub(crate) fn commit(
        session: &mut Session,
        ledger: &mut Ledger,
        trigger: Trigger,
        working: WorkingView,
        (before, after): (Tokens, Tokens),
    ) -> Self {
        let counts = working.counts_where(Entry::is_edited);
        let results = working.edits.len() as u32;
        let epoch = session.commit(Epoch {
            id: session.next_epoch(),
            origin: EpochOrigin::Engine,
            trigger,
            log_length: session.log().len() as u32,
            tokens_before: Some(before),
            tokens_after: Some(after),
            edits: working.edits,
            synthetics: working.synthetics,
            kept: Vec::new(),
            released: Vec::new(),
            choice: None,
            summarizer: None,
            undone: false,
        });
        ledger.adopt(counts, after);
        Self { epoch, tokens_before: before, tokens_after: after, results }
    }
}

impl Engine {
    /// Cuts the results of the newest step that take more than `most` tokens to their most informative lines; `None`
    /// where there are none, or where calls of the step are not answered yet. The whole text is archived, and the cut
    /// is an epoch that can be undone; it does not count as a compaction of the session.
    ///
    /// Cost: linear in the newest step; where something is cut also in the number of the view's messages.
    pub fn cut_arrivals(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut dyn Archive,
        most: Tokens,
    ) -> Result<Option<Arrival>, EngineError> {
        let newest = newest_step(session.view());
        let entries = &session.view()[newest..];
        let tokens: Vec<_> = entries
            .iter()
            .map(|entry| ledger.entry(entry.key).cloned().unwrap_or_else(|| ledger.measure(&entry.message)))
            .collect();
        let is_huge = |(entry, tokens): (&Entry, &epitome_strategy::EntryTokens)| {
            entry.message.role != Role::Assistant && tokens.total > most
        };
        let is_closed = || units(entries).first().is_some_and(|step| step.closed);
        if !entries.iter().zip(&tokens).any(is_huge) || !is_closed() {
            return Ok(None);
        }
        let never = Cancellation::never();
        let context = self.context(session, ledger, language(session.view()), &never);
        let working = WorkingView::from_session(session, newest, tokens, &self.pins);
        let mut editor = Editor::new(working, &context, archive);
        let layout = editor.layout();
        let view = editor.view(&layout);
        let outputs = view.facts().outputs().iter();
        let huge = outputs.filter(|output| output.tokens > most && !output.is_excerpted);
        let cuts: Vec<(BlockRef, Vec<_>, String)> = huge
            .filter_map(|output| {
                let lines = informative_lines(&view, output.text, &Focus::new(None), most);
                let tokens = group_digits(output.tokens.into());
                let detail = format!("{tokens} tokens arrived, {} may stay{}", group_digits(most.into()), lines.note());
                (!lines.is_whole).then_some((output.at, lines.keep, detail))
            })
            .collect();
        drop(view);
        for (at, keep, detail) in cuts {
            let edit = BlockEdit::new(ARRIVAL, at.message, at.block, Reason::new("large-arrival", detail));
            match editor.excerpt(&layout, edit, &keep) {
                Ok(_) => {}
                Err(refusal @ EditRefusal::Archive(_)) => return Err(EngineError::Refused(refusal.to_string())),
                Err(_) => {} // protected, or nothing is gained
            }
        }
        let working = editor.working;
        if working.edits.is_empty() {
            return Ok(None);
        }
        let before = ledger.total();
        let saved: Tokens = working.edits.iter().map(|edit| edit.tokens_saved).sum();
        let after = before.saturating_sub(saved);
        Ok(Some(Arrival::commit(session, ledger, Trigger::Arrival, working, (before, after))))
    }
}

/// Returns where the newest step starts, if the view ends with one; else the view's end. Linear in that step.
fn newest_step(entries: &[Entry]) -> usize {
    let is_output = |entry: &&Entry| {
        use epitome_session::Origin;
        entry.message.role == Role::Tool || entry.message.origin == Origin::ToolOutput
    };
    let outputs = entries.iter().rev().take_while(is_output).count();
    let step = entries.len() - outputs;
    match step.checked_sub(1) {
        Some(call) if outputs > 0 && entries[call].message.role == Role::Assistant => call,
        Some(_) | None => entries.len(),
    }
}
