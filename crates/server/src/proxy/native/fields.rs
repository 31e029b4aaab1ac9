//! The fields of a request's body, in their order, each as it came.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of a JSON object. Values are the bytes that came; only blanks between them are lost.
#[derive(Debug, Clone)]
pub(super) struct RequestFields<'a>(Vec<(String, &'a str)>);

impl<'a> RequestFields<'a> {
    /// `None` where the body is not an object, or has a field twice. Linear.
    pub(super) fn parse(body: &'a [u8]) -> Option<Self> {
        let fields: Self = serde_json::from_slice(body).ok()?;
        let mut names: Vec<&str> = fields.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1]).then_some(fields)
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The JSON of a field; `None` where it is not there, or `null`.
    pub(super) fn json(&self, name: &str) -> Option<&'a str> {
        let (_, json) = self.0.iter().find(|(field, _)| field == name)?;
        (*json != "null").then_some(json)
    }

    /// The value of a field; null where it is not there.
    pub(super) fn value(&self, name: &str) -> Value {
        self.json(name).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// The parts of a field that is a list, each as JSON.
    pub(super) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.json(name)?).ok()?;
        Some(items.into_iter().map(RawValue::get).collect())
    }

    /// The body with `changed` in place of these fields' values; `None` leaves a field out.
    pub(super) fn with(&self, changed: &[(&str, Option<&str>)]) -> String {
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

impl<'de> Deserialize<'de> for RequestFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RequestFields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestFields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, json)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((name, json.get()));
                }
                Ok(RequestFields(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_stay_as_they_came() {
        let body = br#" {"b": [ 1, {"x":2} ], "a\u0022" : 1.0 ,"c":null, "d":{"e" : 1}} "#;
        let fields = RequestFields::parse(body).unwrap();
        let check = |changed: &[(&str, Option<&str>)], expect: &str| assert_eq!(fields.with(changed), expect);
        check(&[], r#"{"b":[ 1, {"x":2} ],"a\"":1.0,"c":null,"d":{"e" : 1}}"#);
        check(&[("b", Some("[]")), ("d", None), ("new", Some("1"))], r#"{"b":[],"a\"":1.0,"c":null}"#);
        assert_eq!(fields.list("b"), Some(vec!["1", "{\"x\":2}"]));
        assert_eq!((fields.json("c"), fields.list("d"), fields.json("none")), (None, None, None));
        assert_eq!(fields.value("d")["e"], 1);
        for none in ["", "[]", "7", "{\"a\":1", "{\"a\":1,\"a\":2}", "{} {}"] {
            assert!(RequestFields::parse(none.as_bytes()).is_none(), "{none}");
        }
    }
}
