//! Holds answers against the OpenAPI document: their status, and every field of their bodies.

use serde_json::Value;

/// Panics where an answer is not what the document says of the route.
pub(crate) fn check(document: &Value, method: &str, path: &str, status: u16, body: &Value) {
    let path = path.split('?').next().unwrap_or(path);
    let routes = document["paths"].as_object().unwrap();
    let mut fitting: Vec<&String> = routes.keys().filter(|route| fits(route, path)).collect();
    fitting.sort_by_key(|route| route.matches('{').count());
    let Some(route) = fitting.first() else { panic!("{path} is not in the document") };
    let operation = &routes[*route][method.to_ascii_lowercase()];
    if operation.is_null() {
        assert_eq!(status, 405, "{method} {route} is not in the document");
        return;
    }
    let answer = &operation["responses"][status.to_string()];
    assert!(answer.is_object(), "{method} {route} does not say that it may answer {status}: {body}");
    let Some((_, content)) = answer["content"].as_object().and_then(|content| content.iter().next()) else {
        assert!(body.is_null() || body == "", "{method} {route} {status} has no body: {body}");
        return;
    };
    if let Some(code) = body["error"]["code"].as_str() {
        let described = answer["description"].as_str().unwrap_or_default();
        assert!(
            described.contains(&format!("`{code}`")),
            "{method} {route} {status} does not list `{code}`: {described}"
        );
    }
    let mut problems = Vec::new();
    hold(document, &content["schema"], body, "$", &mut problems);
    assert!(problems.is_empty(), "{method} {route} {status}: {problems:#?}\n{body}");
}

fn fits(route: &str, path: &str) -> bool {
    let (route, path): (Vec<&str>, Vec<&str>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len() && route.iter().zip(path).all(|(part, given)| part.starts_with('{') || *part == given)
}

fn hold(document: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let named = document.pointer(reference.trim_start_matches('#'));
        return match named {
            Some(named) => hold(document, named, value, at, problems),
            None => problems.push(format!("{at}: {reference} is not in the document")),
        };
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let mut tried = Vec::new();
        for choice in choices {
            let mut of_this = Vec::new();
            hold(document, choice, value, at, &mut of_this);
            if of_this.is_empty() {
                return;
            }
            tried.extend(of_this);
        }
        return problems.extend(tried);
    }
    if schema["allOf"].is_array() {
        // The fields of all of them together.
        let mut whole = serde_json::json!({"type": "object", "properties": {}, "required": []});
        gather(document, schema, &mut whole);
        return hold(document, &whole, value, at, problems);
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return, // anything
    };
    let is = |kind: &&str| match (*kind, value) {
        ("null", Value::Null) | ("string", Value::String(_)) | ("boolean", Value::Bool(_)) => true,
        ("array", Value::Array(_)) | ("object", Value::Object(_)) | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    };
    if !kinds.iter().any(is) {
        return problems.push(format!("{at} is {value}, not {kinds:?}"));
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
        && !value.is_null()
    {
        problems.push(format!("{at} is {value}, not one of {choices:?}"));
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                hold(document, &schema["items"], item, &format!("{at}[{index}]"), problems);
            }
        }
        Value::Object(fields) => {
            for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !fields.contains_key(required) {
                    problems.push(format!("{at}.{required} is missing"));
                }
            }
            let properties = schema["properties"].as_object();
            for (name, field) in fields {
                let place = format!("{at}.{name}");
                match properties.and_then(|properties| properties.get(name)) {
                    Some(described) => hold(document, described, field, &place, problems),
                    None if properties.is_none() || !schema["additionalProperties"].is_null() => {}
                    None => problems.push(format!("{place} is not in the document")),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn gather(document: &Value, schema: &Value, whole: &mut Value) {
    if let Some(reference) = schema["$ref"].as_str() {
        if let Some(named) = document.pointer(reference.trim_start_matches('#')) {
            gather(document, named, whole);
        }
        return;
    }
    schema["allOf"].as_array().into_iter().flatten().for_each(|part| gather(document, part, whole));
    if let Some(properties) = schema["properties"].as_object() {
        whole["properties"].as_object_mut().unwrap().extend(properties.clone());
    }
    if let Some(required) = schema["required"].as_array() {
        whole["required"].as_array_mut().unwrap().extend(required.clone());
    }
    if !schema["additionalProperties"].is_null() {
        whole["additionalProperties"] = schema["additionalProperties"].clone();
    }
}
