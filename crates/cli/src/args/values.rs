//! Values of arguments: how each is written.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use epitome::recall::message_number;
use epitome::session::heading::ungroup_digits;
use epitome::strategy::Named;

/// One value of a closed list, by its name.
pub(super) fn name_parser<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::names()).try_map(|name| T::from_name(&name))
}

/// The room for the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BudgetArg {
    /// So many tokens.
    Tokens(u32),
    /// A share of what they take now, above 0 and at most 1.
    Share(f64),
}

impl BudgetArg {
    /// In tokens, for messages that take `now`; 1 at least.
    pub(crate) fn tokens(self, now: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => ((f64::from(now) * share) as u32).max(1),
        }
    }
}

pub(super) fn budget(text: &str) -> Result<BudgetArg, String> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        let wrong =
            "takes a whole number of tokens, such as 32000, 32,000 or 32k, or a share of the session, such as 30%";
        return tokens(text).map(BudgetArg::Tokens).map_err(|problem| match problem.starts_with("takes a whole") {
            true => wrong.to_owned(),
            false => problem,
        });
    };
    let percent = percent.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let share = percent.map(|percent| BudgetArg::Share(percent / 100.0));
    share.ok_or_else(|| "takes a share above 0 and up to 100 %, such as 30%".to_owned())
}

/// A number of tokens, 1 or more, with an optional `k` or `m`. Separators only between thousands: `1,5` is a typo and
/// not 15.
pub(super) fn tokens(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.trim().to_ascii_lowercase() {
        lower if lower.ends_with('k') => (lower[..lower.len() - 1].to_owned(), 1_000),
        lower if lower.ends_with('m') => (lower[..lower.len() - 1].to_owned(), 1_000_000),
        lower => (lower, 1),
    };
    if digits.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok()) {
        return Err("takes 1 token or more".to_owned());
    }
    let Some(digits) = ungroup_digits(&digits) else {
        return Err("takes a whole number of tokens, such as 32000, 32,000 or 32k".to_owned());
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match number.map(u32::try_from) {
        Some(Ok(0)) => Err("takes 1 token or more".to_owned()),
        Some(Ok(tokens)) => Ok(tokens),
        Some(Err(_)) | None => Err(format!("is more than the {} tokens that can be counted", u32::MAX)),
    }
}

/// The number of a message, as reports write it or without the sign.
pub(super) fn message(text: &str) -> Result<u32, String> {
    message_number(text).ok_or_else(|| "takes a message's number, such as 153 or '#153'".to_owned())
}
