//! Who&When: logs of a team whose orchestrator hands work to agents in free text.

use epitome_session::{Block, Message, Origin, Role};
use serde_json::Value;

use crate::json::value::{first_object, id, items, non_empty_str, text_of};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::chat::mark_call;
use crate::recording::session_builder::SessionBuilder;

const ORCHESTRATOR: &str = "Orchestrator";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    document["question"].is_string()
        && (!document["mistake_agent"].is_null() || !document["ground_truth"].is_null())
        && first_object(&document["history"]).is_some_and(|message| !speaker(message).is_empty())
}

fn speaker(message: &Value) -> &str {
    non_empty_str(&message["role"]).or_else(|| non_empty_str(&message["name"])).unwrap_or("")
}

pub(crate) fn read(probe: &Probe<'_>, _: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let document = &probe.document;
    let question = id(&document["question_ID"]);
    let mut log = SessionBuilder::new(&question);
    let mut turn = OrchestratorTurn::default();
    for (number, message) in items(&document["history"]).iter().enumerate() {
        let said = text_of(&message["content"]);
        let speaker = speaker(message);
        if said.is_empty() || speaker.is_empty() {
            continue;
        }
        match speaker.strip_prefix(ORCHESTRATOR) {
            Some(aside) => turn.extend(&mut log, number, aside.trim(), &said),
            None => {
                turn.push(&mut log);
                let origin = if speaker == "human" { Origin::Typed } else { Origin::ToolOutput };
                let mut reply = Message::text(number.to_string(), Role::User, origin, said);
                reply.name = (origin == Origin::ToolOutput).then(|| speaker.into());
                log.push(reply);
            }
        }
    }
    turn.push(&mut log);
    log.finish_alone(
        Format::WhoAndWhen,
        if question.is_empty() { "0" } else { &question },
        "no element of `history` has a role and content",
    )
}

/// The thoughts and words of the orchestrator until it hands over: one message, under the number of its last entry.
#[derive(Default)]
struct OrchestratorTurn {
    number: usize,
    blocks: Vec<Block>,
    delegate: Option<String>,
}

impl OrchestratorTurn {
    fn extend(&mut self, log: &mut SessionBuilder, number: usize, aside: &str, said: &str) {
        self.number = number;
        // Its plans and ledgers ("thought") are part of the conversation that it was shown again, so they are text.
        if !said.trim().is_empty() {
            self.blocks.push(Block::text(said));
        }
        if aside == "(thought)" {
            return;
        }
        let delegate = aside.strip_prefix("(->").and_then(|rest| rest.strip_suffix(')'));
        if let Some(delegate) = delegate {
            self.delegate = Some(delegate.trim().to_owned());
            self.push(log);
        }
    }

    fn push(&mut self, log: &mut SessionBuilder) {
        let Self { number, blocks, delegate } = std::mem::take(self);
        let mut message = Message::new(number.to_string(), Role::Assistant, Origin::Model, blocks);
        message.name = Some(ORCHESTRATOR.into());
        if let (Some(delegate), Some(last)) = (delegate, message.blocks.len().checked_sub(1)) {
            let length = message.blocks[last].excerptable().map_or(0, |text| text.len());
            mark_call(&mut message, &delegate, last, 0..length);
        }
        log.push(message);
    }
}
