//! What a result means for the caller: the exit code, and the words besides the report.

use epitome::engine::QualityPart;
use epitome::{Report, Status};

use crate::failure::INFEASIBLE;
use crate::render::report::verdict::shortfalls;
use crate::render::text::plural;
use crate::terminal;

/// Exit code where the quality guard rolled back: nothing is wrong with the command or its input.
pub(super) const ROLLED_BACK: u8 = 1;
/// The exit code of one that was made, and that keeps almost nothing of what the session held.
pub(super) const NEAR_EMPTY: u8 = 1;

/// Warns of parts of the session that left whole: the figures alone look like those of a small loss.
pub(super) fn warn_of_lost_parts(report: &Report) {
    let Some(quality) = &report.quality else { return };
    let name = |part: QualityPart| format!("{} {}", quality.part(part).held, part.as_str());
    let lost: Vec<String> = quality.lost_parts().into_iter().map(name).collect();
    if !lost.is_empty() {
        terminal::note(&format!("the result lost all {}: a larger budget keeps some", lost.join(" and all ")));
    }
}

/// The exit code of a compaction that was not made, and why it was not.
pub(super) fn refused(report: &Report) -> Option<(u8, String)> {
    match report.status {
        Status::NoChange | Status::Compacted | Status::NearEmpty => None,
        Status::Infeasible => Some((INFEASIBLE, format!("cannot fit {}", plural(report.budget as usize, "token")))),
        Status::RolledBack => {
            if let Some(stopped) = &report.stopped {
                return Some((ROLLED_BACK, format!("not made, {stopped}")));
            }
            let below = report.quality.as_ref().map(shortfalls).unwrap_or_default();
            Some((ROLLED_BACK, format!("rolled back, too little would be kept ({below})")))
        }
    }
}
