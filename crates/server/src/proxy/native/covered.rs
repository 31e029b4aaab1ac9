//! Which of a client's own messages an item covers.
//!
//! Clients keep messages of theirs in front of an item: what people typed, sometimes instructions. The item has these
//! at their places in the conversation, so the copies in front of it are left out when it is expanded. A client may
//! write them with other ids or in another order of fields: what counts is who says what.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Bytes of a message's hash. It only has to tell the messages of one conversation from each other.
const HASH_BYTES: usize = 8;

/// What a message says and who says it, as a hash.
pub(super) type MessageHash = [u8; HASH_BYTES];

/// The messages that an item covers, each as often as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CoveredMessages(Vec<MessageHash>);

impl CoveredMessages {
    /// Adds a message.
    pub(super) fn push(&mut self, message: MessageHash) {
        self.0.push(message);
    }

    /// How often each message is covered.
    pub(super) fn counts(&self) -> HashMap<MessageHash, usize> {
        let mut counts = HashMap::new();
        self.0.iter().for_each(|message| *counts.entry(*message).or_default() += 1);
        counts
    }
}

impl Serialize for CoveredMessages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(self.0.concat()))
    }
}

impl<'de> Deserialize<'de> for CoveredMessages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(D::Error::custom)?;
        let (hashes, rest) = bytes.as_chunks();
        if rest.is_empty() { Ok(Self(hashes.to_vec())) } else { Err(D::Error::custom("a hash is cut")) }
    }
}

/// The hash of a message of a user or of the system in OpenAI's Responses; `None` for any other item. Ids, states and the
/// way in which the text is written do not count.
pub(super) fn message_hash(item: &Value) -> Option<MessageHash> {
    if item.get("type").is_some_and(|kind| kind != "message") {
        return None;
    }
    let role = item["role"].as_str().filter(|role| matches!(*role, "user" | "developer" | "system"))?;
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    part(role.as_bytes());
    match &item["content"] {
        Value::String(text) => part(text.as_bytes()),
        Value::Array(parts) => {
            for said in parts {
                match said["text"].as_str() {
                    Some(text) => part(text.as_bytes()),
                    None => part(said.to_string().as_bytes()),
                }
            }
        }
        other => part(other.to_string().as_bytes()),
    }
    let mut hash = MessageHash::default();
    hasher.finalize_xof().fill(&mut hash);
    Some(hash)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn who_says_what_counts_and_nothing_else() {
        let same = [
            json!({"role": "user", "content": "hello"}),
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}),
            json!({"content": [{"text": "hello", "type": "input_text"}], "role": "user", "type": "message", "id": "m",
                "status": "completed", "metadata": {"turn": 1}}),
        ];
        let hashes: Vec<_> = same.iter().map(|item| message_hash(item).unwrap()).collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]));
        for other in [
            json!({"role": "developer", "content": "hello"}),
            json!({"role": "user", "content": "hell"}),
            json!({"role": "user", "content": [{"type": "input_text", "text": "hel"}, {"type": "input_text", "text": "lo"}]}),
            json!({"role": "user", "content": [{"type": "input_image", "image_url": "hello"}]}),
        ] {
            assert_ne!(message_hash(&other), Some(hashes[0]), "{other}");
        }
        for none in [
            json!({"role": "assistant", "content": "hello"}),
            json!({"type": "function_call_output", "call_id": "c", "output": "hello"}),
            json!("hello"),
            json!(null),
        ] {
            assert_eq!(message_hash(&none), None, "{none}");
        }
    }

    #[test]
    fn a_list_comes_back_as_it_was_written() {
        let mut covered = CoveredMessages::default();
        for number in [1, 2, 1] {
            covered.push([number; HASH_BYTES]);
        }
        let text = serde_json::to_string(&covered).unwrap();
        assert_eq!(serde_json::from_str::<CoveredMessages>(&text).unwrap(), covered);
        assert_eq!(covered.counts()[&[1; HASH_BYTES]], 2);
        for broken in ["\"AAAA\"", "\"!\"", "7"] {
            assert!(serde_json::from_str::<CoveredMessages>(broken).is_err(), "{broken}");
        }
    }
}
