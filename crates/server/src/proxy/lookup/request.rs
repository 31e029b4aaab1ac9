//! Requests with our tools in them, and with lookups at their end. All else stays byte for byte.

use axum::body::Bytes;
use epitome::lookup::tools::{self, Tool};
use epitome::wire::{FunctionTool, GivenTools, Object, Outline, Wire, place_in};

use crate::proxy::incoming::Incoming;
use crate::proxy::state::Proxy;

/// A request that our tools can be added to.
#[derive(Debug)]
pub(super) struct ToolRequest {
    wire: Wire,
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
    pub(super) fn new(wire: Wire, plain: &Bytes) -> Option<Self> {
        let text = std::str::from_utf8(plain).ok()?;
        let fields = Object::parse(text)?;
        if fields.value("n").as_u64().is_some_and(|n| n > 1) || fields.has("functions") {
            return None;
        }
        let given = fields.get("tools").map_or_else(|| Some(GivenTools::default()), |tools| wire.given_tools(tools))?;
        let ours = [tools::search_history(), tools::recall(), tools::compact_context()]
            .into_iter()
            .filter(|tool| !given.names.iter().any(|it| it == tool.name));
        let (names, defined): (Vec<&'static str>, Vec<String>) =
            ours.map(|tool| (tool.name, wire.tool_definition(&function_tool(&tool)).to_string())).unzip();
        if !names.contains(&tools::SEARCH_HISTORY) {
            return None;
        }
        let defined = defined.join(",");
        let (offering, closing) = match given.list {
            Some(list) => {
                let longer = format!("{},{defined}]", list.strip_suffix(']')?.trim_end());
                // The client's own tools stay, and its choice of them: the model continues with them.
                (replaced(text, list, &longer), text.to_owned())
            }
            None => {
                let list = wire.tool_list(&defined);
                // A history with calls in it needs the tools defined where they may not be called either. The client's tool choice
                // goes: without tools of its own it had nothing to choose from.
                let (names, none) = wire.no_calls();
                let of_choice = names.iter().copied().find(|name| fields.has(name)).unwrap_or(names[0]);
                let offering = with_field(text, &fields, "tools", &list)?;
                let closing = with_field(&offering, &Object::parse(&offering)?, of_choice, none)?;
                (offering, closing)
            }
        };
        let is_stored = fields.get("store") != Some("false");
        Some(Self {
            wire,
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
        let end = Outline::read(body, self.wire).ok()?.items.last()?.end;
        Some(Bytes::from([&body[..end], b",", steps.join(",").as_bytes(), &body[end..]].concat()))
    }
}

/// One of our tools, as a request is to define it.
fn function_tool(tool: &Tool) -> FunctionTool<'_> {
    FunctionTool { name: tool.name, description: tool.description, schema: &tool.schema }
}

/// A text with another one in the place of a part of it.
fn replaced(text: &str, part: &str, other: &str) -> String {
    let at = place_in(text.as_bytes(), part);
    [&text[..at.start], other, &text[at.end..]].concat()
}

/// A JSON object with this value in a field: in its place where it has the field, else at its end.
fn with_field(text: &str, fields: &Object<'_>, name: &str, json: &str) -> Option<String> {
    if let Some(known) = fields.raw(name) {
        return Some(replaced(text, known, json));
    }
    let end = text.rfind('}')?;
    Some(format!(r#"{},"{name}":{json}{}"#, &text[..end], &text[end..]))
}

/// Whether a request has to define our tools, also where they may not be called: its history has calls of them. Google
/// does not ask for that.
pub(super) fn needs_tools(incoming: &Incoming) -> bool {
    incoming.woven_at.is_some() && incoming.wire.needs_called_tools()
}

/// The request `body` with our tools, where they are added to the requests of its conversation; else `body` itself.
pub(crate) fn offer_tools(proxy: &Proxy, incoming: &Incoming, body: Bytes) -> Bytes {
    if !proxy.runtime().proxy_recall || !(incoming.takes_tools || needs_tools(incoming)) {
        return body;
    }
    ToolRequest::new(incoming.wire, &body).and_then(|asking| asking.with_steps(&[], true)).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn tools_are_added_and_all_else_stays() {
        let check = |wire: Wire, body: &str, expect: Option<(&str, &str, usize)>| {
            let asking = ToolRequest::new(wire, &Bytes::copy_from_slice(body.as_bytes()));
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
            let list = value[wire.list_field()].as_array().unwrap();
            assert_eq!(list[list.len() - 2..], [json!({"step": 1}), json!({"step": 2})]);
        };
        let bare = "{\"messages\": [ {\"role\":\"user\"} ] } ";
        check(Wire::OpenaiChat, bare, Some(("{\"messages\": [ {\"role\":\"user\"} ] ,\"tools\":[", "} ", 3)));
        let tools = "{\"tools\": [ {\"name\": \"bash\"} ],\"messages\":[{}], \"x\":1}";
        check(
            Wire::Anthropic,
            tools,
            Some(("{\"tools\": [ {\"name\": \"bash\"},{", "],\"messages\":[{}], \"x\":1}", 4)),
        );
        check(
            Wire::OpenaiResponses,
            r#"{"tools":null,"input":[{}]}"#,
            Some((r#"{"tools":[{"#, r#"],"input":[{}]}"#, 3)),
        );
        check(Wire::OpenaiResponses, r#"{"tools":[],"input":[{}]}"#, Some((r#"{"tools":[{"#, "}", 3)));
        let own_recall = r#"{"tools":[{"function":{"name":"recall"}}],"messages":[{}]}"#;
        check(Wire::OpenaiChat, own_recall, Some(("", "", 3)));
        check(Wire::OpenaiChat, r#"{"tools":[{"function":{"name":"search_history"}}],"messages":[{}]}"#, None);
        check(Wire::OpenaiChat, r#"{"messages":[{}],"n":2}"#, None);
        check(Wire::OpenaiChat, r#"{"messages":[{}],"functions":[]}"#, None);
        check(Wire::OpenaiChat, r#"{"messages":[{}],"tools":7}"#, None);
        let own =
            r#"{"tools": [ {"googleSearch": {}}, {"functionDeclarations": [ {"name": "bash"} ]} ],"contents":[{}]}"#;
        let (start, end) = (
            r#"{"tools": [ {"googleSearch": {}}, {"functionDeclarations": [ {"name": "bash"},{"#,
            "]} ],\"contents\":[{}]}",
        );
        check(Wire::Gemini, own, Some((start, end, 2)));
        check(
            Wire::Gemini,
            r#"{"contents":[{}]}"#,
            Some((r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"#, "]}]}", 1)),
        );
        check(Wire::Gemini, r#"{"contents":[{}],"tools":[{"googleSearch":{}}]}"#, None);
        check(
            Wire::Gemini,
            r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"search_history"}]}]}"#,
            None,
        );
    }

    #[test]
    fn the_last_request_offers_nothing() {
        let last = |wire: Wire, body: &str| -> Value {
            let asking = ToolRequest::new(wire, &Bytes::copy_from_slice(body.as_bytes())).unwrap();
            serde_json::from_slice(&asking.with_steps(&["{}".to_owned()], false).unwrap()).unwrap()
        };
        let body = last(Wire::Anthropic, r#"{"messages":[{}]}"#);
        assert_eq!(body["tool_choice"], json!({"type": "none"}), "a history with calls needs its tools");
        assert_eq!(body["tools"].as_array().unwrap().len(), 3);
        // A choice without tools of its own is none; with them it stays.
        for body in [
            r#"{"tool_choice":{"type":"auto"},"messages":[{}]}"#,
            r#"{"tool_choice":null,"tools":[],"messages":[{}]}"#,
            r#"{"tools":null,"messages":[{}],"tool_choice": {"type":"any"} }"#,
        ] {
            let body = last(Wire::Anthropic, body);
            assert_eq!(body["tool_choice"], json!({"type": "none"}), "{body}");
            assert_eq!(body["tools"].as_array().unwrap().len(), 3, "{body}");
        }
        let body = last(Wire::OpenaiResponses, r#"{"tool_choice":"auto","tools":[],"input":[{}]}"#);
        assert_eq!(body["tool_choice"], "none");
        let body =
            last(Wire::OpenaiResponses, r#"{"tool_choice":"auto","tools":[{"type":"web_search"}],"input":[{}]}"#);
        assert_eq!((body["tools"].as_array().unwrap().len(), &body["tool_choice"]), (1, &json!("auto")));
        let body = last(Wire::Gemini, r#"{"contents":[{}],"tool_config":{"x":1}}"#);
        assert_eq!(body["tool_config"]["functionCallingConfig"]["mode"], "NONE");
        assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 3);
        let body = last(Wire::Gemini, r#"{"contents":[{}],"tools":[{"functionDeclarations":[{"name":"bash"}]}]}"#);
        assert_eq!(
            (body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), body.get("toolConfig")),
            (1, None)
        );
        let body = last(Wire::OpenaiChat, r#"{"messages":[{}],"tools":[{"function":{"name":"bash"}}]}"#);
        assert_eq!((body["tools"].as_array().unwrap().len(), body.get("tool_choice")), (1, None));
    }
}
