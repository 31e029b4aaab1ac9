//! Compaction items: what a client keeps in place of its history, and sends back with each request.
//!
//! An item is a text that begins with [`MARK`] and is opaque to clients:
//!
//! ```text
//! epitome.c1.KEY.PAYLOAD.SIGNATURE     all behind the version in hexadecimal digits or URL-safe Base64
//! ```
//!
//! The payload is deflated JSON: the messages of the compacted conversation in the format of the request, and which of the
//! client's own messages they cover. The signature covers the tenant and the format too, so that an item is worth
//! nothing to another tenant. The service keeps nothing: an item is good as long as its key is.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use epitome::wire::Wire;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::covered::CoveredMessages;
use super::keys::ItemKeys;
use crate::http::{UnpackedBody, read_within};

/// Begins every item, whatever its version. What does not begin with it is not one of ours.
pub(super) const MARK: &str = "epitome.c";

/// The version of items that are made here.
const VERSION: &str = "1";

/// The longest item, in bytes of its text and of the text that is shown beside it. Clients send it with every request;
/// 1.3 bytes a token were measured, so that one of this length has more than any window.
pub(super) const LONGEST: usize = 4 << 20;

/// How often the contents of an item are in memory while they are expanded: as they were unpacked, as messages, and in the
/// request with them.
const COPIES: usize = 3;

/// The contents of an item.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompactionItem {
    /// Whether it stands for the whole conversation, and has to come first.
    pub(super) is_first: bool,
    /// The client's own messages that it covers.
    pub(super) covered: CoveredMessages,
    /// The hash of the text that is shown beside it, where there is one.
    pub(super) shown: Option<String>,
    /// The messages, each as JSON.
    pub(super) messages: Vec<Box<RawValue>>,
}

/// What opens items.
#[derive(Clone, Copy)]
pub(super) struct Opener<'a> {
    pub(super) keys: &'a ItemKeys,
    pub(super) tenant: &'a str,
    pub(super) wire: Wire,
    /// Bytes that the contents of an item may have.
    pub(super) most: usize,
    /// Messages that a request with an item may have, and the item itself.
    pub(super) parts: usize,
    /// Reserves memory before it is unpacked to; false if the budget is used up.
    pub(super) reserve: &'a dyn Fn(usize) -> bool,
}

/// What items are made for, and how large they may be.
#[derive(Clone, Copy)]
pub(super) struct Sealer<'a> {
    pub(super) keys: &'a ItemKeys,
    pub(super) tenant: &'a str,
    pub(super) wire: Wire,
    /// Bytes that the contents of an item may have where it is opened.
    pub(super) most: usize,
}

/// Why an item cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemProblem {
    /// It is not whole, or was changed.
    Damaged,
    /// It was signed with a key that is not there, or not any more.
    UnknownKey,
    /// It is not what was signed: it was changed, or it is another tenant's, or of another format.
    WrongSignature,
    /// A later version of the service made it.
    Newer,
    /// It holds more than a request may.
    TooLarge,
    /// There is no room to expand it now.
    NoRoom,
}

impl CompactionItem {
    /// An item of these messages, which may come anywhere in a conversation.
    pub(super) fn new(messages: Vec<Box<RawValue>>, covered: CoveredMessages) -> Self {
        Self { is_first: false, covered, shown: None, messages }
    }

    /// The item as clients get it; `shown_bytes` is the length of the text beside it. `None` where both would be longer than
    /// [`LONGEST`], where the contents have more than half of what may be opened, so that there is room for what the
    /// client says next, or where there is no key. Linear.
    pub(super) fn seal(&self, sealer: &Sealer<'_>, shown_bytes: usize) -> Option<String> {
        let Sealer { keys, tenant, wire, most } = *sealer;
        let json = serde_json::to_vec(self).ok()?;
        if json.len() > most / 2 {
            return None;
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&json).ok()?;
        let payload = URL_SAFE_NO_PAD.encode(encoder.finish().ok()?);
        let (key, signature) = keys.sign(&signed_parts(tenant, wire, &payload))?;
        let sealed = format!("{MARK}{VERSION}.{key}.{payload}.{}", URL_SAFE_NO_PAD.encode(signature));
        (sealed.len().saturating_add(shown_bytes) <= LONGEST).then_some(sealed)
    }

    /// Reads an item that was sealed for the same tenant and format. What it takes is bounded by its length and
    /// the opener's `most` bytes; nothing of it is read before its signature holds. Linear in these.
    pub(super) fn open(sealed: &str, opener: &Opener<'_>) -> Result<Self, ItemProblem> {
        let Opener { keys, tenant, wire, most, parts, reserve } = *opener;
        let rest = sealed.strip_prefix(MARK).ok_or(ItemProblem::Damaged)?;
        let (version, rest) = rest.split_once('.').ok_or(ItemProblem::Damaged)?;
        if version != VERSION {
            let is_newer = version.parse::<u32>().is_ok_and(|version| version > 1);
            return Err(if is_newer { ItemProblem::Newer } else { ItemProblem::Damaged });
        }
        if sealed.len() > LONGEST {
            return Err(ItemProblem::TooLarge);
        }
        let (key, rest) = rest.split_once('.').ok_or(ItemProblem::Damaged)?;
        let (payload, signature) = rest.split_once('.').ok_or(ItemProblem::Damaged)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| ItemProblem::Damaged)?;
        match keys.verify(key, &signed_parts(tenant, wire, payload), &signature) {
            None => return Err(ItemProblem::UnknownKey),
            Some(false) => return Err(ItemProblem::WrongSignature),
            Some(true) => {}
        }
        // From here on it is what this service, or one with its key, has made.
        let deflated = URL_SAFE_NO_PAD.decode(payload).map_err(|_| ItemProblem::Damaged)?;
        let reserve = |bytes: usize| reserve(bytes.saturating_mul(COPIES));
        let json = match read_within(ZlibDecoder::new(&deflated[..]), most, reserve) {
            Ok(UnpackedBody::Whole(json)) => json,
            Ok(UnpackedBody::TooLarge) => return Err(ItemProblem::TooLarge),
            Ok(UnpackedBody::NoRoom) => return Err(ItemProblem::NoRoom),
            Err(_) => return Err(ItemProblem::Damaged),
        };
        let item: Self = serde_json::from_slice(&json).map_err(|_| ItemProblem::Damaged)?;
        if item.messages.len() > parts { Err(ItemProblem::TooLarge) } else { Ok(item) }
    }
}

/// The parts that are signed.
fn signed_parts<'a>(tenant: &'a str, wire: Wire, payload: &'a str) -> [&'a [u8]; 5] {
    let wire: &'static str = wire.as_str();
    [b"epitome compaction item", VERSION.as_bytes(), tenant.as_bytes(), wire.as_bytes(), payload.as_bytes()]
}

/// The hash of a text that is shown beside an item.
pub(super) fn text_hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&blake3::hash(text.as_bytes()).as_bytes()[..16])
}

/// An id of an item, made from its text: the same item has the same id.
pub(super) fn id_of(prefix: &str, sealed: &str) -> String {
    format!("{prefix}{}", &blake3::hash(sealed.as_bytes()).to_hex()[..32])
}

#[cfg(test)]
#[path = "item_tests.rs"]
mod tests;
