//! Values of options that are numbers.

use std::fmt::{self, Formatter};

use epitome::recall::Query;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

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

/// A token budget: absolute, or a share of the current size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenBudget {
    /// An absolute number of tokens.
    Tokens(u32),
    /// A share of what the messages take now, above 0 and at most 1.
    Share(f64),
}

impl TokenBudget {
    /// In tokens, for messages that take `now`; 1 at least.
    pub(crate) fn tokens(self, now: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => ((f64::from(now) * share) as u32).max(1),
        }
    }
}

/// How much the messages may take, where it is said. `null` is nothing of the kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BudgetValue(pub(crate) Option<TokenBudget>);

impl<'de> Deserialize<'de> for BudgetValue {
    /// A whole number is tokens, another one of at most 1 a part of what the messages take. A language with one kind of
    /// number writes 1 for both: then it is a token.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Shares;

        impl Visitor<'_> for Shares {
            type Value = TokenBudget;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a number of tokens (a whole number, 1 or more) or a part of what the messages take (above 0 and below 1)",
                )
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<TokenBudget, E> {
                let tokens = u32::try_from(number).ok().filter(|tokens| *tokens > 0);
                tokens.map(TokenBudget::Tokens).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_f64<E: Error>(self, part: f64) -> Result<TokenBudget, E> {
                let is_part = part > 0.0 && part <= 1.0;
                if is_part {
                    Ok(TokenBudget::Share(part))
                } else {
                    Err(E::invalid_value(Unexpected::Float(part), &self))
                }
            }
        }

        from.deserialize_any(Shares).map(|share| Self(Some(share)))
    }
}
