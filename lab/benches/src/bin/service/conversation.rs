//! Conversations as clients send them: the whole history, each turn a little more of it.

use epitome::formats::{Wire, render};
use epitome::session::{Message, Session};
use serde_json::value::RawValue;

/// Messages of a conversation, each as JSON.
pub(crate) struct Conversation {
    items: Vec<String>,
    /// How many of them the first request has.
    first: usize,
}

impl Conversation {
    /// A coding session of about `tokens` tokens, and `turns` short turns behind it, for OpenAI chat.
    pub(crate) fn new(tokens: usize, turns: usize) -> Self {
        let counter = epitome::Config::default().build(&epitome::registry()).map(|runtime| runtime.counter);
        let count = |message: &Message| match &counter {
            Ok(counter) => epitome::engine::count_message(&**counter, message).total as usize,
            Err(_) => 0,
        };
        let mut session = Session::new();
        for message in epitome_benches::messages(tokens, count) {
            session.push(message);
        }
        let rendered = render(session.view(), Wire::OpenaiChat, None, None).json;
        #[derive(serde::Deserialize)]
        struct Request {
            messages: Vec<Box<RawValue>>,
        }
        let mut items: Vec<String> = serde_json::from_str::<Request>(&rendered)
            .map(|request| request.messages.iter().map(|item| item.get().to_owned()).collect())
            .unwrap_or_default();
        items.push(said("user", "What is left to be done?"));
        let first = items.len();
        for turn in 0..turns {
            items.push(said("assistant", &format!("Part {turn} is left: its tests have to be looked at again.")));
            items.push(said("user", &format!("Look at the tests of part {turn}, then.")));
        }
        Self { items, first }
    }

    /// The request of a turn, the first of which is 0.
    pub(crate) fn request(&self, turn: usize) -> Vec<u8> {
        self.request_in(turn, "the")
    }

    /// The same in other words: with another one for "the" it is another conversation, and so are its texts.
    pub(crate) fn request_in(&self, turn: usize, the: &str) -> Vec<u8> {
        let n_items = (self.first + 2 * turn).min(self.items.len());
        let messages = self.items[..n_items].join(",").replace(" the ", &format!(" {the} "));
        format!(r#"{{"model":"measured","stream":false,"messages":[{messages}]}}"#).into_bytes()
    }
}

fn said(role: &str, text: &str) -> String {
    serde_json::json!({"role": role, "content": text}).to_string()
}
