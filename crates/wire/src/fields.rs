//! The fields of a JSON object, in their order, each as it came.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of a JSON object. Values are the bytes that came; only blanks between them are lost.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a>(pub(crate) Vec<(String, &'a str)>);

impl<'a> Fields<'a> {
    /// Reads an object; `None` where the text is none, or has a field twice. Linear.
    pub fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok().filter(Self::are_distinct)
    }

    /// Whether no field is there twice.
    pub(crate) fn are_distinct(&self) -> bool {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The JSON of a field as it came, `null` too.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, json)| *json)
    }

    /// The JSON of a field; `None` where it is not there, or `null`.
    pub fn json(&self, name: &str) -> Option<&'a str> {
        self.raw(name).filter(|json| *json != "null")
    }

    /// Whether a field is there and not `null`.
    pub fn has(&self, name: &str) -> bool {
        self.json(name).is_some()
    }

    /// The JSON of the first of these fields that is there: some have two spellings, and some two names.
    pub fn either(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.json(name))
    }

    /// The value of a field; null where it is not there.
    pub fn value(&self, name: &str) -> Value {
        value_of(self.json(name))
    }

    /// The parts of a field that is a list, each as JSON.
    pub fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        list_of(self.json(name)?)
    }

    /// The object with `changed` in place of these fields' values; `None` leaves a field out.
    pub fn with(&self, changed: &[(&str, Option<&str>)]) -> String {
        let mut body = String::from("{");
        for (name, json) in &self.0 {
            let json = match changed.iter().find(|(field, _)| field == name) {
                Some((_, None)) => continue,
                Some((_, Some(other))) => other,
                None => json,
            };
            if body.len() > 1 {
                body.push(',');
            }
            body.push_str(&Value::from(name.as_str()).to_string());
            body.push(':');
            body.push_str(json);
        }
        body.push('}');
        body
    }
}

/// The value of a small piece of JSON; null where there is none.
pub(crate) fn value_of(json: Option<&str>) -> Value {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// The parts of a list, each as JSON; `None` where it is no list.
pub(crate) fn list_of(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, json)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((name, json.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_stay_as_they_came() {
        let body = r#" {"b": [ 1, {"x":2} ], "a\u0022" : 1.0 ,"c":null, "d":{"e" : 1}} "#;
        let fields = Fields::parse(body).unwrap();
        let check = |changed: &[(&str, Option<&str>)], expect: &str| assert_eq!(fields.with(changed), expect);
        check(&[], r#"{"b":[ 1, {"x":2} ],"a\"":1.0,"c":null,"d":{"e" : 1}}"#);
        check(&[("b", Some("[]")), ("d", None), ("new", Some("1"))], r#"{"b":[],"a\"":1.0,"c":null}"#);
        assert_eq!(fields.list("b"), Some(vec!["1", "{\"x\":2}"]));
        assert_eq!((fields.json("c"), fields.list("d"), fields.json("none")), (None, None, None));
        assert_eq!(fields.value("d")["e"], 1);
        for none in ["", "[]", "7", "{\"a\":1", "{\"a\":1,\"a\":2}", "{} {}"] {
            assert!(Fields::parse(none).is_none(), "{none}");
        }
    }
}
