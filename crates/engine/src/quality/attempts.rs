//! The attempts of one compaction with several chains, and the choice among them.

use std::sync::OnceLock;

use epitome_session::{SummaryUsage, Trigger};
use epitome_strategy::{Archive, ArchiveError, SummarizeError, Tokens};

use super::baseline::QualityBaseline;
use super::{MinQuality, OnLoss, OriginalMessages, Quality, TriedChain};
use crate::archive::MemoryArchive;
use crate::context::Context;
use crate::guard::{self, EditRefusal, Guard};
use crate::request::Chain;
use crate::run::ChainRun;
use crate::status::Status;
use crate::working::{Layout, WorkingView};

/// One run of a chain: its result and its quality.
pub(crate) struct Attempt {
    /// The ids of its strategies.
    pub chain: Vec<String>,
    pub run: ChainRun,
    pub status: Status,
    /// `None` where nothing would change.
    pub quality: Option<Quality>,
    /// How long measuring the quality took, in microseconds; of all attempts where it is the best of several.
    pub judged_us: u64,
    /// What it archived, where the session's archive does not hold that yet.
    archived: Option<MemoryArchive>,
}

impl Attempt {
    /// Returns the result of a chain whose strategies are not asked.
    pub(crate) fn without_trial(chain: &Chain, run: ChainRun, status: Status) -> Self {
        Self { chain: chain.ids(), run, status, quality: None, judged_us: 0, archived: None }
    }

    /// Copies what it archived to the session's archive. An archive that returns other handles is refused: the texts
    /// name the handles that the attempt was given.
    pub(crate) fn archive_into(&self, archive: &mut dyn Archive) -> Result<(), ArchiveError> {
        for (handle, item) in self.archived.iter().flat_map(MemoryArchive::items) {
            let given = archive.put(item.clone())?;
            if given != *handle {
                return Err(ArchiveError(format!("gave the handle {given} where {handle} was expected")));
            }
        }
        Ok(())
    }

    /// Whether it meets every threshold.
    pub(crate) fn passes(&self) -> bool {
        self.quality.as_ref().is_none_or(Quality::passes)
    }

    fn to_tried_chain(&self) -> TriedChain {
        TriedChain {
            chain: self.chain.clone(),
            tokens_after: self.run.working.total,
            share: self.quality.as_ref().map(|quality| quality.share),
            below: self.quality.iter().flat_map(|quality| quality.below.clone()).collect(),
            problem: match self.status {
                Status::Infeasible => Some("it is over the limit".to_owned()),
                Status::NoChange => Some("nothing could leave".to_owned()),
                Status::Compacted | Status::NearEmpty | Status::RolledBack => None,
            },
        }
    }

    /// Orders attempts: those with a result first, near-empty ones last, then those that meet the thresholds, then those
    /// that keep more.
    fn value(&self) -> (bool, bool, bool, f64) {
        let share = self.quality.as_ref().map_or(0.0, |quality| quality.share);
        (self.status.is_compaction(), self.status != Status::NearEmpty, self.passes(), share)
    }
}

/// Judges the attempts of one compaction.
pub(crate) struct Judge<'a> {
    pub start: &'a WorkingView,
    pub originals: &'a OriginalMessages<'a>,
    pub context: &'a Context<'a>,
    pub limit: Tokens,
    pub min_quality: MinQuality,
    layout: OnceLock<Layout>,
    baseline: OnceLock<QualityBaseline<'a>>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        start: &'a WorkingView,
        originals: &'a OriginalMessages<'a>,
        context: &'a Context<'a>,
        limit: Tokens,
        min_quality: MinQuality,
    ) -> Self {
        Self { start, originals, context, limit, min_quality, layout: OnceLock::new(), baseline: OnceLock::new() }
    }

    /// Returns a run's result with its quality. Linear in the view after; the first call also in what was typed and
    /// called in the session.
    pub(crate) fn attempt(&self, chain: &Chain, run: ChainRun, archived: Option<MemoryArchive>) -> Attempt {
        let status = match guard::budget(run.working.total, self.limit) {
            Status::Infeasible if !self.context.guards.on(Guard::Budget) => Status::Compacted,
            // Between target and limit with nothing that may leave: a normal answer, which is not worth breaking the
            // cache for.
            Status::Compacted if run.working.total >= self.start.total => Status::NoChange,
            status => status,
        };
        let judging = self.context.clock.now();
        let judged =
            (status == Status::Compacted).then(|| self.baseline().judge(run.working.entries(), &self.min_quality));
        let status =
            if judged.as_ref().is_some_and(|judged| judged.is_near_empty) { Status::NearEmpty } else { status };
        let quality = judged.map(|judged| judged.quality);
        Attempt {
            chain: chain.ids(),
            run,
            status,
            quality,
            judged_us: self.context.clock.microseconds_since(judging),
            archived,
        }
    }

    fn baseline(&self) -> &QualityBaseline<'a> {
        self.baseline.get_or_init(|| {
            let layout = self.layout.get_or_init(|| self.start.layout(self.context.pins));
            QualityBaseline::new(
                self.context,
                self.originals,
                self.start.entries(),
                &self.start.view(layout, self.context),
            )
        })
    }

    /// Returns the best attempt, the first of equals, with the summary costs of all attempts on its bill and, where
    /// there were several, a list of them. Errors with the first refusal where there is no result at all.
    pub(crate) fn best(&self, tried: Vec<(Chain, Result<Attempt, EditRefusal>)>) -> Result<Attempt, EditRefusal> {
        let (mut tried_chains, mut usage, mut judged_us) = (Vec::new(), SummaryUsage::default(), 0);
        let mut best: Option<Attempt> = None;
        let mut refusal = None;
        for (chain, tried) in tried {
            let attempt = match tried {
                Ok(attempt) => attempt,
                Err(refused) => {
                    if let EditRefusal::Stopped(SummarizeError { usage: paid, .. }) = &refused {
                        usage.add(paid);
                    }
                    let problem = Some(refused.to_string());
                    tried_chains.push(TriedChain {
                        chain: chain.ids(),
                        tokens_after: 0,
                        share: None,
                        below: Vec::new(),
                        problem,
                    });
                    refusal = refusal.or(Some(refused));
                    continue;
                }
            };
            tried_chains.push(attempt.to_tried_chain());
            usage.add(&attempt.run.summarizer.models);
            judged_us += attempt.judged_us;
            if best.as_ref().is_none_or(|best| attempt.value() > best.value()) {
                best = Some(attempt);
            }
        }
        let Some(mut best) = best else {
            return Err(match refusal {
                Some(EditRefusal::Stopped(error)) => EditRefusal::Stopped(SummarizeError { usage, ..error }),
                other => other.unwrap_or(EditRefusal::NotThere),
            });
        };
        best.run.summarizer.models = SummaryUsage::default();
        best.run.summarizer.add(&usage);
        best.judged_us = judged_us;
        if let Some(quality) = best.quality.as_mut().filter(|_| tried_chains.len() > 1) {
            quality.tried = tried_chains;
        }
        Ok(best)
    }

    /// Whether the session stays unchanged although there is a result: the result keeps too little, the configuration
    /// asks for a roll-back, and the session can continue as it is.
    ///
    /// A session over the limit cannot continue, and losing its work is worse than losing details. A compaction that a
    /// person asked for is rolled back even there, because that person can be asked again.
    pub(crate) fn rolls_back(&self, attempt: &Attempt, trigger: Trigger) -> bool {
        let goes_on = self.start.total <= self.limit || trigger == Trigger::Manual;
        self.min_quality.on_loss == OnLoss::RollBack && goes_on && !attempt.passes()
    }
}
