//! The summaries that a plan asks for: all of them are written at once, before its edits are applied.

use std::collections::{HashMap, HashSet};

use epitome_strategy::{Edit, Plan, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, SummaryText};
use futures_util::future::join_all;

use crate::block_on::without_panic;
use crate::context::Context;
use crate::engine::Engine;
use crate::guard::Refusal;
use crate::observe::Progress;
use crate::request::WithoutSummary;
use crate::run::Run;
use crate::working::Layout;

/// What became of the requests of a plan, by the number of the edit.
pub(crate) type WrittenSummaries = HashMap<usize, Result<String, Refusal>>;

impl Engine {
    /// Has the summaries written that a plan asks for, all at once. Requests for units that may not leave, that another
    /// edit of the plan takes, or between which something stays, are left out: their edits are refused anyway.
    ///
    /// Errors only where nothing is to be done without a summary.
    pub(crate) async fn write_summaries(
        &self,
        context: &Context<'_>,
        run: &mut Run,
        layout: &Layout,
        plan: &Plan,
    ) -> Result<WrittenSummaries, Refusal> {
        let mut taken = HashSet::new();
        // Messages that leave when all edits in front of this one are made.
        let mut leaves = HashSet::new();
        let mut wanted: Vec<(usize, &SummaryRequest, Vec<usize>)> = Vec::new();
        for (number, edit) in plan.edits.iter().enumerate() {
            let (units, request) = match edit {
                Edit::Drop { units, .. } => (units, None),
                Edit::Summarize { units, summary: SummaryText::Ready(_), .. } => (units, None),
                Edit::Summarize { units, summary: SummaryText::Request(request), .. } => (units, Some(request)),
                Edit::Excerpt { .. } | Edit::Trim { .. } => continue,
            };
            let Ok(positions) = run.working.leaving(context, layout, units) else { continue };
            let is_run = run.working.is_run(context, &positions, |position| leaves.contains(&position));
            leaves.extend(positions.iter().copied());
            if let Some(request) = request
                && is_run
                && units.iter().all(|unit| taken.insert(*unit))
            {
                wanted.push((number, request, positions));
            }
        }
        if wanted.is_empty() {
            return Ok(WrittenSummaries::new());
        }
        let Some(summarizer) = &self.summarizer else {
            let refused = || Err(Refusal::Summary("summaries are switched off".to_owned()));
            return Ok(wanted.into_iter().map(|(number, ..)| (number, refused())).collect());
        };
        let messages = wanted.iter().map(|(.., positions)| positions.len()).sum();
        run.tell(Progress::Summaries { count: wanted.len(), messages });
        let told = |(_, request, positions): &(usize, &SummaryRequest, Vec<usize>)| match request.is_handoff() {
            true => run.working.recorded(&layout.positions(&request.about)),
            false => run.working.recorded(positions),
        };
        let recorded = wanted.iter().map(told).collect::<Vec<_>>();
        let tasks: Vec<SummaryTask<'_>> = wanted
            .iter()
            .zip(&recorded)
            .map(|((_, request, _), messages)| SummaryTask {
                messages,
                session: Some(context.session),
                request,
                memories: &run.memories,
                language: context.language,
                counter: context.counter,
            })
            .collect();
        let (summarizer, watched) = (&**summarizer, &*run);
        let one = |task| async move {
            let written = written(summarizer, task).await;
            watched.tell(progress(&written));
            written
        };
        let outcomes = join_all(tasks.iter().map(one)).await;
        let mut all = WrittenSummaries::new();
        for ((number, ..), outcome) in wanted.into_iter().zip(outcomes) {
            if let Err(SummarizeError { input_tokens, output_tokens, .. }) = &outcome {
                run.summarizer.input_tokens += input_tokens;
                run.summarizer.output_tokens += output_tokens;
            }
            let text = match outcome {
                Ok(summary) => Ok(run.pay(summary)),
                Err(error) if self.without_summary == WithoutSummary::Stop => return Err(Refusal::Stopped(error)),
                Err(error) => {
                    run.summarizer.problem.get_or_insert_with(|| error.to_string());
                    Err(Refusal::Summary(error.to_string()))
                }
            };
            all.insert(number, text);
        }
        Ok(all)
    }
}

impl Run {
    /// Adds what a summary cost to the bill; its text.
    fn pay(&mut self, summary: Summary) -> String {
        self.summarizer.input_tokens += summary.input_tokens;
        self.summarizer.cached_tokens += summary.cached_tokens;
        self.summarizer.output_tokens += summary.output_tokens;
        self.summarizer.checks.extend(summary.check);
        if let Some(reason) = summary.fell_back {
            self.summarizer.fell_back = true;
            self.summarizer.problem.get_or_insert(reason);
        }
        summary.text
    }
}

/// One summary; a summarizer that panics, or that gives none, has failed.
async fn written(summarizer: &dyn Summarizer, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
    let failed = |message: String| SummarizeError::new(message, false);
    let summary = without_panic(|| summarizer.summarize(task)).await;
    let summary = summary.map_err(|panic| failed(format!("the summarizer panicked: {panic}")))??;
    if !summary.text.trim().is_empty() {
        return Ok(summary);
    }
    let Summary { input_tokens, output_tokens, .. } = summary;
    Err(SummarizeError { input_tokens, output_tokens, ..failed("the text is empty".to_owned()) })
}

fn progress(written: &Result<Summary, SummarizeError>) -> Progress<'_> {
    match written {
        Ok(Summary { input_tokens, output_tokens, fell_back, .. }) => Progress::Summary {
            input_tokens: *input_tokens,
            output_tokens: *output_tokens,
            problem: fell_back.as_deref(),
        },
        Err(SummarizeError { message, input_tokens, output_tokens, .. }) => {
            Progress::Summary { input_tokens: *input_tokens, output_tokens: *output_tokens, problem: Some(message) }
        }
    }
}
