//! Who&When: logs of a team whose orchestrator hands work to agents in free text.

use epitome::Session;
use epitome::session::{Block, Message, Origin, Role, TextCall};
use serde_json::Value;

use super::turns::{Named, first_object, id, items, push, session, str_of, text_of};

const ORCHESTRATOR: &str = "Orchestrator";

pub(super) fn fits(document: &Value) -> bool {
    document["question"].is_string()
        && (!document["mistake_agent"].is_null() || !document["ground_truth"].is_null())
        && first_object(&document["history"]).is_some_and(|message| !speaker(message).is_empty())
}

fn speaker(message: &Value) -> &str {
    match str_of(&message["role"]) {
        "" => str_of(&message["name"]),
        role => role,
    }
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let question = id(&document["question_ID"]);
    let mut log = session(&question);
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
    vec![(if question.is_empty() { "0".to_owned() } else { question }, log)]
}

/// The thoughts and words of the orchestrator until it hands over: one message, under the number of its last entry.
#[derive(Default)]
struct OrchestratorTurn {
    number: usize,
    blocks: Vec<Block>,
    delegate: Option<String>,
}

impl OrchestratorTurn {
    fn extend(&mut self, log: &mut Session, number: usize, aside: &str, said: &str) {
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

    /// Ends the turn. What it hands over is the call of an agent, in its last text.
    fn push(&mut self, log: &mut Session) {
        let Self { number, blocks, delegate } = std::mem::take(self);
        let mut message = Message::new(number.to_string(), Role::Assistant, Origin::Model, blocks);
        message.name = Some(ORCHESTRATOR.into());
        if let (Some(delegate), Some(last)) = (delegate, message.blocks.len().checked_sub(1)) {
            let end = message.blocks[last].excerptable().map_or(0, |text| text.len());
            if let (Ok(block), Ok(end @ 1..)) = (u32::try_from(last), u32::try_from(end)) {
                message.text_calls.push(TextCall { name: delegate.into(), block, start: 0, end });
            }
        }
        push(log, message);
    }
}
