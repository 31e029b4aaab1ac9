//! Tool definitions from one dialect into another.

use super::Profile;
use crate::wire::json::{self, Object, ObjectWriter};

/// Tool definitions as `profile` takes them; definitions in its own dialect stay as they are.
pub(super) fn convert(recorded: &str, profile: Profile, warnings: &mut Vec<String>) -> Option<String> {
    let definitions = json::list(recorded)?;
    let mut converted = Vec::with_capacity(definitions.len());
    for definition in definitions {
        let tool = Object::parse(definition)?;
        if is_own(&tool, profile) {
            converted.push(definition.to_owned());
            continue;
        }
        let Some(json) = rebuild(&tool, profile) else {
            let name = tool.text("name").or_else(|| tool.text("type")).unwrap_or("without a name".into());
            warnings.push(format!("the definition of the tool {name} was left out: it has no form in this format"));
            continue;
        };
        converted.push(json);
    }
    (!converted.is_empty()).then(|| format!("[\n{}\n]", converted.join(",\n")))
}

fn is_own(tool: &Object<'_>, profile: Profile) -> bool {
    match profile {
        Profile::OpenaiChat => tool.get("function").is_some() || tool.get("custom").is_some(),
        Profile::OpenaiResponses => {
            tool.get("type").is_some() && tool.get("function").is_none() && tool.get("input_schema").is_none()
        }
        Profile::Anthropic => {
            tool.get("name").is_some() && tool.get("parameters").is_none() && tool.get("function").is_none()
        }
    }
}

fn rebuild(tool: &Object<'_>, profile: Profile) -> Option<String> {
    let function = tool.object("function").unwrap_or_else(|| tool.clone());
    let name = function.get("name")?;
    let description = function.get("description");
    let schema = function
        .get("input_schema")
        .or_else(|| function.get("parameters"))
        .or_else(|| function.get("inputSchema"))
        .unwrap_or(r#"{"type":"object","properties":{}}"#);
    let named = |writer: ObjectWriter| writer.raw("name", name).optional_field("description", description);
    Some(match profile {
        Profile::OpenaiChat => {
            let function = named(ObjectWriter::new()).raw("parameters", schema).finish();
            ObjectWriter::new().text("type", "function").raw("function", &function).finish()
        }
        Profile::OpenaiResponses => {
            named(ObjectWriter::new().text("type", "function")).raw("parameters", schema).finish()
        }
        Profile::Anthropic => named(ObjectWriter::new()).raw("input_schema", schema).finish(),
    })
}
