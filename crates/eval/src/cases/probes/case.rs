//! A probed session as a case, and its budgets.

use epitome::formats::{Format, ReadOptions, read};
use epitome::session::Entry;

use super::{ProbeFolder, ProbeScores, budget_floor, context_text, context_tokens, messages_of, recall};
use crate::EvalError;
use crate::cases::budget::BudgetSpec;
use crate::cases::case::{Case, CaseId};
use crate::cases::cut::tokens_of;
use crate::cases::files::File;
use crate::figures::score::{Scores, violation};

/// A session up to its cut, and the questions about it.
#[derive(Debug)]
pub struct ProbedCase {
    /// The session up to its cut.
    pub case: Case,
    /// The questions about it.
    pub folder: ProbeFolder,
    /// Tokens as they are sent to a provider.
    pub tokens: u32,
    /// The least budget that is fair, in tokens.
    pub floor: u32,
}

impl ProbedCase {
    /// Reads the folder of a session. Linear.
    pub fn read(file: &File) -> Result<Self, EvalError> {
        let bytes = file.read()?;
        let folder = ProbeFolder::beside(&file.path)?;
        let wrong = |problem: String| EvalError::Probes { file: file.path.display().to_string(), problem };
        let options = ReadOptions { format: Some(Format::OpenaiChat), strict: true, ..ReadOptions::default() };
        let loaded = read(bytes, options).map_err(|error| wrong(format!("is no OpenAI chat: {error}")))?;
        let id = CaseId { file: file.name.clone(), session: folder.name.clone(), cut_permille: 1000, part: None };
        let format = loaded.format;
        let session = loaded.sessions.into_iter().next().ok_or_else(|| wrong("holds no session".to_owned()))?.session;
        let mut case = Case::from_prefix(id, format.as_str(), session, &[])?;
        case.repository.clone_from(&folder.set.repository);
        let messages = messages_of(case.prefix.view(), case.prefix.tools.as_deref()).map_err(wrong)?;
        let (tokens, floor) = (context_tokens(&messages), budget_floor(&messages));
        Ok(Self { case, folder, tokens, floor })
    }

    /// Returns the tokens of a budget, never less than the floor.
    pub fn budget(&self, budget: BudgetSpec) -> u32 {
        budget.tokens(self.tokens).max(self.floor)
    }

    /// Returns the figures of a result, with the probes that its text answers. A result that is over its budget or invalid
    /// answers none.
    pub(crate) fn score(&self, entries: &[Entry], budget: u32) -> Scores {
        let scores = self.case.score(entries, budget);
        let is_sound = !scores.over_budget && scores.violation.is_none();
        let answered = |text: &str| ProbeScores::count(&self.folder.set.probes, &recall(&self.folder.set.probes, text));
        let probes = match self.text(entries).filter(|_| is_sound) {
            Some(text) => answered(&text),
            None => answered("").with_nothing_kept(),
        };
        Scores { probes, ..scores }
    }

    /// Returns the text of a result that is within its budget and valid; `None` where it is not. Linear.
    pub(crate) fn sound_text(&self, entries: &[Entry], budget: u32) -> Option<String> {
        let tokens: u32 = entries.iter().map(|entry| tokens_of(&entry.message)).sum();
        let is_sound = tokens <= budget && violation(entries, self.case.prefix.tools.as_deref()).is_none();
        self.text(entries).filter(|_| is_sound)
    }

    fn text(&self, entries: &[Entry]) -> Option<String> {
        messages_of(entries, self.case.prefix.tools.as_deref()).ok().map(|messages| context_text(&messages))
    }
}
