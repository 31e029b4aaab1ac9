//! What words of calls take. Each kind of value says so in the error of a wrong one, which [`read`](super::read::read) makes.

use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

use epitome::recall::{Query, Source};
use epitome::session::MessageRange;
use epitome::strategy::Named;
use epitome_fit::Beside;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde_json::value::RawValue;

use crate::Share;

/// Kinds of whole numbers that need not be there: what each counts, its least and its most. `null` is none of them.
macro_rules! whole_numbers {
    ($($name:ident($type:ty): $what:literal, $least:literal to $most:expr;)+) => {$(
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $name(pub(crate) Option<$type>);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let most = u64::try_from($most).unwrap_or(u64::MAX);
                let is_open = <$type>::try_from(most).is_ok_and(|most| most == <$type>::MAX);
                let number = from.deserialize_any(WholeNumber { what: $what, least: $least, most, is_open })?;
                Ok(Self(<$type>::try_from(number).ok()))
            }
        }
    )+
    };
}

whole_numbers! {
    Tokens(u32): "a number of tokens", 1 to u32::MAX;
    TokensOrNone(u32): "a number of tokens", 0 to u32::MAX;
    Conversations(usize): "a number of conversations", 1 to usize::MAX;
    Bytes(usize): "a number of bytes", 0 to usize::MAX;
    Passages(usize): "a number of passages", 1 to Query::MOST_PASSAGES;
    Characters(usize): "a number of characters", 1 to Query::MOST_CHARACTERS;
    AnswerStatus(u16): "the number of an answer's status, such as 400", 0 to u16::MAX;
    PageNumber(usize): "the number of a page", 1 to usize::MAX;
}

struct WholeNumber {
    what: &'static str,
    least: u64,
    most: u64,
    /// Whether the most is only what the machine holds.
    is_open: bool,
}

impl Visitor<'_> for WholeNumber {
    type Value = u64;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { what, least, most, is_open } = self;
        match is_open {
            true => write!(formatter, "{what} (a whole number, {least} or more)"),
            false => write!(formatter, "{what} (a whole number from {least} to {most})"),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        let is_in = (self.least..=self.most).contains(&number);
        if is_in { Ok(number) } else { Err(E::invalid_value(Unexpected::Unsigned(number), &self)) }
    }
}

/// How much the messages may take, where it is said. `null` is nothing of the kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GivenShare(pub(crate) Option<Share>);

impl<'de> Deserialize<'de> for GivenShare {
    /// A whole number is tokens, another one of at most 1 a part of what the messages take. A language with one kind of
    /// number writes 1 for both: then it is a token.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Shares;

        impl Visitor<'_> for Shares {
            type Value = Share;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a number of tokens (a whole number, 1 or more) or a part of what the messages take (above 0 and below 1)",
                )
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Share, E> {
                let tokens = u32::try_from(number).ok().filter(|tokens| *tokens > 0);
                tokens.map(Share::Tokens).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_f64<E: Error>(self, part: f64) -> Result<Share, E> {
                let is_part = part > 0.0 && part <= 1.0;
                if is_part { Ok(Share::Part(part)) } else { Err(E::invalid_value(Unexpected::Float(part), &self)) }
            }
        }

        from.deserialize_any(Shares).map(|share| Self(Some(share)))
    }
}

/// What is read of a text.
pub(crate) trait FromText: Sized {
    /// What a word takes that has one of them, or several.
    const ONE_OR_MORE: &'static str;

    /// Reads one.
    fn from_text(text: &str) -> Result<Self, impl Display>;
}

/// The name of a strategy, or of a chain.
#[derive(Debug, Clone)]
pub(crate) struct ChainName(pub(crate) String);

impl FromText for ChainName {
    const ONE_OR_MORE: &'static str = "the name of a chain or strategy, or a list of names";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Ok::<_, String>(Self(text.to_owned()))
    }
}

impl FromText for MessageRange {
    const ONE_OR_MORE: &'static str = "messages by their numbers, such as `#37` or `#40-#52`, or a list of them";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        text.parse::<Self>()
    }
}

impl FromText for Source {
    const ONE_OR_MORE: &'static str = "one or more of user, assistant, tool, file";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Self::from_name(text)
    }
}

/// Something to search for.
#[derive(Debug, Clone)]
pub(crate) struct Sought(pub(crate) String);

impl FromText for Sought {
    const ONE_OR_MORE: &'static str = "a text, or a list of texts";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Ok::<_, String>(Self(text.to_owned()))
    }
}

/// One text, or a list of them.
#[derive(Debug, Clone)]
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: FromText> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts<T>(PhantomData<T>);

        impl<'de, T: FromText> Visitor<'de> for Texts<T> {
            type Value = Vec<T>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str(T::ONE_OR_MORE)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
                Ok(vec![T::from_text(text).map_err(E::custom)?])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut read = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    read.push(T::from_text(&text).map_err(A::Error::custom)?);
                }
                Ok(read)
            }
        }

        from.deserialize_any(Texts(PhantomData)).map(Self)
    }
}

/// A value by its name. The error of another name lists the names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByName<T>(pub(crate) T);

impl<'de, T: Named> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::from_name(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

/// The name of a model, where there is one.
pub(super) fn model_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    if name.as_deref() == Some("") {
        return Err(D::Error::invalid_value(Unexpected::Str(""), &"the name of a model"));
    }
    Ok(name)
}

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

/// What stands beside the messages of a request: JSON as it is sent, or as a number its tokens.
#[derive(Debug, Default)]
pub(crate) struct BesideWord(Option<Box<RawValue>>);

impl BesideWord {
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

    pub(super) fn get(&self) -> Beside<'_> {
        match self.0.as_deref().map(RawValue::get) {
            None => Beside::Nothing,
            Some(json) => json.parse().map_or(Beside::Json(json), Beside::Tokens),
        }
    }
}
