//! As much of JSON Schema as the protocol's schemas use; anything else in a schema panics.

use serde_json::Value;

/// What is wrong with `value` by `schema`, with where; empty where nothing is.
pub(crate) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let empty = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (keyword, rule) in schema.as_object().unwrap() {
        let mut wrong = |what: String| found.push(format!("{at}: {what}"));
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "properties" => {}
            "$ref" => {
                let target = rule.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(target).unwrap(), value, at, found);
            }
            "const" if rule != value => wrong(format!("is {value}, not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => wrong(format!("{value} is none of {rule}")),
            "type" if !types(rule).any(|name| is(name, value)) => wrong(format!("is no {rule}")),
            "minimum" if value.as_f64() < rule.as_f64() => wrong(format!("is less than {rule}")),
            "minItems" if (length(value) as u64) < rule.as_u64().unwrap() => wrong("has too few items".to_owned()),
            "maxItems" if length(value) as u64 > rule.as_u64().unwrap() => wrong("has too many items".to_owned()),
            "const" | "enum" | "type" | "minimum" | "minItems" | "maxItems" => {}
            "pattern" => {
                assert_eq!(rule, "^[a-z0-9-]+$");
                let is_code = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                if !value.as_str().is_some_and(|text| !text.is_empty() && text.bytes().all(is_code)) {
                    wrong(format!("{value} is no code"));
                }
            }
            "required" => {
                let missing = types(rule).filter(|key| value.get(key).is_none());
                missing.for_each(|key| wrong(format!("has no `{key}`")));
            }
            "additionalProperties" => {
                assert_eq!(rule, false);
                let unknown = value.as_object().into_iter().flatten().filter(|(key, _)| !properties.contains_key(*key));
                unknown.for_each(|(key, _)| wrong(format!("has `{key}`, which the schema does not know")));
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{index}"), found);
                }
            }
            "oneOf" => {
                let fits = |one: &&Value| {
                    let mut found = Vec::new();
                    check(root, one, value, at, &mut found);
                    found.is_empty()
                };
                match rule.as_array().unwrap().iter().filter(fits).count() {
                    1 => {}
                    count => wrong(format!("fits {count} of the alternatives: {value}")),
                }
            }
            other => panic!("the check knows no `{other}`"),
        }
    }
    for (key, rule) in properties {
        if let Some(value) = value.get(key) {
            check(root, rule, value, &format!("{at}/{key}"), found);
        }
    }
}

/// A string, or a list of them.
fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let list = rule.as_array().map(Vec::as_slice).unwrap_or_else(|| std::slice::from_ref(rule));
    list.iter().map(|name| name.as_str().unwrap())
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the check knows no type `{other}`"),
    }
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}
