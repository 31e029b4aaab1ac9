//! The outline of a request's body: where its messages are, and the few fields that matter.

use std::fmt;
use std::ops::Range;

use epitome::formats::Format;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

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
    /// Looks at a body once, from the beginning to the end. An error is a code: why the request is not one that can be fitted.
    pub fn read(body: &[u8], format: Format) -> Result<Self, &'static str> {
        let fields: Fields<'_> = serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => "not-understood",
            Category::Io | Category::Syntax | Category::Eof => "not-json",
        })?;
        if fields.previous_response_id.is_some() || fields.conversation.is_some() || fields.cached_content.is_some() {
            return Err("history-at-the-provider");
        }
        let place = |part: &RawValue| {
            let start = part.get().as_ptr() as usize - body.as_ptr() as usize;
            start..start + part.get().len()
        };
        let takes_tools = if format == Format::Gemini { takes_functions(&fields) } else { takes_tools(&fields) };
        let (list, system) = match format {
            Format::OpenaiResponses => (fields.input, fields.instructions),
            Format::Anthropic => (fields.messages, fields.system),
            Format::Gemini => (fields.contents, fields.system_instruction),
            _ => (fields.messages, None),
        };
        let number = |field: Option<&RawValue>| field.and_then(|json| json.get().parse::<u32>().ok());
        let of_config = fields.generation_config.as_ref().and_then(|config| config.max_output_tokens);
        let answer_tokens = [fields.max_tokens, fields.max_completion_tokens, fields.max_output_tokens, of_config];
        let items = match list {
            List::Items(items) => items.into_iter().map(place).collect(),
            List::Text => return Err("one-text"),
            List::Other => return Err("not-understood"),
        };
        Ok(Self {
            items,
            takes_tools,
            system: system.map(place),
            tools: fields.tools.or(fields.functions).map(place),
            model: fields.model.and_then(|json| serde_json::from_str(json.get()).ok()),
            answer_tokens: answer_tokens.into_iter().find_map(number).unwrap_or(0),
        })
    }
}

/// Whether the model may call a tool that is added to a request. It may not where the tool choice is `none` or one of
/// the client's own tools, where several answers are asked for, where tools are named in the old form, or where a
/// response format is asked for without tools, which many services do not take together with tools.
fn takes_tools(fields: &Fields<'_>) -> bool {
    let choice = value(fields.tool_choice);
    let chosen = choice.as_str().or(choice["type"].as_str()).unwrap_or_default();
    let is_single = value(fields.n).as_u64().unwrap_or(1) <= 1;
    let has_tools =
        fields.tools.is_some_and(|tools| tools.get().trim_start_matches(['[', ' ', '\n', '\r', '\t']).starts_with('{'));
    let form = |json: &Value| json["type"].as_str().is_some_and(|kind| kind != "text");
    let has_form = form(&value(fields.response_format))
        || form(&value(fields.text)["format"])
        || form(&value(fields.output_format))
        || form(&value(fields.output_config)["format"]);
    !matches!(chosen, "none" | "allowed_tools") && is_single && fields.functions.is_none() && (has_tools || !has_form)
}

/// The same for Gemini's API: not where calls are forbidden or limited to some functions, where several answers are asked
/// for, or beside Google's own tools alone and a form for the answer alone, which many models do not take together with
/// functions.
fn takes_functions(fields: &Fields<'_>) -> bool {
    let config = value(fields.tool_config);
    let calling = either(&config, "functionCallingConfig", "function_calling_config");
    let is_forbidden = calling["mode"].as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("none"));
    let is_limited = !either(calling, "allowedFunctionNames", "allowed_function_names").is_null();
    let tools: Option<Vec<FunctionTool>> = match fields.tools {
        Some(tools) => serde_json::from_str(tools.get()).ok(),
        None => Some(Vec::new()),
    };
    let Some(tools) = tools else { return false };
    let has_functions = tools.iter().any(|tool| tool.functions.as_ref().is_some_and(|functions| !functions.is_empty()));
    let config = fields.generation_config.as_ref();
    let is_single = value(config.and_then(|config| config.candidates)).as_u64().unwrap_or(1) <= 1;
    let form = value(config.and_then(|config| config.form));
    let has_form = form.as_str().is_some_and(|form| !form.eq_ignore_ascii_case("text/plain"));
    !is_forbidden && !is_limited && is_single && (has_functions || (tools.is_empty() && !has_form))
}

/// A small field; null where it is not there.
fn value(field: Option<&RawValue>) -> Value {
    field.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// A field in either of Gemini's two spellings.
fn either<'v>(json: &'v Value, camel: &str, snake: &str) -> &'v Value {
    json.get(camel).unwrap_or(&json[snake])
}

/// The fields that are looked at. `null` is as good as nothing.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    messages: List<'a>,
    #[serde(borrow, default)]
    input: List<'a>,
    #[serde(borrow, default)]
    contents: List<'a>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow, rename = "systemInstruction", alias = "system_instruction")]
    system_instruction: Option<&'a RawValue>,
    #[serde(borrow, rename = "generationConfig", alias = "generation_config")]
    generation_config: Option<GenerationConfig<'a>>,
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    functions: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    max_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_completion_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolConfig", alias = "tool_config")]
    tool_config: Option<&'a RawValue>,
    #[serde(borrow)]
    n: Option<&'a RawValue>,
    #[serde(borrow)]
    response_format: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    output_format: Option<&'a RawValue>,
    #[serde(borrow)]
    output_config: Option<&'a RawValue>,
    previous_response_id: Option<IgnoredAny>,
    conversation: Option<IgnoredAny>,
    #[serde(rename = "cachedContent", alias = "cached_content")]
    cached_content: Option<IgnoredAny>,
}

/// The part of Gemini's settings of an answer that is looked at.
#[derive(Deserialize)]
struct GenerationConfig<'a> {
    #[serde(borrow, rename = "maxOutputTokens", alias = "max_output_tokens")]
    max_output_tokens: Option<&'a RawValue>,
    #[serde(borrow, rename = "candidateCount", alias = "candidate_count")]
    candidates: Option<&'a RawValue>,
    #[serde(borrow, rename = "responseMimeType", alias = "response_mime_type")]
    form: Option<&'a RawValue>,
}

/// One of Gemini's tools: functions, or one of Google's own.
#[derive(Deserialize)]
struct FunctionTool {
    #[serde(rename = "functionDeclarations", alias = "function_declarations")]
    functions: Option<Vec<IgnoredAny>>,
}

/// The forms of a message list.
#[derive(Default)]
enum List<'a> {
    /// The items of a list, as in the body.
    Items(Vec<&'a RawValue>),
    /// One text, which is the only message.
    Text,
    /// Nothing that is understood.
    #[default]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for List<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = List<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<'de>, A::Error> {
                let mut items = Vec::with_capacity(256);
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(List::Items(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(List::Other)
            }

            fn visit_str<E>(self, _: &str) -> Result<List<'de>, E> {
                Ok(List::Text)
            }

            fn visit_bool<E>(self, _: bool) -> Result<List<'de>, E> {
                Ok(List::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<List<'de>, E> {
                Ok(List::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<List<'de>, E> {
                Ok(List::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<List<'de>, E> {
                Ok(List::Other)
            }

            fn visit_unit<E>(self) -> Result<List<'de>, E> {
                Ok(List::Other)
            }
        }
        deserializer.deserialize_any(Items)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_seen_from_outside() {
        let body = r#" {"model" : "m\u0031", "messages": [ {"role":"user"} ,7,"x" ], "tools":[], "system":null,
            "max_tokens":null,"max_completion_tokens":12, "other": {"messages": 1}}"#;
        let check = |format: Format, body: &str, items: &[&str]| {
            let outline = Outline::read(body.as_bytes(), format).unwrap();
            let found: Vec<&str> = outline.items.iter().map(|at| &body[at.clone()]).collect();
            assert_eq!(found, items, "{body}");
            outline
        };
        let seen = check(Format::Anthropic, body, &[r#"{"role":"user"}"#, "7", "\"x\""]);
        assert_eq!((seen.model.as_deref(), seen.answer_tokens, seen.system), (Some("m1"), 12, None));
        assert_eq!(&body[seen.tools.unwrap()], "[]");
        let items = r#"{"input": [1], "messages": [2], "instructions": "i", "max_output_tokens": 5}"#;
        let seen = check(Format::OpenaiResponses, items, &["1"]);
        assert_eq!((&items[seen.system.unwrap()], seen.answer_tokens), ("\"i\"", 5));
    }

    #[test]
    fn when_a_function_can_be_added() {
        let check = |fields: &str, expect: bool| {
            let body = format!(r#"{{"contents": [{{}}]{fields}}}"#);
            assert_eq!(Outline::read(body.as_bytes(), Format::Gemini).unwrap().takes_tools, expect, "{body}");
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
            assert_eq!(Outline::read(body.as_bytes(), Format::OpenaiChat).err(), Some(expect), "{body}")
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
