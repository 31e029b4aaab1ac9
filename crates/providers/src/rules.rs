//! The rule summarizer: the lines of what leaves that are worth most.

use epitome_reading::{Blocks, Source, Worth, languages, read_block};
use epitome_strategy::parts::UnitRun;
use epitome_strategy::text::counted;
use epitome_strategy::{Language, Origin, Role, SummarizeError, Summarizer, Summary, SummaryTask, View, async_trait};

/// Share of a summary that what people typed may take beside other lines, as `structured-extraction` has it.
const TYPED_SHARE: f64 = 0.3;

/// Writes summaries by rules, without a model.
///
/// A summary has the demands of people, the newest list of tasks, the files that were changed, deleted and read, decisions and
/// open questions of the model, and the exact lines that are worth most, in their order, each under its speaker or call; in
/// the end how many messages of whom it covers, and the languages of the code. Lines about the request's focus come before
/// others. Below 120 tokens it has lines alone. Quotations are verbatim and never cut inside a word.
///
/// The result never exceeds `max_tokens` by the task's counter; the future is ready at once. It errs only where not even
/// one line fits, or where the messages say nothing. Linear in the messages, and a sort of their lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleSummarizer;

impl RuleSummarizer {
    /// Returns the summary of `task`, at once.
    pub fn write(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let most = task.request.max_tokens;
        let text = View::read_messages_of(task.session, task.messages, task.counter, task.language, |view| {
            let source = Source::read(view, read_block);
            let worth = Worth::new(view, &source);
            let focus = task.request.focus.as_deref();
            let blocks = Blocks::new(view, &source, &worth, task.language, TYPED_SHARE, focus)
                .with_context(context(view, task.language));
            let all = UnitRun { units: (0..view.units().len() as u32).collect(), tokens: 0 };
            let block = blocks.write(&[all], &[most]).pop().map(|(text, _)| text);
            block.filter(|text| !text.is_empty()).or_else(|| blocks.shortest(most))
        });
        let text = text.ok_or_else(|| {
            let messages = counted(task.messages.len(), "message");
            SummarizeError::new(format!("no line about {messages} fits {most} tokens"), false)
        })?;
        Ok(Summary { text, is_of_lines: true, ..Summary::default() })
    }
}

/// Returns the line that says how many messages of whom a summary covers, and the languages of the code in them.
fn context(view: &View<'_>, language: Language) -> String {
    let (mut user, mut model, mut tools) = (0, 0, 0);
    for message in view.messages() {
        match (message.role, message.origin) {
            (Role::Tool, _) | (_, Origin::ToolOutput) => tools += 1,
            (Role::User, Origin::Typed) => user += 1,
            (Role::Assistant, _) => model += 1,
            (Role::User | Role::System, _) => {}
        }
    }
    let counts = language.pick(
        format!("{user} of the user, {model} of the model, {tools} of tools"),
        format!("用户 {user} 条，模型 {model} 条，工具 {tools} 条"),
    );
    let languages = languages(view);
    match languages.is_empty() {
        true => counts,
        false => format!("{counts}{}{}", language.pick("; code in ", "；代码语言："), languages.join(", ")),
    }
}

#[async_trait]
impl Summarizer for RuleSummarizer {
    fn kind(&self) -> &str {
        "rules"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        self.write(task)
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
