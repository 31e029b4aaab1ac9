//! The status of a fitted list, in a word and in words for a person.

use epitome::engine::Status;
use epitome_fit::{FitStatus, Fitted};

use crate::failure::parts_of;

/// Returns why a list cannot be made to fit; `None` if it fits.
pub(crate) fn infeasibility(fitted: &Fitted) -> Option<String> {
    let Fitted { status, tokens_after, budget, detail, floor, .. } = fitted;
    (*status == FitStatus::Infeasible).then(|| {
        let why = match (floor, detail) {
            (Some(floor), _) => format!(": what must stay takes at least {} ({})", floor.tokens, parts_of(floor)),
            (None, Some(detail)) => format!(" ({detail})"),
            (None, None) => String::new(),
        };
        format!(
            "the messages take {tokens_after} tokens and cannot fit {budget}{why}; give a larger budget, or shorten what \
             must stay"
        )
    })
}

/// `unchanged`, `replayed`, `compacted`, `near-empty` where this call's compaction left almost nothing of what was asked for and
/// worked on, or `infeasible`.
pub(crate) fn status_name(fitted: &Fitted) -> &'static str {
    let is_near_empty = || fitted.report.as_ref().is_some_and(|report| report.status == Status::NearEmpty);
    match fitted.status {
        FitStatus::Unchanged => "unchanged",
        FitStatus::Replayed => "replayed",
        FitStatus::Compacted if is_near_empty() => "near-empty",
        FitStatus::Compacted => "compacted",
        FitStatus::Infeasible => "infeasible",
    }
}
