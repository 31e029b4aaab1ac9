//! Values of arguments: how each is written.

pub(super) use epitome::amount::{tokens, tokens_or_share};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use epitome::recall::message_number;
use epitome::strategy::Named;

/// One value of a closed list, by its name.
pub(super) fn name_parser<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::names()).try_map(|name| T::from_name(&name))
}

/// The number of a message, as reports write it or without the sign.
pub(super) fn message(text: &str) -> Result<u32, String> {
    message_number(text).ok_or_else(|| "takes a message's number, such as 153 or '#153'".to_owned())
}
