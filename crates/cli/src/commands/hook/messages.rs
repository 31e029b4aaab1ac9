//! Claude Code's function hook, which gets the messages and gives those behind the compaction.

use std::path::PathBuf;

use epitome::engine::Threshold;
use epitome::formats::Wire;
use epitome::session::Heading;
use epitome::session::speaker::typed_parts;
use epitome::{Budget, Runtime};
use epitome_fit::{FitOptions, FitRequest, FitStatus, Fitted, fit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::agent_message::AgentMessage;
use super::entries::{ConversationEntry, entries_of};
use super::kept::KeptMessages;
use super::transcript::Transcript;
use crate::configuration;
use crate::failure::Failure;
use crate::render::text::number;
use crate::terminal;

/// The least share of what is in front of the newest step that stays, however large that step is: the words of people and the
/// lines that tell what was done take some of it.
const LEAST_SHARE: f64 = 0.1;

/// Messages of no more tokens than these fit, whatever the window: nothing of them has to leave. Source: 4 % of the
/// smallest window that Claude Code compacts for, 100,000.
const LITTLE: u32 = 4_000;

/// How many of the newest messages stay whole, with their calls, where these take no more than half of the share: the agent
/// compacts in the middle of its work, and has not read them yet.
const NEWEST: u32 = 1;

/// The least share of the tokens that a compaction has to save. Source: with less the next one would be due at once.
const LEAST_SAVING: f64 = 0.2;

#[derive(Debug, Deserialize)]
struct HookInput {
    messages: Vec<Value>,
    /// What a person wants of the compaction: the words behind `/compact`.
    instructions: Option<String>,
    /// The session's file.
    transcript: Option<PathBuf>,
}

/// The messages behind a compaction, as `{"messages": […], "note"}`: the number of a message that stays as it is, or a
/// message. Without `messages` where the agent is to go on as without this program: where nothing has to leave or can be
/// saved, and where a message is not understood. `note` says why, for the latter standard error does too.
pub(super) fn compact(input: &str) -> Result<String, Failure> {
    let input: HookInput = serde_json::from_str(input).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code; `epitome compact FILE` is for people")
    })?;
    let transcript = Transcript::read(input.transcript.as_deref());
    let came = AgentMessage::read_all(&input.messages);
    let came = came.and_then(|rows| {
        let newest = rows.iter().rev().find(|row| row.handle.is_some() && row.is_of_model());
        let newest = newest.and_then(|row| row.handle.as_deref());
        entries_of(&rows, &newest.map(|handle| transcript.records_of_answer(handle)).unwrap_or_default())
    });
    let came = match came {
        Ok(came) => came,
        Err(why) => {
            terminal::note(&format!("{why}; the compaction is left to the agent"));
            return Ok(no_opinion(&why));
        }
    };
    let wanted = input.instructions.filter(|words| !words.trim().is_empty());
    let came = with_wanted(transcript.with_typed(came), wanted.as_deref());
    let fitting = Fitting::new(&came)?;
    let before = fitting.tokens(&came)?;
    if before <= LITTLE {
        return Ok(no_opinion(&format!("{} tokens fit, and nothing has to leave", number(before))));
    }
    let fitted = match fitting.around_newest_step(before)? {
        Some(fitted) => fitted,
        None => fitting.of_all(before)?,
    };
    let (kept, after) = match fitted {
        Made::Nothing(why) => return Ok(no_opinion(why)),
        Made::Kept(kept, after) => (kept, after),
    };
    if !is_worth_it(before, after) {
        let (after, before) = (number(after), number(before));
        return Ok(no_opinion(&format!("{after} of {before} tokens would stay")));
    }
    if !kept.has_newest_step() {
        return Ok(no_opinion("the newest step would not stay as it is"));
    }
    if !has_what_was_asked(&kept, &came) {
        return Ok(no_opinion("what was asked would not stay as it is"));
    }
    let (before, after) = (number(before), number(after));
    let wanted = wanted.map(|words| format!(", with a view to: {words}")).unwrap_or_default();
    let note = format!("epitome compacted {before} tokens to {after}{wanted}");
    Ok(json!({"messages": kept.to_json()?, "note": note}).to_string())
}

/// Whether a compaction saves enough.
fn is_worth_it(before: u32, after: u32) -> bool {
    f64::from(after) <= f64::from(before) * (1.0 - LEAST_SAVING)
}

/// The conversation with what a person wants of the compaction behind the newest text that was typed: what bears on the newest
/// words of a person stays. The agent's own message stays as it is.
fn with_wanted(mut came: Vec<ConversationEntry>, wanted: Option<&str>) -> Vec<ConversationEntry> {
    let said = came.iter_mut().rev().filter(|entry| entry.is_said());
    let mut typed = said.filter(|said| !typed_parts(without_summary(&said.text)).is_empty());
    if let (Some(newest), Some(wanted)) = (typed.next(), wanted) {
        newest.text = format!("{}\n\n{wanted}", newest.text);
    }
    came
}

/// Fits a conversation.
struct Fitting<'c> {
    came: &'c [ConversationEntry],
    runtime: Runtime,
}

/// What a fitting gives.
enum Made<'c> {
    /// The messages that stay, and their tokens.
    Kept(KeptMessages<'c>, u32),
    /// Nothing, and why.
    Nothing(&'static str),
}

impl<'c> Fitting<'c> {
    fn new(came: &'c [ConversationEntry]) -> Result<Self, Failure> {
        let registry = epitome::registry();
        let mut config = configuration::read_for_plugin(&registry)?;
        let kept = config.set("pins.keep_recent", &epitome::strategy::Value::from(NEWEST));
        kept.map_err(|problem| Failure::other(anyhow::Error::msg(problem)))?;
        let runtime = configuration::build_without_model(config, &registry)?;
        Ok(Self { came, runtime })
    }

    /// Of messages of so many tokens, the tokens that stay: the configured target, for the agent compacts when its window is full.
    fn target(&self, before: u32) -> u32 {
        self.runtime.budget.target.tokens(before).min(before)
    }

    fn fitted(&self, entries: &[ConversationEntry], options: FitOptions) -> Result<Fitted, Failure> {
        let list: Vec<String> = entries.iter().map(|entry| entry.wire().to_string()).collect();
        fit(&self.runtime, Wire::Anthropic, options, &FitRequest::new(&list)).map_err(Failure::usage)
    }

    fn tokens(&self, entries: &[ConversationEntry]) -> Result<u32, Failure> {
        match entries.is_empty() {
            true => Ok(0),
            false => Ok(self.fitted(entries, FitOptions::once(u32::MAX))?.tokens_before),
        }
    }

    /// The newest step as it is, with the results that the model has not read yet, and the conversation in front of it in
    /// what is left of the room. `None` where there is no such step, or where it is too large for that.
    ///
    /// A session that is resumed has the results of this step as they were in any case: the agent finds them by the step's
    /// records, which go back as its own.
    fn around_newest_step(&self, before: u32) -> Result<Option<Made<'c>>, Failure> {
        let newest = self.came.iter().rposition(ConversationEntry::is_answer);
        let newest = newest.filter(|at| !self.came[*at].tool_uses.is_empty());
        let Some((rest, step)) = newest.map(|at| self.came.split_at(at)) else { return Ok(None) };
        let in_front = self.tokens(rest)?;
        let beside = before.saturating_sub(in_front);
        let room = (f64::from(self.target(before)) - f64::from(beside)) / f64::from(in_front.max(1));
        let after = self.fitted(rest, FitOptions::for_budget(budget(in_front, room.max(LEAST_SHARE))))?;
        let tokens = after.tokens_after.saturating_add(beside);
        if after.status != FitStatus::Compacted || !is_worth_it(before, tokens) {
            return Ok(None);
        }
        let mut kept = KeptMessages::of(&after, rest, self.came)?;
        step.iter().for_each(|entry| kept.keep(entry));
        Ok(Some(Made::Kept(kept, tokens)))
    }

    /// The whole conversation, with the newest results cut where they take too much.
    fn of_all(&self, before: u32) -> Result<Made<'c>, Failure> {
        let share = f64::from(self.target(before)) / f64::from(before.max(1));
        let after = self.fitted(self.came, FitOptions::for_budget(budget(before, share)))?;
        if after.status != FitStatus::Compacted {
            return Ok(Made::Nothing(after.detail.unwrap_or("nothing to save")));
        }
        let tokens = after.tokens_after;
        Ok(Made::Kept(KeptMessages::of(&after, self.came, self.came)?, tokens))
    }
}

fn no_opinion(why: &str) -> String {
    json!({"note": why}).to_string()
}

/// For messages of so many tokens: down to a share, but with room for all that must stay. A smaller window would cut the
/// task and the newest question.
fn budget(tokens: u32, share: f64) -> Budget {
    let all = Threshold::Share(1.0);
    Budget {
        window: tokens,
        reserve_output: 0,
        tool_definitions: 0,
        soft: all,
        hard: all,
        target: Threshold::Share(share),
    }
}

/// Whether the first and the newest text that a person typed are in the answer, word for word.
fn has_what_was_asked(kept: &KeptMessages<'_>, came: &[ConversationEntry]) -> bool {
    let texts = kept.said();
    let mut typed = came.iter().filter(|entry| entry.is_said()).filter_map(|said| {
        let own = without_summary(&said.text);
        let words: Vec<&str> = typed_parts(own).into_iter().map(|range| &own[range]).collect();
        (!words.is_empty()).then_some(words)
    });
    let first = typed.next();
    let newest = typed.next_back();
    let is_there = |words: &str| texts.iter().any(|text| text.contains(words));
    first.into_iter().chain(newest).flatten().all(is_there)
}

/// A text up to the summary that an earlier compaction put behind it.
fn without_summary(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if Heading::read(line.trim_end()).is_some() {
            return &text[..at];
        }
        at += line.len();
    }
    text
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
