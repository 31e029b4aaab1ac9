//! A request's body, looked at once, from its beginning to its end: its fields, and the messages in its list.

use std::ops::Range;

use serde_json::error::Category;

use crate::Wire;
use crate::json::{Object, offset};

/// Fields that say that the provider keeps the messages in front of these. OpenAI's and Google's.
const ELSEWHERE: [&str; 4] = ["previous_response_id", "conversation", "cachedContent", "cached_content"];

/// A request's body with its messages, or items, apart.
#[derive(Debug, Clone)]
pub struct RequestBody<'a> {
    bytes: &'a [u8],
    wire: Wire,
    /// The fields. The list is among them.
    pub fields: Object<'a>,
    /// The messages, or items, each as JSON; `None` where the request has no list of them.
    pub items: Option<Vec<&'a str>>,
}

impl<'a> RequestBody<'a> {
    /// Reads a body. Linear, in one pass where it has messages.
    ///
    /// # Errors
    ///
    /// A code: it is not JSON, or not an object with each field once.
    pub fn read(bytes: &'a [u8], wire: Wire) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(bytes).map_err(|_| "not-json")?;
        let list = wire.list_field();
        let (fields, items) = match Object::parse_with_items(text, &[list]) {
            Some((fields, items)) => (fields, Some(items)),
            None => {
                let fields: Object<'_> = serde_json::from_str(text).map_err(|error| match error.classify() {
                    Category::Data => "not-understood",
                    Category::Io | Category::Syntax | Category::Eof => "not-json",
                })?;
                let items = fields.list(list);
                (fields, items)
            }
        };
        if fields.is_distinct() { Ok(Self { bytes, wire, fields, items }) } else { Err("not-understood") }
    }

    /// Where the parts of the body are. An error is a code: why the request is not one that can be fitted.
    pub fn outline(&self) -> Result<Outline, &'static str> {
        let fields = &self.fields;
        if ELSEWHERE.iter().any(|name| fields.is_given(name)) {
            return Err("history-at-the-provider");
        }
        let place = |json: &str| place_in(self.bytes, json);
        let items = match &self.items {
            Some(items) => items.iter().map(|item| place(item)).collect(),
            None if fields.get(self.wire.list_field()).is_some_and(|list| list.starts_with('"')) => {
                return Err("one-text");
            }
            None => return Err("not-understood"),
        };
        Ok(Outline {
            items,
            system: fields.either(self.wire.system_fields()).map(place),
            tools: fields.either(&["tools", "functions"]).map(place),
            model: fields.get("model").and_then(|json| serde_json::from_str(json).ok()),
            answer_tokens: self.wire.answer_tokens(fields).unwrap_or(0),
            takes_tools: self.wire.takes_tools(fields),
        })
    }
}

/// A request's body in pieces, each as its place in the body.
#[derive(Debug)]
pub struct Outline {
    /// The messages or items.
    pub items: Vec<Range<usize>>,
    /// The system prompt that is beside the messages.
    pub system: Option<Range<usize>>,
    /// The definitions of tools.
    pub tools: Option<Range<usize>>,
    /// The model that is asked for.
    pub model: Option<String>,
    /// Tokens that the answer may take; 0 where the request does not say.
    pub answer_tokens: u32,
    /// Whether the model may call a tool that is added to the request.
    pub takes_tools: bool,
}

impl Outline {
    /// Looks at a body once. An error is a code: why the request is not one that can be fitted.
    pub fn read(body: &[u8], wire: Wire) -> Result<Self, &'static str> {
        RequestBody::read(body, wire)?.outline()
    }
}

/// The place of a part of a text in it.
pub fn place_in(text: &[u8], part: &str) -> Range<usize> {
    let start = offset(text, part);
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_seen_from_outside() {
        let body = r#" {"model" : "m\u0031", "messages": [ {"role":"user"} ,7,"x" ], "tools":[], "system":null,
            "max_tokens":null,"max_completion_tokens":12, "other": {"messages": 1}}"#;
        let check = |wire: Wire, body: &str, items: &[&str]| {
            let outline = Outline::read(body.as_bytes(), wire).unwrap();
            let found: Vec<&str> = outline.items.iter().map(|at| &body[at.clone()]).collect();
            assert_eq!(found, items, "{body}");
            outline
        };
        let seen = check(Wire::Anthropic, body, &[r#"{"role":"user"}"#, "7", "\"x\""]);
        assert_eq!((seen.model.as_deref(), seen.answer_tokens, seen.system), (Some("m1"), 12, None));
        assert_eq!(&body[seen.tools.unwrap()], "[]");
        let items = r#"{"input": [1], "messages": [2], "instructions": "i", "max_output_tokens": 5}"#;
        let seen = check(Wire::OpenaiResponses, items, &["1"]);
        assert_eq!((&items[seen.system.unwrap()], seen.answer_tokens), ("\"i\"", 5));
    }

    #[test]
    fn when_a_function_can_be_added() {
        let check = |fields: &str, expect: bool| {
            let body = format!(r#"{{"contents": [{{}}]{fields}}}"#);
            assert_eq!(Outline::read(body.as_bytes(), Wire::Gemini).unwrap().takes_tools, expect, "{body}");
        };
        let functions = r#","tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "bash"}]}]"#;
        check("", true);
        check(r#","tools": [], "toolConfig": {}, "generationConfig": {"temperature": 1}"#, true);
        check(functions, true);
        check(r#","tools": [{"function_declarations": [{"name": "bash"}]}]"#, true);
        check(r#","tools": [{"googleSearch": {}}]"#, false);
        check(r#","tools": [{"functionDeclarations": []}]"#, false);
        check(r#","tools": 7"#, false);
        for (mode, expect) in [("NONE", false), ("AUTO", true), ("ANY", true)] {
            check(&format!(r#"{functions},"toolConfig": {{"functionCallingConfig": {{"mode": "{mode}"}}}}"#), expect);
        }
        let some =
            r#","tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["bash"]}}"#;
        check(&format!("{functions}{some}"), false);
        check(r#","generationConfig": {"candidateCount": 2}"#, false);
        let form = r#","generationConfig": {"responseMimeType": "application/json"}"#;
        check(form, false);
        check(&format!("{functions}{form}"), true);
        check(r#","generation_config": {"response_mime_type": "text/plain"}"#, true);
    }

    #[test]
    fn what_is_none_of_our_business() {
        let check = |body: &str, expect: &str| {
            assert_eq!(Outline::read(body.as_bytes(), Wire::OpenaiChat).err(), Some(expect), "{body}")
        };
        check("", "not-json");
        check("{\"messages\": [", "not-json");
        check("{} {}", "not-json");
        for none in ["[7]", "{}", r#"{"messages": {"a": [1]}}"#, r#"{"messages": -1.5}"#, r#"{"input": []}"#] {
            check(none, "not-understood");
        }
        check(r#"{"messages": "x\n"}"#, "one-text");
        check("{\"messages\": [], \"messages\": []}", "not-understood");
        check("{\"conversation\": \"c\"}", "history-at-the-provider");
        check("{\"previous_response_id\": \"r\", \"input\": []}", "history-at-the-provider");
    }
}
