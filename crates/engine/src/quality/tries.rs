//! Chains that are tried, and which of them is taken.

use std::sync::OnceLock;
use std::time::Instant;

use epitome_session::Trigger;
use epitome_strategy::{Archive, ArchiveError, Tokens};

use super::held::QualityBaseline;
use super::{MinQuality, OnLoss, OriginalMessages, Quality, Try};
use crate::archive::MemoryArchive;
use crate::context::Context;
use crate::guard::{self, Guard, Refusal};
use crate::report::{Status, microseconds};
use crate::request::Chain;
use crate::run::Run;
use crate::working::{Layout, WorkingView};

/// One run of a chain: what it came to, and what it kept.
pub(crate) struct Attempt {
    /// The ids of its strategies.
    pub chain: Vec<String>,
    pub run: Run,
    pub status: Status,
    /// None where nothing would change.
    pub quality: Option<Quality>,
    /// How long it took to measure that, in microseconds; of all attempts where it is the best of several.
    pub judged_us: u64,
    /// What it archived, where that is not in the session's archive yet.
    archived: Option<MemoryArchive>,
}

impl Attempt {
    /// What a chain comes to that is not even asked.
    pub(crate) fn without_trial(chain: &Chain, run: Run, status: Status) -> Self {
        Self { chain: chain.ids(), run, status, quality: None, judged_us: 0, archived: None }
    }

    /// Hands what it archived to the session's archive. An archive that gives other handles is refused: the texts name
    /// those that the attempt got.
    pub(crate) fn archive_into(&self, archive: &mut dyn Archive) -> Result<(), ArchiveError> {
        for (handle, item) in self.archived.iter().flat_map(MemoryArchive::items) {
            let given = archive.put(item.clone())?;
            if given != *handle {
                return Err(ArchiveError(format!("gave the handle {given} where {handle} was expected")));
            }
        }
        Ok(())
    }

    /// Whether it keeps what is asked for.
    pub(crate) fn passes(&self) -> bool {
        self.quality.as_ref().is_none_or(Quality::passes)
    }

    fn told(&self) -> Try {
        Try {
            chain: self.chain.clone(),
            tokens_after: self.run.working.total,
            share: self.quality.as_ref().map(|quality| quality.share),
            below: self.quality.iter().flat_map(|quality| quality.below.clone()).collect(),
            problem: match self.status {
                Status::Infeasible => Some("it is over the limit".to_owned()),
                Status::NoChange => Some("nothing could leave".to_owned()),
                Status::Compacted | Status::Hollow | Status::RolledBack => None,
            },
        }
    }

    /// Results before anything else, hollow ones last, then those that keep enough, then those that keep more.
    fn value(&self) -> (bool, bool, bool, f64) {
        let share = self.quality.as_ref().map_or(0.0, |quality| quality.share);
        (self.status.is_compaction(), self.status != Status::Hollow, self.passes(), share)
    }
}

/// Judges the attempts of one compaction.
pub(crate) struct Judge<'a> {
    pub start: &'a WorkingView,
    pub whole: &'a OriginalMessages<'a>,
    pub context: &'a Context<'a>,
    pub limit: Tokens,
    pub least: MinQuality,
    layout: OnceLock<Layout>,
    held: OnceLock<QualityBaseline<'a>>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        start: &'a WorkingView,
        whole: &'a OriginalMessages<'a>,
        context: &'a Context<'a>,
        limit: Tokens,
        least: MinQuality,
    ) -> Self {
        Self { start, whole, context, limit, least, layout: OnceLock::new(), held: OnceLock::new() }
    }

    /// What a run came to and what it kept. Linear in the view after; the first time also in what was typed and called
    /// in the session.
    pub(crate) fn attempt(&self, chain: &Chain, run: Run, archived: Option<MemoryArchive>) -> Attempt {
        let status = match guard::budget(run.working.total, self.limit) {
            Status::Infeasible if !self.context.guards.on(Guard::Budget) => Status::Compacted,
            // Between target and limit with nothing that may leave: a normal answer, and no reason to break the cache.
            Status::Compacted if run.working.total >= self.start.total => Status::NoChange,
            status => status,
        };
        let judging = Instant::now();
        let quality =
            (status == Status::Compacted).then(|| self.baseline().quality_of(run.working.entries(), &self.least));
        let is_hollow = quality.as_ref().is_some_and(Quality::is_hollow);
        let status = if is_hollow { Status::Hollow } else { status };
        Attempt { chain: chain.ids(), run, status, quality, judged_us: microseconds(judging), archived }
    }

    fn baseline(&self) -> &QualityBaseline<'a> {
        self.held.get_or_init(|| {
            let layout = self.layout.get_or_init(|| self.start.layout(self.context.pins));
            QualityBaseline::of(self.context, self.whole, self.start.entries(), &self.start.view(layout, self.context))
        })
    }

    /// The best of what was tried, the first of equals, with what all of them cost in summaries on its bill. Where
    /// several were tried, it tells of all. Errors with the first refusal where there is no result at all.
    pub(crate) fn best(&self, tried: Vec<(Chain, Result<Attempt, Refusal>)>) -> Result<Attempt, Refusal> {
        let (mut told, mut input, mut output, mut judged_us) = (Vec::new(), 0, 0, 0);
        let mut best: Option<Attempt> = None;
        let mut refusal = None;
        for (chain, tried) in tried {
            let attempt = match tried {
                Ok(attempt) => attempt,
                Err(refused) => {
                    let problem = Some(refused.to_string());
                    told.push(Try { chain: chain.ids(), tokens_after: 0, share: None, below: Vec::new(), problem });
                    refusal = refusal.or(Some(refused));
                    continue;
                }
            };
            told.push(attempt.told());
            input += attempt.run.summarizer.input_tokens;
            output += attempt.run.summarizer.output_tokens;
            judged_us += attempt.judged_us;
            if best.as_ref().is_none_or(|best| attempt.value() > best.value()) {
                best = Some(attempt);
            }
        }
        let Some(mut best) = best else { return Err(refusal.unwrap_or(Refusal::NotThere)) };
        (best.run.summarizer.input_tokens, best.run.summarizer.output_tokens) = (input, output);
        best.judged_us = judged_us;
        if let Some(quality) = best.quality.as_mut().filter(|_| told.len() > 1) {
            quality.tried = told;
        }
        Ok(best)
    }

    /// Whether the session stays as it was although there is a result: it keeps too little, that is what is asked for
    /// then, and the session can go on as it is.
    ///
    /// Over the limit it cannot, and one that cannot go on is worse than one that forgot. Only a person who asked for
    /// the compaction is there to be asked again, so what was started by hand is rolled back there too.
    pub(crate) fn rolls_back(&self, attempt: &Attempt, trigger: Trigger) -> bool {
        let goes_on = self.start.total <= self.limit || trigger == Trigger::Manual;
        self.least.on_loss == OnLoss::RollBack && goes_on && !attempt.passes()
    }
}
