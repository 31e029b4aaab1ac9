//! Reads the options of a call. The error of a wrong one has its name, what it takes, and what came.

use epitome::strategy::nearest;
use serde::Deserialize;

use crate::Failure;

/// Reads the options of a call.
///
/// # Errors
///
/// The first option that is wrong.
pub fn read_options<'de, O: Deserialize<'de>>(options: &'de str) -> Result<O, Failure> {
    let mut json = serde_json::Deserializer::from_str(options);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, text) = (error.path().to_string(), error.into_inner().to_string());
        // The place in a text that the caller never saw says nothing.
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        let missing = || text.strip_prefix("missing field ").map(|name| format!("{name} is missing"));
        let problem = unknown_field(text).or_else(missing).or_else(|| wrong_value(&path, text));
        Failure::config(problem.unwrap_or_else(|| match &*path {
            "." => text.to_owned(),
            _ => format!("`{path}`: {text}"),
        }))
    })
}

/// Internal options of the packages, left out of error messages and declarations.
pub(crate) const INTERNAL_OPTIONS: [&str; 9] =
    ["engine", "configName", "handle", "objects", "once", "of", "overflow", "target", "words"];

/// Returns the error of an option that a call does not have, from serde's; `None` if that is another error.
fn unknown_field(text: &str) -> Option<String> {
    let mut quoted = text.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    let known: Vec<&str> = quoted.filter(|name| !INTERNAL_OPTIONS.contains(name)).collect();
    Some(unknown_option(wrong, &known))
}

/// Returns the error of an option that is none of the known.
pub(super) fn unknown_option(wrong: &str, known: &[&str]) -> String {
    let help = match nearest(wrong, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    format!("there is no option `{wrong}`; {help}")
}

/// The most characters of a wrong text that its error shows.
const MOST_SHOWN: usize = 60;

/// Returns the error of a wrong value, from serde's; `None` if that is another error.
fn wrong_value(path: &str, text: &str) -> Option<String> {
    let (found, takes) = text.strip_prefix("invalid ")?.rsplit_once(", expected ")?;
    // type: integer `5`; value: 5; length 5
    let found = found.split_once(": ").map_or_else(|| found.trim_start_matches("length "), |(_, found)| found);
    let takes = match takes {
        "a string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        takes => takes,
    };
    let shown = match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "Option value" | "unit value" => "null".to_owned(),
        found if found.starts_with("string ") => {
            let text: String = found["string ".len()..].chars().take(MOST_SHOWN + 2).collect();
            if text.len() < found.len() - "string ".len() { format!("{text}…\"") } else { text }
        }
        // integer `5`
        found => found.split('`').nth(1).unwrap_or(found).to_owned(),
    };
    Some(format!("`{path}` takes {takes}, not {shown}"))
}
