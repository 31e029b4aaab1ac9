//! Schemas as the languages' types are written from them.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Anything,
    Nothing,
    Flag,
    Whole,
    Number,
    Text,
    Bytes,
    /// An object of which nothing more is known.
    Object,
    /// One of these texts.
    Names(Vec<String>),
    List(Box<Kind>),
    Tuple(Vec<Kind>),
    /// An object with any keys, and values of one kind.
    Map(Box<Kind>),
    Fields(Vec<Field>),
    /// Another declaration.
    Named(String),
    Either(Vec<Kind>),
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
}

/// A type under a name.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) kind: Kind,
}

/// Types under their names, and all that these speak of.
#[derive(Default)]
pub(super) struct Schemas {
    by_name: BTreeMap<String, Value>,
    /// The names in the schemas, and those that they are declared by.
    roots: Vec<(String, String)>,
    /// The fields that no declaration has.
    left_out: &'static [&'static str],
}

impl Schemas {
    /// No type yet; of those that come, no field of these names is declared.
    pub(super) fn without(left_out: &'static [&'static str]) -> Self {
        Self { left_out, ..Self::default() }
    }

    /// With one more type, which is declared by this name.
    pub(super) fn with<T: ToSchema>(mut self, name: &str) -> Self {
        let mut all = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut all);
        self.roots.push((all[0].0.clone(), name.to_owned()));
        let value = |schema: RefOr<Schema>| serde_json::to_value(schema).unwrap();
        self.by_name.extend(all.into_iter().map(|(name, schema)| (name, value(schema))));
        self
    }

    /// Each type, and behind it those that it speaks of and that were not declared yet.
    pub(super) fn declare(&self) -> Vec<Declared> {
        let mut declared = Vec::new();
        for (schema, _) in &self.roots {
            self.declare_one(schema, &mut declared);
        }
        declared
    }

    fn declare_one(&self, schema: &str, declared: &mut Vec<Declared>) {
        let name = self.name_of(schema);
        if declared.iter().any(|it| it.name == name) {
            return;
        }
        let value = self.by_name.get(schema).unwrap_or_else(|| panic!("there is no schema of {schema}"));
        if self.is_declared(schema) {
            declared.push(Declared { name, about: about(value), kind: self.kind(value) });
        }
        let mut named = Vec::new();
        self.references(value, &mut named);
        named.iter().for_each(|schema| self.declare_one(schema, declared));
    }

    /// The types that a schema speaks of; of those that are part of it, what these speak of.
    fn references(&self, value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    match (key.as_str(), value) {
                        ("$ref", Value::String(path)) => into.push(last(path).to_owned()),
                        ("allOf", Value::Array(parts)) => {
                            parts.iter().for_each(|part| self.references(self.resolve(part), into));
                        }
                        _ => self.references(value, into),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.references(item, into)),
            _ => {}
        }
    }

    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        value["$ref"].as_str().map_or(value, |path| &self.by_name[last(path)])
    }

    /// Whether a type has a declaration of its own: numbers and texts have none, nor has what says nothing of itself.
    fn is_declared(&self, schema: &str) -> bool {
        let value = &self.by_name[schema];
        let is_root = self.roots.iter().any(|(of, _)| of == schema);
        let is_plain =
            ["string", "integer", "number"].iter().any(|plain| value["type"] == *plain) && value["enum"].is_null();
        is_root || !is_plain && !about(value).is_empty()
    }

    fn name_of(&self, schema: &str) -> String {
        let root = self.roots.iter().find(|(of, _)| of == schema);
        root.map_or(schema, |(_, name)| name).to_owned()
    }

    fn kind(&self, value: &Value) -> Kind {
        if let Some(path) = value["$ref"].as_str() {
            let schema = last(path);
            return if self.is_declared(schema) {
                Kind::Named(self.name_of(schema))
            } else {
                self.kind(self.resolve(value))
            };
        }
        if let Some(parts) = value["allOf"].as_array() {
            let fields = parts.iter().flat_map(|part| match self.kind(self.resolve(part)) {
                Kind::Fields(fields) => fields,
                other => panic!("{other:?} is no part of an object"),
            });
            return Kind::Fields(fields.collect());
        }
        if let Some(parts) = value["oneOf"].as_array().or(value["anyOf"].as_array()) {
            return either(parts.iter().map(|part| self.kind(part)));
        }
        if let Some(names) = value["enum"].as_array() {
            return Kind::Names(names.iter().map(|name| name.as_str().unwrap().to_owned()).collect());
        }
        match &value["type"] {
            Value::Null => Kind::Anything,
            Value::Array(types) => either(types.iter().map(|name| self.typed(name.as_str().unwrap(), value))),
            name => self.typed(name.as_str().unwrap(), value),
        }
    }

    fn typed(&self, name: &str, value: &Value) -> Kind {
        let boxed = |value: &Value| Box::new(self.kind(value));
        match name {
            "null" => Kind::Nothing,
            "boolean" => Kind::Flag,
            "integer" => Kind::Whole,
            "number" => Kind::Number,
            "string" if value["format"] == "binary" => Kind::Bytes,
            "string" => Kind::Text,
            "array" => match value["prefixItems"].as_array() {
                Some(items) => Kind::Tuple(items.iter().map(|item| self.kind(item)).collect()),
                None => Kind::List(boxed(&value["items"])),
            },
            "object" => match (value["properties"].as_object(), &value["additionalProperties"]) {
                (Some(fields), _) => {
                    let required = value["required"].as_array();
                    let field = |(name, value): (&String, &Value)| Field {
                        name: name.clone(),
                        about: about(value),
                        kind: self.kind(value),
                        is_required: required.is_some_and(|names| names.iter().any(|it| it == name)),
                    };
                    let is_shown = |(name, _): &(&String, &Value)| !self.left_out.contains(&name.as_str());
                    Kind::Fields(fields.iter().filter(is_shown).map(field).collect())
                }
                (None, Value::Null) => Kind::Object,
                (None, values) => Kind::Map(boxed(values)),
            },
            other => panic!("{other} is no type of JSON schema"),
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// One of several kinds; what may be nothing says so last.
fn either(kinds: impl Iterator<Item = Kind>) -> Kind {
    let mut kinds: Vec<Kind> = kinds.collect();
    kinds.sort_by_key(|kind| *kind == Kind::Nothing); // stable
    if kinds.len() == 1 { kinds.remove(0) } else { Kind::Either(kinds) }
}

/// What a declaration says of itself, without the links of Rust's documentation.
fn about(value: &Value) -> String {
    // Of a value that may be nothing, what it is otherwise says it.
    let parts = value["oneOf"].as_array().into_iter().flatten();
    let said = std::iter::once(value).chain(parts).find_map(|value| value["description"].as_str());
    let (mut rest, mut plain) = (said.unwrap_or_default(), String::new());
    while let Some((before, tail)) = rest.split_once('[') {
        plain.push_str(before);
        match tail.split_once(']') {
            Some((text, after)) if text.starts_with('`') || after.starts_with('(') => {
                rest = after.strip_prefix('(').and_then(|it| it.split_once(')')).map_or(after, |(_, behind)| behind);
                // A place in Rust, and nothing else, says nothing elsewhere.
                match (plain.strip_suffix(" ("), rest.strip_prefix(')')) {
                    (Some(front), Some(behind)) => (plain, rest) = (front.to_owned(), behind),
                    _ => {
                        let name = text.rsplit("::").next().unwrap_or(text);
                        plain.push_str(if text.starts_with('`') && name.len() < text.len() { "`" } else { "" });
                        plain.push_str(name);
                    }
                }
            }
            _ => {
                plain.push('[');
                rest = tail;
            }
        }
    }
    (plain + rest).replace('\n', " ").trim().to_owned()
}
