//! Are losses reported, and is too large a loss never taken silently?

use epitome_engine::{Chain, KeptShare, OnLoss, Quality, QualityPart, Status, TriedChain};
use epitome_session::{Block, Content, Entry, Message};
use epitome_strategy::TaskKind;

use super::Laws;

impl Laws<'_> {
    /// There are figures where something changed; every part below its threshold is named; reported losses are real;
    /// and a result below a threshold was taken only after the other chains were tried, where the settings ask for
    /// that.
    pub(super) fn quality(&mut self) {
        let report = self.report;
        let expected = report.status.is_compaction() || report.status == Status::RolledBack;
        let told = || format!("{:?} with {:?}", report.status, report.quality);
        self.law("quality", report.quality.is_some() == expected, told);
        let Some(quality) = &report.quality else { return };
        let least = self.engine.quality;
        for part in QualityPart::ALL {
            let kept = quality.part(part);
            self.law("quality", is_sound(kept), || format!("{}: {kept:?}", part.as_str()));
            let missed = kept.lost_now > 0 && kept.share < least.part(part);
            let named = quality.below.iter().any(|below| below.part == part);
            self.law("quality", missed == named, || {
                format!("{} of {:?} were kept, and below are {:?}", part.as_str(), kept.share, quality.below)
            });
        }
        if !quality.passes() && least.on_loss != OnLoss::Report {
            self.law("quality", self.tried_all(quality), || format!("taken without a look at others: {quality:?}"));
        }
        let rolls_back = !quality.passes() && least.on_loss == OnLoss::RollBack;
        let is_declined = report.status == Status::RolledBack && report.stopped.is_some();
        self.law("quality", report.status != Status::RolledBack || rolls_back || is_declined, told);
        let (held, kept) = QualityPart::ALL
            .iter()
            .map(|part| quality.part(*part))
            .fold((0, 0), |(held, kept), share| (held + share.held, kept + share.kept));
        // What is left beside "go" and "yes" says what the session is about.
        let beside = kept - quality.typed.kept;
        let is_near_empty = report.status == Status::NearEmpty;
        self.law("quality", !is_near_empty || (beside == 0 || quality.share < 0.02) && held >= 5, told);
        let is_taken = report.status.is_compaction();
        let little = quality.typed.held; // what is typed may be too short to count
        self.law("quality", is_near_empty || !is_taken || kept > 0 || held - little < 5, told);
        if report.status.is_compaction() {
            let lost = |part: &QualityPart| {
                let share = quality.part(*part);
                let lost = share.lost.iter().chain(&share.lost_earlier);
                lost.map(|lost| (*part, lost)).collect::<Vec<_>>()
            };
            for (part, lost) in QualityPart::ALL.iter().flat_map(lost) {
                let stands = match part {
                    QualityPart::Typed => self.all_stand(lost),
                    _ => self.after.view().iter().any(|entry| has_word(entry, lost)),
                };
                self.law("quality", !stands, || format!("{} are told to be lost, and stand: {lost}", part.as_str()));
            }
        }
    }

    /// Whether every typed message that says just `lost` stands: of some that say the same one may be lost.
    fn all_stand(&self, lost: &str) -> bool {
        let said = self.after.log().iter().filter(|message| says_just(message, lost)).count();
        let standing = self.after.view().iter().filter(|entry| says_just(&entry.message, lost)).count();
        said > 0 && standing >= said
    }

    /// Whether every chain was tried, and none was better than the chosen one.
    fn tried_all(&self, quality: &Quality) -> bool {
        let chains = &self.engine.chains;
        let mut ids: Vec<Vec<String>> = TaskKind::ALL.iter().map(|kind| chains.chain(*kind).ids()).collect();
        ids.extend(self.request.chain.iter().map(Chain::ids));
        ids.sort();
        ids.dedup();
        let all = if ids.len() == 1 { quality.tried.is_empty() } else { quality.tried.len() == ids.len() };
        let better = |it: &TriedChain| {
            it.problem.is_none() && (it.below.is_empty() || it.share.is_some_and(|share| share > quality.share))
        };
        // Later chains replace the first ones of some kinds only.
        (all || !chains.later.is_empty()) && !quality.tried.iter().any(better)
    }
}

fn is_sound(kept: &KeptShare) -> bool {
    let whole = kept.kept == kept.held;
    kept.kept <= kept.held
        && kept.lost_now <= kept.held - kept.kept
        && (0.0..=1.0).contains(&kept.share)
        && (kept.share == 1.0) == whole
        && kept.lost.is_empty() == (kept.lost_now == 0)
        && kept.lost_earlier.is_empty() == (kept.kept + kept.lost_now == kept.held)
        && kept.lost.len().max(kept.lost_earlier.len()) <= 5
}

/// Whether a typed message has one block, a text of these words.
fn says_just(message: &Message, words: &str) -> bool {
    let [Block { content: Content::Text { text }, .. }] = message.blocks.as_slice() else { return false };
    message.is_typed() && text.split_whitespace().eq(words.split_whitespace())
}

/// Whether a text of a message outside the system prompt contains `lost` between white space, or equals it.
fn has_word(entry: &Entry, lost: &str) -> bool {
    let message = &entry.message;
    !message.is_system_prompt()
        && message.blocks.iter().any(|block| match &block.content {
            Content::Text { text } => &**text == lost || text.split_whitespace().any(|word| word == lost),
            Content::ToolResult(result) => result.text.split_whitespace().any(|word| word == lost),
            _ => false,
        })
}
