//! The summaries that a plan asks for: all of them are written at once, before its edits are applied.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::Message;
use epitome_strategy::{Edit, Plan, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, SummaryText};
use futures_util::future::join_all;

use crate::block_on::without_panic;
use crate::context::Context;
use crate::editor::Editor;
use crate::guard::Refusal;
use crate::observe::Progress;
use crate::report::SummarizerReport;
use crate::request::WithoutSummary;
use crate::working::Layout;

/// What became of the requests of a plan, by the number of the edit.
pub(crate) type WrittenSummaries = HashMap<usize, Result<String, Refusal>>;

/// A summary that a plan asks for.
pub(crate) struct RequestedSummary<'p> {
    /// The number of the edit.
    edit: usize,
    request: &'p SummaryRequest,
    /// How many messages it will stand for.
    replaced: usize,
    /// What it is to tell of; nothing where nobody writes it.
    messages: Vec<Arc<Message>>,
}

/// The summaries that a plan asks for. Requests for units that may not leave, that another edit of the plan takes, or
/// between which something stays, are left out: their edits are refused anyway. Linear in the plan's messages.
pub(crate) fn wanted_summaries<'p>(editor: &Editor<'_>, layout: &Layout, plan: &'p Plan) -> Vec<RequestedSummary<'p>> {
    let (context, working) = (editor.context, &editor.working);
    let mut taken = HashSet::new();
    // Messages that leave when all edits in front of this one are made.
    let mut leaves = HashSet::new();
    let mut wanted = Vec::new();
    for (edit, asked) in plan.edits.iter().enumerate() {
        let (units, request) = match asked {
            Edit::Drop { units, .. } => (units, None),
            Edit::Summarize { units, summary: SummaryText::Ready(_), .. } => (units, None),
            Edit::Summarize { units, summary: SummaryText::Request(request), .. } => (units, Some(request)),
            Edit::Excerpt { .. } | Edit::Trim { .. } => continue,
        };
        let Ok(positions) = editor.leaving(layout, units) else { continue };
        let is_run = working.is_run(context.guards, &positions, |position| leaves.contains(&position));
        leaves.extend(positions.iter().copied());
        if let Some(request) = request
            && is_run
            && units.iter().all(|unit| taken.insert(*unit))
        {
            let messages = match context.summarizer {
                None => Vec::new(),
                Some(_) if request.is_handoff() => working.recorded_messages(&layout.positions(&request.about)),
                Some(_) => working.recorded_messages(&positions),
            };
            wanted.push(RequestedSummary { edit, request, replaced: positions.len(), messages });
        }
    }
    wanted
}

/// Has the summaries written, all at once; what they cost goes on the `bill`.
///
/// Errors only where nothing is to be done without a summary.
pub(crate) async fn write_summaries(
    context: &Context<'_>,
    wanted: Vec<RequestedSummary<'_>>,
    bill: &mut SummarizerReport,
) -> Result<WrittenSummaries, Refusal> {
    if wanted.is_empty() {
        return Ok(WrittenSummaries::new());
    }
    let Some(summarizer) = context.summarizer else {
        let refused = || Err(Refusal::Summary("summaries are switched off".to_owned()));
        return Ok(wanted.into_iter().map(|wanted| (wanted.edit, refused())).collect());
    };
    let messages = wanted.iter().map(|wanted| wanted.replaced).sum();
    context.tell(Progress::Summaries { count: wanted.len(), messages });
    let tasks: Vec<SummaryTask<'_>> = wanted
        .iter()
        .map(|wanted| SummaryTask {
            messages: &wanted.messages,
            session: Some(context.session),
            request: wanted.request,
            memories: context.memories,
            language: context.language,
            counter: context.counter,
        })
        .collect();
    let one = |task| async move {
        let summary = summarize(summarizer, task).await;
        context.tell(progress(&summary));
        summary
    };
    let outcomes = join_all(tasks.iter().map(one)).await;
    let mut all = WrittenSummaries::new();
    for (RequestedSummary { edit, .. }, outcome) in wanted.iter().zip(outcomes) {
        if let Err(SummarizeError { input_tokens, output_tokens, .. }) = &outcome {
            bill.input_tokens += input_tokens;
            bill.output_tokens += output_tokens;
        }
        let text = match outcome {
            Ok(summary) => Ok(bill.pay(summary)),
            Err(error) if context.without_summary == WithoutSummary::Stop => return Err(Refusal::Stopped(error)),
            Err(error) => {
                bill.problem.get_or_insert_with(|| error.to_string());
                Err(Refusal::Summary(error.to_string()))
            }
        };
        all.insert(*edit, text);
    }
    Ok(all)
}

impl SummarizerReport {
    /// Adds what a summary cost; its text.
    fn pay(&mut self, summary: Summary) -> String {
        self.input_tokens += summary.input_tokens;
        self.cached_tokens += summary.cached_tokens;
        self.output_tokens += summary.output_tokens;
        self.checks.extend(summary.check);
        if let Some(reason) = summary.fell_back {
            self.fell_back = true;
            self.problem.get_or_insert(reason);
        }
        summary.text
    }
}

/// One summary; a summarizer that panics, or that gives none, has failed.
async fn summarize(summarizer: &dyn Summarizer, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
    let failed = |message: String| SummarizeError::new(message, false);
    let summary = without_panic(|| summarizer.summarize(task)).await;
    let summary = summary.map_err(|panic| failed(format!("the summarizer panicked: {panic}")))??;
    if !summary.text.trim().is_empty() {
        return Ok(summary);
    }
    let Summary { input_tokens, output_tokens, .. } = summary;
    Err(SummarizeError { input_tokens, output_tokens, ..failed("the text is empty".to_owned()) })
}

fn progress(summary: &Result<Summary, SummarizeError>) -> Progress<'_> {
    match summary {
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
