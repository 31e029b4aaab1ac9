//! The summaries that a plan asks for: all are written at once, before the plan's edits are applied.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{Message, Origin, heading};
use epitome_strategy::levels;
use epitome_strategy::{Edit, Plan, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, SummaryText};
use futures_util::future::join_all;

use crate::block_on::without_panic;
use crate::context::Context;
use crate::editor::Editor;
use crate::guard::EditRefusal;
use crate::observe::Progress;
use crate::report::SummarizerReport;
use crate::request::WithoutSummary;
use crate::working::Layout;

/// The outcome of each summary request of a plan, by the number of its edit.
pub(crate) type WrittenSummaries = HashMap<usize, Result<String, EditRefusal>>;

/// A summary that a plan asks for.
pub(crate) struct RequestedSummary<'p> {
    /// The number of the edit.
    edit: usize,
    request: &'p SummaryRequest,
    /// How many messages it will replace.
    replaced: usize,
    /// The messages and instructions for the summarizer; `None` where no summarizer writes it.
    messages: Vec<Arc<Message>>,
}

/// Returns the summaries that a plan asks for. Requests whose edit will be refused are left out: their units may not
/// leave, belong to another edit of the plan, or have something between them that stays, or the host cannot make it. Linear in the plan's messages.
pub(crate) fn wanted_summaries<'p>(editor: &Editor<'_>, layout: &Layout, plan: &'p Plan) -> Vec<RequestedSummary<'p>> {
    let (context, working) = (editor.context, &editor.working);
    let mut taken = HashSet::new();
    // Messages that have left once all earlier edits of the plan are made.
    let mut leaves = HashSet::new();
    let mut has_text = false;
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
        let is_summary = matches!(asked, Edit::Summarize { .. });
        let is_allowed = !(has_text && working.host.takes_one_text()) && editor.check_replacement(&positions).is_ok();
        has_text |= is_summary && is_allowed;
        if let Some(request) = request
            && is_run
            && is_allowed
            && units.iter().all(|unit| taken.insert(*unit))
        {
            let messages = match context.summarizer {
                None => Vec::new(),
                Some(_) if request.is_handoff() => working.recorded_messages(&layout.positions(&request.about)),
                Some(_) => working.recorded_messages(&positions),
            };
            let messages = messages.into_iter().map(without_notes).collect();
            wanted.push(RequestedSummary { edit, request, replaced: positions.len(), messages });
        }
    }
    wanted
}

/// Returns a message for a summarizer: the memories and the state behind an earlier text are no part of the session, and the
/// new text gets its own.
fn without_notes(message: Arc<Message>) -> Arc<Message> {
    if !matches!(message.origin, Origin::Summary | Origin::Notice) {
        return message;
    }
    let whole = message.plain_text();
    let text = heading::without_notes(&whole);
    if text.len() == whole.len() {
        return message;
    }
    Arc::new(Message::text(message.id.as_str(), message.role, message.origin, text))
}

/// Has the summaries written, all at once, and adds their cost to the `bill`.
///
/// Errors only where a compaction without a summary is not allowed.
pub(crate) async fn write_summaries(
    context: &Context<'_>,
    wanted: Vec<RequestedSummary<'_>>,
    bill: &mut SummarizerReport,
) -> Result<WrittenSummaries, EditRefusal> {
    if wanted.is_empty() {
        return Ok(WrittenSummaries::new());
    }
    let Some(summarizer) = context.summarizer else {
        let refused = || Err(EditRefusal::Summary("summaries are switched off".to_owned()));
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
    for Ok(Summary { usage, .. }) | Err(SummarizeError { usage, .. }) in &outcomes {
        bill.add(usage);
    }
    for (RequestedSummary { edit, .. }, outcome) in wanted.iter().zip(outcomes) {
        let text = match outcome {
            Ok(summary) => Ok(bill.note(summary)),
            Err(error) if context.without_summary == WithoutSummary::Stop => {
                // There will be no report: the error has the bill.
                return Err(EditRefusal::Stopped(SummarizeError { usage: bill.models.clone(), ..error }));
            }
            Err(error) => {
                bill.problem.get_or_insert_with(|| error.to_string());
                Err(EditRefusal::Summary(error.to_string()))
            }
        };
        all.insert(*edit, text);
    }
    Ok(all)
}

impl SummarizerReport {
    /// Notes what is known of a summary and returns its text, in which no line passes for somebody's whose it is not.
    fn note(&mut self, summary: Summary) -> String {
        self.checks.extend(summary.check);
        if let Some(reason) = summary.fell_back {
            self.fell_back = true;
            self.problem.get_or_insert(reason);
        }
        match summary.is_of_lines {
            true => summary.text,
            // Nobody else's text tells who said what.
            false => levels::escaped_lines(&summary.text, levels::is_mark).into_owned(),
        }
    }
}

/// Writes one summary; a summarizer that panics or returns an empty text counts as failed.
async fn summarize(summarizer: &dyn Summarizer, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
    let failed = |message: String| SummarizeError::new(message, false);
    let summary = without_panic(|| summarizer.summarize(task)).await;
    let summary = summary.map_err(|panic| failed(format!("the summarizer panicked: {panic}")))??;
    if !summary.text.trim().is_empty() {
        return Ok(summary);
    }
    Err(SummarizeError { usage: summary.usage, ..failed("the text is empty".to_owned()) })
}

fn progress(summary: &Result<Summary, SummarizeError>) -> Progress<'_> {
    let (usage, problem) = match summary {
        Ok(summary) => (&summary.usage, summary.fell_back.as_deref()),
        Err(error) => (&error.usage, Some(error.message.as_str())),
    };
    Progress::Summary { input_tokens: usage.input_tokens(), output_tokens: usage.output_tokens(), problem }
}
