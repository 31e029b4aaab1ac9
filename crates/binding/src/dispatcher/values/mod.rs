//! The values of options. Each kind says what it takes in the error of a wrong one, which
//! [`read_options`](super::read_options::read_options) makes.

mod numbers;
mod texts;

use std::fmt::{self, Formatter};

use epitome_fit::RequestPart;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use numbers::{
    AnswerStatus, BudgetValue, Bytes, Characters, Conversations, PageNumber, Passages, Tokens, TokensOrNone,
};
pub(crate) use texts::{ByName, ChainName, OneOrMore, SearchText, model_name};

/// The key of a fitter's hashes, as numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Secret(pub(crate) Option<[u8; 32]>);

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Key;

        impl<'de> Visitor<'de> for Key {
            type Value = Secret;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str("32 bytes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Secret, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = list.next_element::<u8>()? {
                    bytes.push(byte);
                }
                let wrong = |bytes: Vec<u8>| A::Error::invalid_length(bytes.len(), &self);
                bytes.try_into().map(|key| Secret(Some(key))).map_err(wrong)
            }
        }

        from.deserialize_any(Key)
    }
}

/// A part of a request beside its messages: JSON as it is sent, or the number of its tokens.
#[derive(Debug, Default)]
pub(crate) struct RequestPartValue(Option<Box<RawValue>>);

impl RequestPartValue {
    /// The system prompt, or its tokens.
    pub(super) fn system<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::read(from, "a system prompt", |_| true)
    }

    /// The definitions of the tools, or their tokens.
    pub(super) fn tools<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::read(from, "a list of definitions", |json| json.starts_with('['))
    }

    fn read<'de, D: Deserializer<'de>>(from: D, what: &str, fits: fn(&str) -> bool) -> Result<Self, D::Error> {
        let Some(given) = Option::<Box<RawValue>>::deserialize(from)? else { return Ok(Self(None)) };
        let json = given.get();
        let is_well = match json.as_bytes().first() {
            Some(b'0'..=b'9' | b'-') => json.parse::<u32>().is_ok(),
            Some(b't' | b'f') => false,
            _ => fits(json),
        };
        if !is_well {
            // As serde words its own errors.
            let problem =
                format!("invalid value: {json}, expected {what}, or the tokens of it (a whole number, 0 or more)");
            return Err(D::Error::custom(problem));
        }
        Ok(Self(Some(given)))
    }

    pub(super) fn get(&self) -> RequestPart<'_> {
        match self.0.as_deref().map(RawValue::get) {
            None => RequestPart::Nothing,
            Some(json) => json.parse().map_or(RequestPart::Json(json), RequestPart::Tokens),
        }
    }
}
