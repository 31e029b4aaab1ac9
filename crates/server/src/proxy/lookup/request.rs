//! Requests with our tools in them, and with lookups at their end. All else stays byte for byte.

use std::collections::BTreeMap;

use axum::body::Bytes;
use epitome::formats::Format;
use epitome_fit::conversation::Outline;
use epitome_mcp::tools::{self, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::proxy::incoming::Incoming;
use crate::proxy::state::Proxy;

/// A request that our tools can be added to.
#[derive(Debug)]
pub(super) struct ToolRequest {
    format: Format,
    /// The request as it is sent without our tools.
    pub(super) plain: Bytes,
    /// The request with our tools.
    offering: Bytes,
    /// The same, where the model must not call them any more.
    closing: Bytes,
    /// Our tools in it.
    pub(super) names: Vec<&'static str>,
    /// Whether the provider keeps its answers, so that they may be named by id.
    pub(super) is_stored: bool,
}

impl ToolRequest {
    /// Adds our tools to a request. `None` where that is not possible: it has a tool of the same name, several answers are
    /// asked for, or it names tools in the old form. Linear in the request.
    pub(super) fn new(format: Format, plain: &Bytes) -> Option<Self> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(plain).ok()?;
        let number = |name: &str| fields.get(name).and_then(|json| json.get().parse::<u32>().ok());
        if number("n").is_some_and(|n| n > 1) || fields.contains_key("functions") {
            return None;
        }
        let given = GivenTools::read(format, &fields)?;
        let ours = [tools::search_history(), tools::recall()]
            .into_iter()
            .filter(|tool| !given.names.iter().any(|it| it == tool.name));
        let (names, defined): (Vec<&'static str>, Vec<String>) =
            ours.map(|tool| (tool.name, tool_definition(format, tool).to_string())).unzip();
        if !names.contains(&tools::SEARCH_HISTORY) {
            return None;
        }
        let defined = defined.join(",");
        let (offering, closing) = match given.list {
            Some(list) => {
                let longer = format!("{},{defined}]", list.get().trim_end().strip_suffix(']')?.trim_end());
                // The client's own tools stay, and its choice of them: the model continues with them.
                (replaced(plain, list, &longer), plain.to_vec())
            }
            None => {
                let list = if format == Format::Gemini {
                    format!(r#"[{{"functionDeclarations":[{defined}]}}]"#)
                } else {
                    format!("[{defined}]")
                };
                let offering = match fields.get("tools") {
                    Some(none) => replaced(plain, none, &list),
                    None => with_field(plain, "tools", &list)?,
                };
                let closing = without_choice(format, &offering)?;
                (offering, closing)
            }
        };
        let is_stored = fields.get("store").is_none_or(|json| json.get() != "false");
        Some(Self {
            format,
            plain: plain.clone(),
            offering: Bytes::from(offering),
            closing: Bytes::from(closing),
            names,
            is_stored,
        })
    }

    /// The request with `steps` at the end of its messages; with our tools where `may_ask`.
    pub(super) fn with_steps(&self, steps: &[String], may_ask: bool) -> Option<Bytes> {
        let body = if may_ask { &self.offering } else { &self.closing };
        if steps.is_empty() {
            return Some(body.clone());
        }
        let end = Outline::read(body, self.format).ok()?.items.last()?.end;
        Some(Bytes::from([&body[..end], b",", steps.join(",").as_bytes(), &body[end..]].concat()))
    }
}

/// The tools that a request has already.
struct GivenTools<'a> {
    names: Vec<String>,
    /// The list that ours are added to; `None` where there is none, or nothing in it.
    list: Option<&'a RawValue>,
}

impl<'a> GivenTools<'a> {
    /// `None` where ours cannot be added: beside something that is no list, or beside Google's own tools alone.
    fn read(format: Format, fields: &BTreeMap<String, &'a RawValue>) -> Option<Self> {
        let Some(tools) = fields.get("tools").filter(|tools| tools.get() != "null") else {
            return Some(Self { names: Vec::new(), list: None });
        };
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        let names = |list: &RawValue| -> Option<Vec<String>> {
            let tools: Vec<Value> = serde_json::from_str(list.get()).ok()?;
            Some(tools.iter().filter_map(name).collect())
        };
        let given: Vec<&'a RawValue> = serde_json::from_str(tools.get()).ok()?;
        if given.is_empty() {
            return Some(Self { names: Vec::new(), list: None });
        }
        if format != Format::Gemini {
            return Some(Self { names: names(tools)?, list: Some(tools) });
        }
        let mut found = Self { names: Vec::new(), list: None };
        for tool in given {
            let tool: BTreeMap<String, &'a RawValue> = serde_json::from_str(tool.get()).ok()?;
            let lists = ["functionDeclarations", "function_declarations"];
            let Some(list) = lists.iter().find_map(|name| tool.get(*name)) else { continue };
            let known = names(list)?;
            found.list = if known.is_empty() { found.list } else { Some(list) };
            found.names.extend(known);
        }
        found.list.is_some().then_some(found)
    }
}

/// A body with other text in the place of a part of it.
fn replaced(body: &[u8], part: &RawValue, text: &str) -> Vec<u8> {
    let start = part.get().as_ptr() as usize - body.as_ptr() as usize;
    [&body[..start], text.as_bytes(), &body[start + part.get().len()..]].concat()
}

/// A tool as a provider's request has it.
fn tool_definition(format: Format, tool: Tool) -> Value {
    let Tool { name, description, schema } = tool;
    match format {
        Format::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
        // Google's `parameters` take a part of JSON Schema only.
        Format::Gemini => json!({"name": name, "description": description, "parametersJsonSchema": schema}),
        Format::OpenaiResponses => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
        }
        _ => json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}}),
    }
}

/// A request whose model may not call a tool: a history with calls in it needs the tools defined all the same.
///
/// Removes the client's tool choice: without tools of its own it had nothing to choose from, and the model would be
/// free to call one of ours again.
fn without_choice(format: Format, body: &[u8]) -> Option<Vec<u8>> {
    let (names, none): (&[&str], _) = match format {
        Format::Anthropic => (&["tool_choice"], r#"{"type":"none"}"#),
        Format::Gemini => (&["toolConfig", "tool_config"], r#"{"functionCallingConfig":{"mode":"NONE"}}"#),
        _ => (&["tool_choice"], "\"none\""),
    };
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).ok()?;
    match names.iter().find_map(|name| fields.get(*name)) {
        Some(choice) => Some(replaced(body, choice, none)),
        None => with_field(body, names[0], none),
    }
}

/// A JSON object with one more field at its end.
fn with_field(body: &[u8], name: &str, json: &str) -> Option<Vec<u8>> {
    let end = body.iter().rposition(|byte| *byte == b'}')?;
    let field = format!(r#","{name}":{json}"#);
    Some([&body[..end], field.as_bytes(), &body[end..]].concat())
}

/// Whether a request has to define our tools, also where they may not be called: its history has calls of them. Google
/// does not ask for that.
pub(super) fn needs_tools(incoming: &Incoming) -> bool {
    incoming.woven_at.is_some() && incoming.format != Format::Gemini
}

/// The request `body` with our tools, where they are added to the requests of its conversation; else `body` itself.
pub(crate) fn offer_tools(proxy: &Proxy, incoming: &Incoming, body: Bytes) -> Bytes {
    if !proxy.runtime().proxy_recall || !(incoming.takes_tools || needs_tools(incoming)) {
        return body;
    }
    ToolRequest::new(incoming.format, &body).and_then(|asking| asking.with_steps(&[], true)).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tools_are_added_and_all_else_stays() {
        let check = |format, body: &str, expect: Option<(&str, &str, usize)>| {
            let asking = ToolRequest::new(format, &Bytes::copy_from_slice(body.as_bytes()));
            let Some((before, behind, tools)) = expect else {
                return assert!(asking.is_none(), "{body}");
            };
            let asking = asking.unwrap();
            let offering = String::from_utf8(asking.with_steps(&[], true).unwrap().to_vec()).unwrap();
            assert!(offering.starts_with(before) && offering.ends_with(behind), "{offering}");
            let value: Value = serde_json::from_str(&offering).unwrap();
            assert_eq!(value["tools"].as_array().unwrap().len(), tools, "{offering}");
            let steps = ["{\"step\":1}".to_owned(), "{\"step\":2}".to_owned()];
            let value: Value = serde_json::from_slice(&asking.with_steps(&steps, true).unwrap()).unwrap();
            let list = match format {
                Format::OpenaiResponses => &value["input"],
                Format::Gemini => &value["contents"],
                _ => &value["messages"],
            };
            let list = list.as_array().unwrap();
            assert_eq!(list[list.len() - 2..], [json!({"step": 1}), json!({"step": 2})]);
        };
        let bare = "{\"messages\": [ {\"role\":\"user\"} ] } ";
        check(Format::OpenaiChat, bare, Some(("{\"messages\": [ {\"role\":\"user\"} ] ,\"tools\":[", "} ", 2)));
        let tools = "{\"tools\": [ {\"name\": \"bash\"} ],\"messages\":[{}], \"x\":1}";
        check(
            Format::Anthropic,
            tools,
            Some(("{\"tools\": [ {\"name\": \"bash\"},{", "],\"messages\":[{}], \"x\":1}", 3)),
        );
        check(
            Format::OpenaiResponses,
            r#"{"tools":null,"input":[{}]}"#,
            Some((r#"{"tools":[{"#, r#"],"input":[{}]}"#, 2)),
        );
        check(Format::OpenaiResponses, r#"{"tools":[],"input":[{}]}"#, Some((r#"{"tools":[{"#, "}", 2)));
        let own_recall = r#"{"tools":[{"function":{"name":"recall"}}],"messages":[{}]}"#;
        check(Format::OpenaiChat, own_recall, Some(("", "", 2)));
        check(Format::OpenaiChat, r#"{"tools":[{"function":{"name":"search_history"}}],"messages":[{}]}"#, None);
        check(Format::OpenaiChat, r#"{"messages":[{}],"n":2}"#, None);
        check(Format::OpenaiChat, r#"{"messages":[{}],"functions":[]}"#, None);
        check(Format::OpenaiChat, r#"{"messages":[{}],"tools":7}"#, None);
        let own =
            r#"{"tools": [ {"googleSearch": {}}, {"functionDeclarations": [ {"name": "bash"} ]} ],"contents":[{}]}"#;
        let (start, end) = (
            r#"{"tools": [ {"googleSearch": {}}, {"functionDeclarations": [ {"name": "bash"},{"#,
            "]} ],\"contents\":[{}]}",
        );
        check(Format::Gemini, own, Some((start, end, 2)));
        check(
            Format::Gemini,
            r#"{"contents":[{}]}"#,
            Some((r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"#, "]}]}", 1)),
        );
        check(Format::Gemini, r#"{"contents":[{}],"tools":[{"googleSearch":{}}]}"#, None);
        check(
            Format::Gemini,
            r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"search_history"}]}]}"#,
            None,
        );
    }

    #[test]
    fn the_last_request_offers_nothing() {
        let last = |format, body: &str| -> Value {
            let asking = ToolRequest::new(format, &Bytes::copy_from_slice(body.as_bytes())).unwrap();
            serde_json::from_slice(&asking.with_steps(&["{}".to_owned()], false).unwrap()).unwrap()
        };
        let body = last(Format::Anthropic, r#"{"messages":[{}]}"#);
        assert_eq!(body["tool_choice"], json!({"type": "none"}), "a history with calls needs its tools");
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
        // A choice without tools of its own is none; with them it stays.
        for body in [
            r#"{"tool_choice":{"type":"auto"},"messages":[{}]}"#,
            r#"{"tool_choice":null,"tools":[],"messages":[{}]}"#,
            r#"{"tools":null,"messages":[{}],"tool_choice": {"type":"any"} }"#,
        ] {
            let body = last(Format::Anthropic, body);
            assert_eq!(body["tool_choice"], json!({"type": "none"}), "{body}");
            assert_eq!(body["tools"].as_array().unwrap().len(), 2, "{body}");
        }
        let body = last(Format::OpenaiResponses, r#"{"tool_choice":"auto","tools":[],"input":[{}]}"#);
        assert_eq!(body["tool_choice"], "none");
        let body =
            last(Format::OpenaiResponses, r#"{"tool_choice":"auto","tools":[{"type":"web_search"}],"input":[{}]}"#);
        assert_eq!((body["tools"].as_array().unwrap().len(), &body["tool_choice"]), (1, &json!("auto")));
        let body = last(Format::Gemini, r#"{"contents":[{}],"tool_config":{"x":1}}"#);
        assert_eq!(body["tool_config"]["functionCallingConfig"]["mode"], "NONE");
        assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 2);
        let body = last(Format::Gemini, r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"bash"}]}]}"#);
        assert_eq!(
            (body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), body.get("toolConfig")),
            (1, None)
        );
        let body = last(Format::OpenaiChat, r#"{"messages":[{}],"tools":[{"function":{"name":"bash"}}]}"#);
        assert_eq!((body["tools"].as_array().unwrap().len(), body.get("tool_choice")), (1, None));
    }
}
