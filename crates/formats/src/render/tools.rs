//! Tool definitions from one dialect into another.

use std::borrow::Cow;

use serde_json::Value;

use super::Wire;
use crate::gemini::blocks::field;
use crate::json::{self, Object, ObjectWriter};

/// The field of Gemini's tools that holds functions, in both of its spellings.
const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// Tool definitions as `profile` takes them; definitions in its own dialect stay as they are.
pub(crate) fn convert(recorded: &str, profile: Wire, warnings: &mut Vec<String>) -> Option<String> {
    let mut converted = Vec::new();
    // Gemini takes the definitions of functions in one list.
    let mut declarations = Vec::new();
    for definition in json::list(recorded)? {
        let tool = Object::parse(definition)?;
        if is_own(&tool, profile) {
            converted.push(definition.to_owned());
            continue;
        }
        let mut left_out = |name: &str| {
            warnings.push(format!("the definition of the tool {name} was left out: it has no form in this format"))
        };
        let functions = field(&tool, DECLARATIONS[0], DECLARATIONS[1]).and_then(json::list);
        let functions: Vec<Object<'_>> = match functions {
            Some(functions) => {
                // Gemini's own tools stand beside the functions.
                let beside = tool.fields().map(|(name, _)| name);
                beside.filter(|name| !DECLARATIONS.contains(name)).for_each(&mut left_out);
                functions.into_iter().filter_map(Object::parse).collect()
            }
            None => vec![tool],
        };
        for function in functions {
            match rebuild(&function, profile) {
                Some(json) if profile == Wire::Gemini => declarations.push(json),
                Some(json) => converted.push(json),
                None => left_out(
                    &function.text("name").or_else(|| function.text("type")).unwrap_or("without a name".into()),
                ),
            }
        }
    }
    if !declarations.is_empty() {
        converted.push(ObjectWriter::new().raw("functionDeclarations", &json::join(&declarations)).finish());
    }
    (!converted.is_empty()).then(|| format!("[\n{}\n]", converted.join(",\n")))
}

fn is_own(tool: &Object<'_>, profile: Wire) -> bool {
    if profile != Wire::Gemini && field(tool, DECLARATIONS[0], DECLARATIONS[1]).is_some() {
        return false;
    }
    match profile {
        Wire::OpenaiChat => tool.get("function").is_some() || tool.get("custom").is_some(),
        Wire::OpenaiResponses => {
            tool.get("type").is_some() && tool.get("function").is_none() && tool.get("input_schema").is_none()
        }
        Wire::Anthropic => {
            tool.get("name").is_some() && tool.get("parameters").is_none() && tool.get("function").is_none()
        }
        Wire::Gemini => ["name", "type", "function", "input_schema"].into_iter().all(|name| tool.get(name).is_none()),
    }
}

fn rebuild(tool: &Object<'_>, profile: Wire) -> Option<String> {
    let function = tool.object("function").unwrap_or_else(|| tool.clone());
    let name = function.get("name")?;
    let description = function.get("description");
    let schema = function
        .get("input_schema")
        .or_else(|| function.get("parameters"))
        .or_else(|| function.get("inputSchema"))
        .or_else(|| field(&function, "parametersJsonSchema", "parameters_json_schema"))
        .unwrap_or(r#"{"type":"object","properties":{}}"#);
    let schema = if profile == Wire::Gemini { Cow::Borrowed(schema) } else { in_lower_case(schema) };
    let named = |writer: ObjectWriter| writer.raw("name", name).optional_field("description", description);
    Some(match profile {
        Wire::OpenaiChat => {
            let function = named(ObjectWriter::new()).raw("parameters", &schema).finish();
            ObjectWriter::new().text("type", "function").raw("function", &function).finish()
        }
        Wire::OpenaiResponses => {
            named(ObjectWriter::new().text("type", "function")).raw("parameters", &schema).finish()
        }
        Wire::Anthropic => named(ObjectWriter::new()).raw("input_schema", &schema).finish(),
        // `parameters` takes a part of JSON Schema only.
        Wire::Gemini => named(ObjectWriter::new()).raw("parametersJsonSchema", &schema).finish(),
    })
}

/// A schema with its types as JSON Schema spells them: Gemini's have capitals. Others stay byte for byte.
fn in_lower_case(schema: &str) -> Cow<'_, str> {
    const TYPES: [&str; 7] = ["OBJECT", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "NULL"];
    if !TYPES.iter().any(|name| schema.contains(&format!("\"{name}\""))) {
        return Cow::Borrowed(schema);
    }
    fn lower(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if name == "type" && TYPES.contains(&text.as_str()) => {
                            text.make_ascii_lowercase();
                        }
                        other => lower(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(lower),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let Ok(mut value) = serde_json::from_str(schema) else { return Cow::Borrowed(schema) };
    lower(&mut value);
    Cow::Owned(value.to_string())
}
