//! The calls of a model, read from their arguments.

use crate::live::{ModelRequest, RequiredContent};
use epitome_recall::{Query, Source};
use serde_json::{Map, Value};

use super::tools::{COMPACT_CONTEXT, CONTEXT_STATUS, RECALL, SEARCH_HISTORY, SESSION};

/// Characters that one `recall` returns: as many as a page of found passages.
pub const RECALLED_CHARACTERS: usize = 9_000;

/// The most characters of one `recall`.
const MOST_CHARACTERS: usize = 100_000;

/// A call of one of the tools.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// `search_history`.
    Search(Query),
    /// `recall`.
    Recall {
        /// A handle, or `#` and a message's number.
        handle: String,
        /// The character to begin at.
        offset: usize,
        /// Characters at most.
        limit: usize,
    },
    /// `context_status`.
    Status,
    /// `compact_context`.
    Compact(ModelRequest),
}

impl Call {
    /// Reads a call. The error is a sentence for the model: what is wrong and what is right. Models are inexact, so a
    /// single text counts as a list of one, and a number in quotes as the number.
    pub fn read(tool: &str, arguments: &Map<String, Value>) -> Result<Self, String> {
        let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
        match tool {
            SEARCH_HISTORY => {
                let words = match given("queries").or_else(|| given("query")).or_else(|| given("words")) {
                    Some(value) => read_strings("queries", value)?,
                    None => Vec::new(),
                };
                let words: Vec<String> =
                    words.iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
                let newest = given("newest").map_or(Ok(false), |value| read_truth("newest", value))?;
                let from = given("from").map_or(Ok(Vec::new()), |value| read_strings("from", value))?;
                let from = from.iter().map(|name| name.parse::<Source>()).collect::<Result<_, _>>();
                let from: Vec<Source> = from.map_err(|error| format!("`from`: {error}"))?;
                if words.is_empty() && from.is_empty() && !newest {
                    return Err(
                        "`queries` is missing: pass the question, and likely identifiers, as a list of texts".into()
                    );
                }
                let page = given("page").map_or(Ok(0), |value| read_number("page", value))?;
                let query = Query { words, from, newest, page, ..Query::default() };
                query.check().map_err(|problem| format!("{problem}."))?;
                Ok(Self::Search(query))
            }
            RECALL => {
                let missing =
                    "`handle` is missing: pass the handle that a mark or a passage names, or #NUMBER of a message";
                let handle = given("handle").ok_or(missing)?;
                let handle = match handle {
                    Value::Number(number) => format!("#{number}"),
                    other => read_string("handle", other)?,
                };
                let handle = handle.trim().trim_start_matches("recall ").trim().to_owned();
                if handle.is_empty() {
                    return Err(missing.to_owned());
                }
                let offset = given("offset").map_or(Ok(0), |value| read_number("offset", value))?;
                let limit = given("limit").map_or(Ok(RECALLED_CHARACTERS), |value| read_number("limit", value))?;
                Ok(Self::Recall { handle, offset, limit: limit.clamp(1, MOST_CHARACTERS) })
            }
            CONTEXT_STATUS => Ok(Self::Status),
            COMPACT_CONTEXT => {
                let text = |name: &str| {
                    let given = given(name).map(|value| read_string(name, value)).transpose()?;
                    let given = given.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
                    given.ok_or_else(|| format!("`{name}` is missing: say in a sentence what it is"))
                };
                let (reason, next_step) = (text("reason")?, text("next_step")?);
                let keep = given("keep").map_or(Ok(Vec::new()), read_needed)?;
                ModelRequest::new(reason, next_step, keep).map(Self::Compact)
            }
            other => {
                let known =
                    format!("{SEARCH_HISTORY}, {RECALL}, {CONTEXT_STATUS}, and {COMPACT_CONTEXT} where it can be done");
                Err(format!("there is no tool `{other}`: there are {known}"))
            }
        }
    }

    /// Whether it looks up what was said.
    pub fn is_lookup(&self) -> bool {
        matches!(self, Self::Search(_) | Self::Recall { .. })
    }

    /// Reads a call from arguments as JSON text, the form in which providers deliver them.
    pub fn read_text(tool: &str, arguments: &str) -> Result<Self, String> {
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(arguments)) => Self::read(tool, &arguments),
            _ => Err("the arguments are not a JSON object".to_owned()),
        }
    }
}

/// Returns the session that a call names, where it names one.
pub fn session_of(arguments: &Map<String, Value>) -> Result<Option<String>, String> {
    arguments.get(SESSION).filter(|value| !value.is_null()).map(|value| read_string(SESSION, value)).transpose()
}

/// Numbers of messages, with or without `#` where they are numbers of JSON, and exact texts.
fn read_needed(value: &Value) -> Result<Vec<RequiredContent>, String> {
    let one = |value: &Value| match value {
        Value::Number(number) => {
            number.to_string().parse().map(RequiredContent::Messages).map_err(|error| format!("{error}"))
        }
        Value::String(text) => text.parse(),
        other => Err(format!("`keep` is a list of message numbers and texts, not {other}")),
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        other => Ok(vec![one(other)?]),
    }
}

fn read_string(name: &str, value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is a text, not {value}"))
}

fn read_strings(name: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|item| read_string(name, item)).collect(),
        other => Err(format!("`{name}` is a list of texts, not {other}")),
    }
}

fn read_truth(name: &str, value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        Value::String(text) if text == "true" || text == "false" => Ok(text == "true"),
        other => Err(format!("`{name}` is true or false, not {other}")),
    }
}

fn read_number(name: &str, value: &Value) -> Result<usize, String> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64().and_then(|number| usize::try_from(number).ok()),
    };
    number.ok_or_else(|| format!("`{name}` is a whole number from 0, not {value}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_models_pass() {
        let check = |tool: &str, arguments: &str, expect: Result<Call, &str>| match (
            Call::read_text(tool, arguments),
            expect,
        ) {
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (got, expect) => assert_eq!(got, expect.map_err(str::to_owned), "{arguments}"),
        };
        let search =
            |words: &[&str]| Query { words: words.iter().map(ToString::to_string).collect(), ..Query::default() };
        check(SEARCH_HISTORY, r#"{"queries": ["why?", " a_b "]}"#, Ok(Call::Search(search(&["why?", "a_b"]))));
        check(SEARCH_HISTORY, r#"{"query": "why?", "from": null}"#, Ok(Call::Search(search(&["why?"]))));
        let all = Query { from: vec![Source::User, Source::File], newest: true, page: 2, ..search(&["x"]) };
        check(
            SEARCH_HISTORY,
            r#"{"queries": "x", "from": ["user", "file"], "newest": "true", "page": "2"}"#,
            Ok(Call::Search(all)),
        );
        check(SEARCH_HISTORY, r#"{"newest": true}"#, Ok(Call::Search(Query { newest: true, ..search(&[]) })));
        check(SEARCH_HISTORY, "", Err("`queries` is missing"));
        check(SEARCH_HISTORY, r#"{"queries": [" "]}"#, Err("`queries` is missing"));
        check(SEARCH_HISTORY, r#"{"queries": 7}"#, Err("list of texts"));
        check(SEARCH_HISTORY, r#"{"queries": "x", "from": "me"}"#, Err("is not one of user, assistant"));
        check(SEARCH_HISTORY, r#"{"queries": "x", "page": -1}"#, Err("whole number"));
        check(SEARCH_HISTORY, r#"{"queries": "x", "page": 20}"#, Err("20 pages at most"));
        let last = Query { page: 19, ..search(&["x"]) };
        check(SEARCH_HISTORY, r#"{"queries": "x", "page": 19}"#, Ok(Call::Search(last)));
        let of_user = Query { from: vec![Source::User], ..search(&[]) };
        check(SEARCH_HISTORY, r#"{"from": "user"}"#, Ok(Call::Search(of_user)));
        check(SEARCH_HISTORY, &format!(r#"{{"queries": "{}"}}"#, "x".repeat(2_001)), Err("at most"));
        check(SEARCH_HISTORY, r#"{"queries": "x""#, Err("not a JSON object"));
        let recall = |handle: &str, offset, limit| Ok(Call::Recall { handle: handle.to_owned(), offset, limit });
        check(RECALL, r#"{"handle": "0a1b"}"#, recall("0a1b", 0, 9_000));
        check(RECALL, r##"{"handle": "recall #37", "offset": 5, "limit": 900000}"##, recall("#37", 5, 100_000));
        check(RECALL, r#"{"handle": 37, "limit": 0}"#, recall("#37", 0, 1));
        check(RECALL, r#"{"handle": ""}"#, Err("`handle` is missing"));
        check(CONTEXT_STATUS, "{}", Ok(Call::Status));
        let next_step = "the docs".to_owned();
        let keep = vec![
            RequiredContent::Messages("#3-#4".parse().unwrap()),
            RequiredContent::Text("port 8080".to_owned()),
            RequiredContent::Messages("#7".parse().unwrap()),
        ];
        check(
            COMPACT_CONTEXT,
            r##"{"reason": "tests pass", "next_step": "the docs", "keep": ["#3-#4", "port 8080", 7]}"##,
            Ok(Call::Compact(ModelRequest { reason: "tests pass".to_owned(), next_step, keep, has_open_calls: false })),
        );
        check(COMPACT_CONTEXT, r#"{"reason": "tests pass"}"#, Err("`next_step` is missing"));
        check(COMPACT_CONTEXT, r#"{"reason": "x", "next_step": "y", "keep": [{}]}"#, Err("message numbers and texts"));
        check(COMPACT_CONTEXT, r#"{"reason": "x", "next_step": "y", "keep": [1,2,3,4,5,6,7,8,9]}"#, Err("8 at most"));
        check("forget", "{}", Err("there is no tool `forget`"));
    }
}
