//! What a run leaves out, and why.

use std::collections::BTreeSet;

use epitome::strategy::named;
use serde::Serialize;

use crate::cases::case::CaseId;

named! {
    /// Why something was not measured.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LeftOutReason {
        /// No session can be read from the file.
        Unreadable = "unreadable",
        /// The same session was read already.
        Copy = "copy",
        /// It is not of the format that was asked for.
        OtherFormat = "other-format",
        /// Its name does not fit the pattern.
        OtherName = "other-name",
        /// It is not of the kind of task that was asked for.
        OtherTask = "other-task",
        /// No cut leaves messages on both sides.
        NoCut = "no-cut",
        /// The agent recorded no compaction with a summary.
        NoRecordedSummary = "no-recorded-summary",
        /// It has fewer tokens than were asked for.
        FewTokens = "few-tokens",
        /// It has fewer calls behind the cut than were asked for.
        FewCalls = "few-calls",
        /// Its later calls needed fewer strings than were asked for.
        FewNeeded = "few-needed",
        /// The part before the cut is within the budget as it is.
        FitsBudget = "fits-budget",
        /// It was not drawn for the sample.
        NotDrawn = "not-drawn",
    }
}

impl LeftOutReason {
    /// Returns what such a file or session is, in half a line.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "no session can be read from it",
            Self::Copy => "a copy of a session that is there already",
            Self::OtherFormat => "of another format",
            Self::OtherName => "of another name",
            Self::OtherTask => "another kind of task",
            Self::NoCut => "no place to cut it",
            Self::NoRecordedSummary => "without a recorded compaction that left a summary",
            Self::FewTokens => "too short",
            Self::FewCalls => "too few calls behind the cut",
            Self::FewNeeded => "too few strings that later calls needed",
            Self::FitsBudget => "no compaction needed: within the budget as it is",
            Self::NotDrawn => "not drawn for the sample",
        }
    }
}

/// Why something is left out, and what was found.
pub(crate) type Exclusion = (LeftOutReason, String);

/// A file or a session of which nothing was measured; with a cut or a budget, that part of a measured session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LeftOut {
    /// Why.
    pub reason: LeftOutReason,
    /// The file, relative to the given folder.
    pub file: String,
    /// The session's name in its file; `None` for a file without a session.
    pub session: Option<String>,
    /// The cut in thousandths of the session's tokens, where the session is measured at others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_permille: Option<u32>,
    /// The budget, where the session is measured at others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// What was found, and what was asked for; empty where the reason says all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl LeftOut {
    pub(crate) fn file(file: &str, reason: LeftOutReason, detail: String) -> Self {
        Self { reason, file: file.to_owned(), session: None, cut_permille: None, budget: None, detail }
    }

    pub(crate) fn session(id: &CaseId, (reason, detail): Exclusion) -> Self {
        Self { session: Some(id.session.clone()), ..Self::file(&id.file, reason, detail) }
    }

    pub(crate) fn cut(id: &CaseId, refusal: Exclusion) -> Self {
        Self { cut_permille: Some(id.cut_permille), ..Self::session(id, refusal) }
    }

    /// Returns its name: the file, the session, the cut and the budget.
    pub fn name(&self) -> String {
        let session = self.session.as_ref().filter(|session| !session.is_empty());
        let cut = self.cut_permille.map(|cut| format!("cut at {:.3}", f64::from(cut) / 1000.0));
        let budget = self.budget.as_ref().map(|budget| format!("budget {budget}"));
        let parts = [Some(self.file.clone()), session.cloned(), cut, budget];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Whether it is of that session.
    pub(crate) fn is_of(&self, file: &str, session: &str) -> bool {
        self.file == file && self.session.as_deref() == Some(session)
    }

    /// Whether nothing of the session, or of the file, was measured.
    pub fn is_whole(&self) -> bool {
        self.cut_permille.is_none() && self.budget.is_none()
    }
}

/// Returns how many of `left_out` there are for each reason, the most frequent first. Whole sessions and files are counted, or
/// where `whole` is false, cuts and budgets of measured ones.
pub fn left_out_counts(left_out: &BTreeSet<LeftOut>, whole: bool) -> Vec<(LeftOutReason, usize)> {
    let of: Vec<LeftOutReason> = left_out.iter().filter(|it| it.is_whole() == whole).map(|it| it.reason).collect();
    let reasons: BTreeSet<LeftOutReason> = of.iter().copied().collect();
    let count = |reason: LeftOutReason| (reason, of.iter().filter(|other| **other == reason).count());
    let mut counts: Vec<_> = reasons.into_iter().map(count).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
