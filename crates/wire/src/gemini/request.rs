//! Requests for Gemini's contents. Its fields have two spellings.

use serde_json::{Value, json};

use super::Gemini;
use crate::json::{Object, value_of};
use crate::request::{FunctionTool, GivenTools, Limits, Requests};

/// The field of a tool that lists functions.
const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// The field that says which functions may be called.
const TOOL_CONFIG: [&str; 2] = ["toolConfig", "tool_config"];

/// The field of an answer's settings.
const GENERATION_CONFIG: [&str; 2] = ["generationConfig", "generation_config"];

impl Requests for Gemini {
    fn list_field(&self) -> &'static str {
        "contents"
    }

    fn system_fields(&self) -> &'static [&'static str] {
        &["systemInstruction", "system_instruction"]
    }

    fn answer_tokens(&self, fields: &Object<'_>) -> Option<u32> {
        let config = value_of(fields.either(&GENERATION_CONFIG));
        u32::try_from(either(&config, "maxOutputTokens", "max_output_tokens").as_u64()?).ok()
    }

    fn needs_called_tools(&self) -> bool {
        false
    }

    /// Source: ai.google.dev/gemini-api/docs/file-input-methods for the bytes; 3,000 images a prompt by the models' pages of
    /// docs.cloud.google.com.
    fn limits(&self, _model: Option<&str>) -> Limits {
        Limits { bytes: 100_000_000, images: 3_000, crowd: None }
    }

    /// Not where calls are forbidden or limited to some functions, where several answers are asked for, or beside Google's
    /// own tools alone and a form for the answer alone, which many models do not take together with functions.
    fn takes_tools(&self, fields: &Object<'_>) -> bool {
        let config = value_of(fields.either(&TOOL_CONFIG));
        let calling = either(&config, "functionCallingConfig", "function_calling_config");
        let is_forbidden = calling["mode"].as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("none"));
        let is_limited = !either(calling, "allowedFunctionNames", "allowed_function_names").is_null();
        let Some(given) = fields.get("tools").map_or(Some(GivenTools::default()), given) else {
            return false;
        };
        let config = value_of(fields.either(&GENERATION_CONFIG));
        let is_single = either(&config, "candidateCount", "candidate_count").as_u64().unwrap_or(1) <= 1;
        let form = either(&config, "responseMimeType", "response_mime_type").as_str();
        let has_form = form.is_some_and(|form| !form.eq_ignore_ascii_case("text/plain"));
        let takes_functions = given.list.is_some() || !has_tools(fields) && !has_form;
        !is_forbidden && !is_limited && is_single && takes_functions
    }

    fn user_message(&self, _text: &str) -> Option<Value> {
        None
    }

    fn tool_definition(&self, tool: &FunctionTool<'_>) -> Value {
        // Google's `parameters` take a part of JSON Schema only.
        json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema})
    }

    /// Not beside Google's own tools alone.
    fn given_tools<'a>(&self, tools: &'a str) -> Option<GivenTools<'a>> {
        given(tools).filter(|given| given.list.is_some() || is_empty(tools))
    }

    fn tool_list(&self, definitions: &str) -> String {
        format!(r#"[{{"functionDeclarations":[{definitions}]}}]"#)
    }

    fn operation(&self) -> (&'static str, &'static str) {
        ("generate_content", "gcp.gemini")
    }

    fn no_calls(&self) -> (&'static [&'static str], &'static str) {
        (&TOOL_CONFIG, r#"{"functionCallingConfig":{"mode":"NONE"}}"#)
    }
}

/// The functions among the tools of a request; `None` where these are no list of tools.
fn given(tools: &str) -> Option<GivenTools<'_>> {
    let mut found = GivenTools::default();
    for tool in serde_json::from_str::<Vec<Object<'_>>>(tools).ok()? {
        let Some(list) = tool.either(&DECLARATIONS) else { continue };
        let known = GivenTools::of_list(list)?;
        found.list = known.list.or(found.list);
        found.names.extend(known.names);
    }
    Some(found)
}

/// Whether a request has tools of any kind.
fn has_tools(fields: &Object<'_>) -> bool {
    fields.get("tools").is_some_and(|tools| !is_empty(tools))
}

fn is_empty(list: &str) -> bool {
    list.trim_start_matches('[').trim_start() == "]"
}

/// A field in either of its two spellings.
fn either<'v>(json: &'v Value, camel: &str, snake: &str) -> &'v Value {
    json.get(camel).unwrap_or(&json[snake])
}
