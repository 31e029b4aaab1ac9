//! Amounts as a person writes them, on a command line or in a list of budgets: `32000`, `32,000`, `32k`, `30%`, `0.3`.

use epitome_engine::Threshold;
use epitome_session::heading::ungroup_digits;

/// Reads tokens, or a share of what there is: `32k` and `30%` and `0.3`. The error says what is taken.
///
/// ```
/// use epitome_config::amount::tokens_or_share;
/// use epitome_engine::Threshold;
///
/// assert_eq!(tokens_or_share("32k"), Ok(Threshold::Tokens(32_000)));
/// assert_eq!(tokens_or_share("30%"), tokens_or_share("0.3"));
/// assert!(tokens_or_share("1.5").is_err());
/// ```
pub fn tokens_or_share(text: &str) -> Result<Threshold, String> {
    let is_share = text.trim().ends_with('%') || text.trim().contains('.');
    if is_share {
        return share(text).map(Threshold::Share);
    }
    tokens(text).map(Threshold::Tokens).map_err(|problem| match problem.starts_with("takes a whole") {
        true => format!("{problem}, or a share, such as 30% or 0.3"),
        false => problem,
    })
}

/// Reads a share above 0 and up to the whole: `30%` or `0.3`.
pub fn share(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let share = number.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "takes a share above 0 and up to 100 %, such as 30% or 0.3".to_owned())
}

/// Reads a number of tokens, 1 or more, with an optional `k` or `m`. Separators only between thousands: `1,5` is a typo and
/// not 15.
pub fn tokens(text: &str) -> Result<u32, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_people_write_them() {
        let check = |text: &str, expect: Result<Threshold, &str>| match (tokens_or_share(text), expect) {
            (Ok(read), Ok(expect)) => assert_eq!(read, expect, "{text}"),
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{text}: {problem}"),
            (read, expect) => assert_eq!(read.is_ok(), expect.is_ok(), "{text}: {read:?}"),
        };
        check("32000", Ok(Threshold::Tokens(32_000)));
        check("32,000", Ok(Threshold::Tokens(32_000)));
        check("2m", Ok(Threshold::Tokens(2_000_000)));
        check("1", Ok(Threshold::Tokens(1)));
        check("30%", Ok(Threshold::Share(0.3)));
        check(" 12.5 %", Ok(Threshold::Share(0.125)));
        check("0.3", Ok(Threshold::Share(0.3)));
        check("1.0", Ok(Threshold::Share(1.0)));
        check("1.5", Err("up to 100 %"));
        check("0%", Err("above 0"));
        check("-30%", Err("above 0"));
        check("NaN%", Err("above 0"));
        check("0", Err("1 token or more"));
        check("-5", Err("1 token or more"));
        check("1,5", Err("or a share, such as 30% or 0.3"));
        check("9999999999", Err("can be counted"));
    }
}
