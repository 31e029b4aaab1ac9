#![allow(clippy::unwrap_used, clippy::panic)]

use epitome::wire::Wire;
use serde_json::json;

use super::*;
use crate::proxy::native::item::{CompactionItem, Sealer};
use crate::proxy::native::keys::ItemKeys;

const WIRE: Wire = Wire::OpenaiResponses;

/// A client that keeps its messages in front of the newest item, as OpenAI's clients do.
struct Client {
    keys: ItemKeys,
    items: Vec<Value>,
}

impl Client {
    fn new() -> Self {
        let mut keys = ItemKeys::default();
        keys.push("0123456789abcdef0123456789abcdef");
        Self { keys, items: Vec::new() }
    }

    fn say(&mut self, text: &str) {
        self.items.push(json!({ "role": "user", "content": text }));
    }

    fn read(&self) -> ReadRequest {
        let body = Bytes::from(json!({ "model": "m", "input": self.items }).to_string());
        let opener =
            Opener { keys: &self.keys, tenant: "one", wire: WIRE, most: 1 << 20, parts: 100, reserve: &|_| true };
        match read(&body, opener, Route::Compactions, true).unwrap() {
            Reading::Request(found) => found,
            Reading::Plain(_) => panic!("nothing was found"),
        }
    }

    /// Asks for a compaction; returns how many messages its item covers.
    fn compact(&mut self) -> usize {
        let found = self.read();
        let count = found.covered.counts().values().sum();
        let fields: Value = serde_json::from_slice(&found.without_demand).unwrap();
        let messages = fields["input"].as_array().unwrap().iter();
        let messages = messages.map(|json| serde_json::value::to_raw_value(json).unwrap()).collect();
        let sealer = Sealer { keys: &self.keys, tenant: "one", wire: WIRE, most: 1 << 20 };
        let sealed = CompactionItem::new(messages, found.covered).seal(&sealer, 0).unwrap();
        self.items.retain(|item| item["type"] != "compaction");
        self.items.push(json!({ "type": "compaction", "encrypted_content": sealed }));
        count
    }
}

#[test]
fn each_message_is_covered_once() {
    let mut client = Client::new();
    client.say("First.");
    for number in 1..6_usize {
        client.say(&format!("More: {number}."));
        assert_eq!(client.compact(), number + 1);
    }
    client.say("First.");
    assert_eq!(client.compact(), 7, "said a second time, behind the item");
}

#[test]
fn a_message_that_was_said_again_is_not_lost() {
    let mut client = Client::new();
    client.say("Go on.");
    client.compact();
    client.compact();
    // In front of the item, where clients put what comes with each request.
    client.items.insert(0, json!({ "role": "user", "content": "Go on." }));
    let found = client.read();
    let fields: Value = serde_json::from_slice(&found.without_demand).unwrap();
    assert_eq!(fields["input"].as_array().unwrap().len(), 2, "{fields}");
    assert_eq!(client.compact(), 2);
}
