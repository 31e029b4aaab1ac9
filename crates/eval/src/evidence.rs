//! Evidence recall: chats with questions whose evidence turns are recorded.

use std::collections::{HashMap, HashSet};

use epitome::Session;
use epitome::formats::{Format, LoadedFile};
use epitome::session::{Entry, Message};
use serde_json::Value;

use crate::case::Case;
use crate::kept::KeptCount;
use crate::score::Scores;
use crate::text::{conversation, shown_messages};

/// A question about a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// The turns that hold the answer, by the ids of their messages.
    pub(crate) turns: Vec<String>,
    /// The answer, where it is one string.
    pub(crate) answer: Option<String>,
}

/// A chat and what is asked about it.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) session: Session,
    pub(crate) questions: Vec<Question>,
}

/// The chats of a file with the questions about each; none for formats that record no evidence. Linear in the file.
pub(crate) fn chats(loaded: &LoadedFile) -> Vec<(String, Chat)> {
    let Ok(document) = serde_json::from_slice::<Value>(&loaded.bytes) else { return Vec::new() };
    match loaded.format {
        Format::Locomo => {
            let samples = document.as_array().map_or(std::slice::from_ref(&document), Vec::as_slice);
            let sessions = loaded.sessions.iter().zip(samples);
            sessions.map(|(it, sample)| (it.name.clone(), chat(&it.session, locomo(sample), |_| true))).collect()
        }
        Format::LongMemEval => loaded
            .sessions
            .iter()
            .map(|it| (it.name.clone(), chat(&it.session, longmemeval(&document, &it.session), |id| id.contains(':'))))
            .collect(),
        _ => Vec::new(),
    }
}

/// The chat without the messages that are not turns of it: a question that the set itself puts at the end.
fn chat(session: &Session, questions: Vec<Question>, is_turn: impl Fn(&str) -> bool) -> Chat {
    let mut plain = Session::new();
    plain.id.clone_from(&session.id);
    for message in session.log().iter().filter(|message| is_turn(message.id.as_str())) {
        plain.push(Message::clone(message));
    }
    let known: HashSet<&str> = plain.log().iter().map(|message| message.id.as_str()).collect();
    let questions = questions.into_iter().filter_map(|mut question| {
        question.turns.retain(|turn| known.contains(turn.as_str()));
        (!question.turns.is_empty()).then_some(question)
    });
    let questions = questions.collect();
    Chat { session: plain, questions }
}

/// LoCoMo names the turns of each question by their ids; some lists hold several in one string.
fn locomo(sample: &Value) -> Vec<Question> {
    let questions = sample["qa"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |question: &Value| Question {
        text: question["question"].as_str().unwrap_or_default().to_owned(),
        turns: question["evidence"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .flat_map(|ids| ids.split([';', ',', ' ']))
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .collect(),
        answer: answer(&question["answer"]),
    };
    questions.iter().map(of).collect()
}

fn answer(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// LongMemEval names chats: those whose name starts with `answer_` hold the evidence, and the user tells it there.
fn longmemeval(document: &Value, session: &Session) -> Vec<Question> {
    let steps = document["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let turns: Vec<String> = session
        .log()
        .iter()
        .filter(|message| message.id.as_str().starts_with("answer_") && message.is_typed())
        .map(|message| message.id.as_str().to_owned())
        .collect();
    let of = |step: &Value| {
        let input = step["input"].as_str().unwrap_or_default();
        let text = input.split_once("] ").map_or(input, |(_, question)| question);
        let prompt = step["assertions"][0]["prompt"].as_str().unwrap_or_default();
        let expected = prompt.split_once("expected answer is: '").and_then(|(_, rest)| rest.split_once("'."));
        Question { text: text.to_owned(), turns: turns.clone(), answer: expected.map(|(answer, _)| answer.to_owned()) }
    };
    steps.iter().filter(|step| step["step_type"] == "query").map(of).collect()
}

impl Case {
    /// The scores of a chat's result, with the evidence turns and the answers of `questions` that it holds verbatim.
    /// Linear in the result for each of them.
    pub(crate) fn score_evidence(&self, result: &[Entry], budget: u32, questions: &[&Question]) -> Scores {
        let text = conversation(shown_messages(result));
        let turns: HashMap<&str, String> =
            shown_messages(self.prefix.view()).map(|message| (message.id.as_str(), message.plain_text())).collect();
        let mut evidence: Vec<bool> = Vec::new();
        for question in questions {
            let held = question.turns.iter().filter_map(|turn| turns.get(turn.as_str()));
            evidence.extend(held.map(|turn| text.contains(turn.trim())));
        }
        let whole = conversation(shown_messages(self.prefix.view()));
        let answers = questions.iter().filter_map(|question| question.answer.as_deref());
        // An answer that the chat does not hold word for word cannot survive.
        let answers: Vec<bool> =
            answers.filter(|answer| whole.contains(*answer)).map(|answer| text.contains(answer)).collect();
        Scores {
            evidence: KeptCount::count(&evidence),
            answers: KeptCount::count(&answers),
            ..self.score(result, budget)
        }
    }
}
