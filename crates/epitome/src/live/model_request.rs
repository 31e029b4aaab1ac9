//! A compaction that the session's own model asks for, with its tool `compact_context`.

use std::fmt;
use std::str::FromStr;

use epitome_engine::Report;
use epitome_session::{MessageRange, Role, Trigger, units};
use epitome_strategy::text::counted;

use super::{Compaction, LiveError, LiveSession};

/// The tool's name.
pub const COMPACT_CONTEXT: &str = "compact_context";

/// What the next context has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequiredContent {
    /// These messages.
    Messages(MessageRange),
    /// This text, word for word.
    Text(String),
}

/// Reads what a model names: messages by their numbers (`#37`, `#40-#52`), or a text.
impl FromStr for RequiredContent {
    type Err = String;

    fn from_str(named: &str) -> Result<Self, String> {
        match named.parse() {
            Ok(range) if named.contains('#') => Ok(Self::Messages(range)),
            _ if named.trim().is_empty() => Err("a text of `keep` is empty".to_owned()),
            _ => Ok(Self::Text(named.to_owned())),
        }
    }
}

/// What a model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelRequest {
    /// Why now.
    pub reason: String,
    /// What the model does next: the focus.
    pub next_step: String,
    /// What the next context has to hold.
    pub keep: Vec<RequiredContent>,
    /// Whether the model made other calls with it that the session does not hold, so that they are open.
    pub has_open_calls: bool,
}

/// The most that one call keeps.
const MOST_KEPT: usize = 8;

impl ModelRequest {
    /// Returns what a model asks for that calls nothing beside it. The error says that it keeps too much.
    pub fn new(reason: String, next_step: String, keep: Vec<RequiredContent>) -> Result<Self, String> {
        if keep.len() > MOST_KEPT {
            return Err(format!("`keep` takes {MOST_KEPT} at most: name what you need next"));
        }
        Ok(Self { reason, next_step, keep, has_open_calls: false })
    }

    /// Returns the same of texts that name what is kept. The error says which names nothing.
    pub fn from_texts(reason: &str, next_step: &str, keep: &[String]) -> Result<Self, String> {
        let keep = keep.iter().map(|named| named.parse()).collect::<Result<_, _>>()?;
        Self::new(reason.to_owned(), next_step.to_owned(), keep)
    }
}

/// The outcome of a model's request. It displays as one or two lines for the model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelRequestOutcome {
    /// The context was compacted, or nothing in it could leave.
    Compacted {
        /// The report.
        report: Box<Report>,
        /// The messages that were kept for it.
        kept: Vec<MessageRange>,
    },
    /// The context was not compacted, and why; the model continues as before.
    NotYet(String),
}

impl fmt::Display for ModelRequestOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compacted { report, kept } if report.status.is_compaction() => {
                let (before, after) = (report.tokens_before, report.tokens_after);
                write!(formatter, "Compacted: the messages took {before} tokens and take {after} now.")?;
                if !kept.is_empty() {
                    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
                    write!(formatter, " Kept whole: {}.", kept.join(", "))?;
                }
                formatter.write_str(" What left is found with search_history.")
            }
            Self::Compacted { report, .. } => {
                let why = report.stopped.as_deref().unwrap_or("what is there has to stay");
                write!(formatter, "Not made: nothing worth it could leave ({why}). Go on.")
            }
            Self::NotYet(why) => {
                write!(formatter, "Not yet: {why} Go on; the context is kept within its window anyway.")
            }
        }
    }
}

impl LiveSession {
    /// Compacts because the session's model asks for it, where that is wise: the context is as full as
    /// `[live] asked_share` says, the last compaction is `[live] asked_calls` calls of the model ago, and no other call is
    /// open. What the model names is kept for this compaction. Linear in the view.
    ///
    /// # Errors
    ///
    /// Those of [`compact`](Self::compact).
    pub async fn compact_as_asked(&mut self, asked: &ModelRequest) -> Result<ModelRequestOutcome, LiveError> {
        if asked.has_open_calls {
            let why = "the calls beside this one are not answered yet.".to_owned();
            return Ok(ModelRequestOutcome::NotYet(why));
        }
        if let Some(why) = self.why_not_yet() {
            return Ok(ModelRequestOutcome::NotYet(why));
        }
        let keep = match self.needed(&asked.keep) {
            Ok(keep) => keep,
            Err(why) => return Ok(ModelRequestOutcome::NotYet(why)),
        };
        tracing::info!(reason = %asked.reason, "the model asks for a compaction");
        let focus = Some(asked.next_step.trim().to_owned()).filter(|step| !step.is_empty());
        let before = self.kept_messages();
        let compaction = Compaction { trigger: Trigger::Marker, focus, keep, ..Compaction::default() };
        let report = self.compact(&compaction).await?;
        // It is the next context that has to hold them, and not each one that follows.
        let new = self.kept_messages().into_iter().filter(|number| !before.contains(number));
        let kept = MessageRange::runs(new);
        self.release(&kept)?;
        Ok(ModelRequestOutcome::Compacted { report: Box::new(report), kept })
    }

    /// Why a compaction that the model asks for is not made now; `None` where it is.
    fn why_not_yet(&self) -> Option<String> {
        let open = units(self.session.view()).last().filter(|unit| !unit.closed).map_or(0, |unit| {
            let said = self.session.view()[unit.entries.clone()].iter().map(|entry| &entry.message);
            let answers: usize = said.clone().filter(|message| message.role == Role::Tool).count();
            let others = said.flat_map(|message| message.calls()).filter(|(_, call)| !is_compact_context(&call.name));
            others.count().saturating_sub(answers)
        });
        if open > 0 {
            return Some(format!("{} not answered yet.", counted_are(open)));
        }
        let share = f64::from(self.ledger.total()) / f64::from(self.budget.usable().max(1));
        let least = self.settings.asked_share;
        if share < least {
            let percent = |share: f64| (share * 100.0).floor();
            return Some(format!(
                "the context is {} % full, and this is done from {} % on.",
                percent(share),
                percent(least)
            ));
        }
        let newest = crate::context::newest_compaction(&self.session);
        let log = &self.session.log()[newest.min(self.session.log().len())..];
        let calls = log.iter().filter(|message| message.role == Role::Assistant).count();
        let least = self.settings.asked_calls as usize;
        let is_compacted = self.newest_compaction().is_some();
        (is_compacted && calls < least).then(|| {
            format!(
                "the context was compacted {} of yours ago, and this is done once in {least}.",
                counted(calls, "turn")
            )
        })
    }

    /// The messages that hold what a model needs: of a text the newest that has it. The error says what there is not.
    fn needed(&self, needed: &[RequiredContent]) -> Result<Vec<MessageRange>, String> {
        let messages = self.session.log().len() as u32;
        let find = |needed: &RequiredContent| match needed {
            RequiredContent::Messages(range) if range.last().unwrap_or(range.first()) < messages => Ok(*range),
            RequiredContent::Messages(range) => {
                Err(format!("there are no messages {range}: the last is #{}.", messages.saturating_sub(1)))
            }
            RequiredContent::Text(text) => {
                let holds = |entry: &&epitome_session::Entry| {
                    entry.message.blocks.iter().any(|block| block.excerptable().is_some_and(|it| it.contains(text)))
                };
                let shown = self.session.view().iter().rev().filter(|entry| entry.key.number().is_some());
                let found = shown.clone().find(holds).and_then(|entry| entry.key.number());
                found
                    .map(MessageRange::One)
                    .ok_or_else(|| format!("`{text}` is in no message of the context, so it cannot be kept."))
            }
        };
        needed.iter().map(find).collect()
    }
}

/// Whether a tool of a log is the one that asks for a compaction, with or without the name of its server in front.
fn is_compact_context(tool: &str) -> bool {
    let front = tool.strip_suffix(COMPACT_CONTEXT);
    front.is_some_and(|front| front.is_empty() || front.ends_with("__") || front.ends_with('.'))
}

fn counted_are(calls: usize) -> String {
    format!("{} {}", counted(calls, "call"), if calls == 1 { "is" } else { "are" })
}
