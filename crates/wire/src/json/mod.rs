//! JSON whose values stay the bytes that they came as, and of which only the parts that are needed are decoded.

mod halves;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

pub use halves::{has_half, id, keep_halves, mend, quote_id, restore_halves, without_halves};

/// An object whose values are still JSON text.
#[derive(Debug, Clone, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// The object that `json` is, or `None` where it is something else.
    pub fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The object that `json` is together with the items of its one list in a field of `keys`, in one pass over the text.
    /// `None` where the object is anything else: two such fields, an empty list, a field that is not a list.
    pub fn parse_with_items(json: &'a str, keys: &[&str]) -> Option<(Self, Vec<&'a str>)> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let (mut fields, list) = ItemFields { keys }.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        let (field, items) = list?;
        let (first, last) = (items.first()?, items.last()?);
        // The list's own text: from the bracket in front of the first item to the one behind the last.
        let open = json[..offset(json.as_bytes(), first)].trim_ascii_end().strip_suffix('[')?.len();
        let behind = offset(json.as_bytes(), last) + last.len();
        let close = json.len() - json[behind..].trim_ascii_start().strip_prefix(']')?.len();
        fields[field].1 = &json[open..close];
        Some((Self { fields }, items))
    }

    /// The JSON text of a field; `None` where it is missing or null.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.raw(name).filter(|json| *json != "null")
    }

    /// The JSON text of a field, `null` too.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.fields.iter().rfind(|(key, _)| key == name).map(|(_, json)| *json)
    }

    /// Whether a field is there and not null.
    pub fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The JSON text of the first of these fields that is there: some have two spellings, and some two names.
    pub fn either(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The value of a small field; null where it is not there.
    pub fn value(&self, name: &str) -> Value {
        value_of(self.get(name))
    }

    /// The text of a field that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(string)
    }

    /// The id in a field that is a string; empty where there is none: see [`id`].
    pub fn id(&self, name: &str) -> Arc<str> {
        self.get(name).and_then(id).map_or_else(|| Arc::from(""), |id| Arc::from(&*id))
    }

    /// A field that is an object.
    pub fn object(&self, name: &str) -> Option<Object<'a>> {
        self.get(name).and_then(Object::parse)
    }

    /// A field that is a list, as the texts of its items.
    pub fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        self.get(name).and_then(list)
    }

    /// A field that is a number, where it is one of `T`.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Whether a field is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Whether the object has a field of that name, null or not.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }

    /// Whether every field that is not null is one of `known`.
    pub fn has_only(&self, known: &[&str]) -> bool {
        self.fields.iter().all(|(key, json)| known.contains(&key.as_ref()) || *json == "null")
    }

    /// Whether no field is there twice.
    pub fn is_distinct(&self) -> bool {
        let mut names: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The object with `changed` in place of these fields' values; `None` leaves a field out.
    pub fn with(&self, changed: &[(&str, Option<&str>)]) -> String {
        let changed = |name: &str| changed.iter().find(|(field, _)| *field == name).map(|(_, json)| *json);
        let fields = self.fields().map(|(name, json)| (name, changed(name).unwrap_or(Some(json))));
        fields.fold(ObjectWriter::new(), |writer, (name, json)| writer.optional_field(name, json)).finish()
    }

    /// The fields in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(key, json)| (key.as_ref(), *json))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object<'de>, M::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some(Key(key)) = map.next_key()? {
                    fields.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Object { fields })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The fields of an object; and of those in `keys` the one that there is, by its position, with its items.
struct ItemFields<'k> {
    keys: &'k [&'k str],
}

type FieldsWithItems<'a> = (Vec<(Cow<'a, str>, &'a str)>, Option<(usize, Vec<&'a str>)>);

impl<'de> DeserializeSeed<'de> for ItemFields<'_> {
    type Value = FieldsWithItems<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ItemFields<'_> {
    type Value = FieldsWithItems<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with one list")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::with_capacity(8);
        let mut list: Option<(usize, Vec<&str>)> = None;
        while let Some(Key(key)) = map.next_key()? {
            if !self.keys.contains(&key.as_ref()) {
                fields.push((key, map.next_value::<&RawValue>()?.get()));
                continue;
            }
            let items: Vec<&RawValue> = map.next_value()?;
            let items = items.into_iter().map(RawValue::get).collect();
            if list.replace((fields.len(), items)).is_some() {
                return Err(serde::de::Error::custom("two lists"));
            }
            fields.push((key, ""));
        }
        Ok((fields, list))
    }
}

/// A key that borrows from the input where it holds no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The value of a small piece of JSON; null where there is none.
pub(crate) fn value_of(json: Option<&str>) -> Value {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// The string that `json` is.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    // The common case, checked without the parser: no escapes and no control characters.
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.bytes().any(|byte| byte == b'\\' || byte == b'"' || byte < 0x20) {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = serde_json::from_str::<String>(json).ok();
    decoded.or_else(|| serde_json::from_str(&mend(json)?).ok()).map(Cow::Owned)
}

/// The texts of the items of the list that `json` is.
pub fn list(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// Returns the tool definitions in a JSON text; `None` where there are none: an empty list is sent as no list is, and
/// costs nothing. Constant time but for white space.
///
/// ```
/// use epitome_wire::json::defined_tools;
///
/// assert_eq!((defined_tools("[]"), defined_tools("[ \n]"), defined_tools(" null")), (None, None, None));
/// assert_eq!(defined_tools("[{}]"), Some("[{}]"));
/// ```
pub fn defined_tools(json: &str) -> Option<&str> {
    let inner = json.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_empty = inner.map_or_else(|| matches!(json.trim(), "" | "null"), |inner| inner.trim().is_empty());
    (!is_empty).then_some(json)
}

/// Where `part`, a slice of `whole`, starts in it.
pub fn offset(whole: &[u8], part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// `text` as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default() // a text can always be written
}

/// Writes one object, field by field.
#[derive(Debug, Default)]
pub struct ObjectWriter {
    /// What is between the braces.
    out: String,
}

impl ObjectWriter {
    /// An object without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field whose value is JSON text.
    pub fn raw(mut self, name: &str, json: &str) -> Self {
        if !self.out.is_empty() {
            self.out.push(',');
        }
        self.out.push_str(&quote(name));
        self.out.push(':');
        self.out.push_str(json);
        self
    }

    /// Adds a field whose value is a string.
    pub fn text(self, name: &str, text: &str) -> Self {
        self.raw(name, &quote(text))
    }

    /// Adds a field whose value is an id.
    pub fn id(self, name: &str, id: &str) -> Self {
        self.raw(name, &quote_id(id))
    }

    /// Adds an id where there is one.
    pub fn optional_id(self, name: &str, id: &str) -> Self {
        if id.is_empty() { self } else { self.id(name, id) }
    }

    /// Adds a field where there is a value.
    pub fn optional_field(self, name: &str, json: Option<&str>) -> Self {
        match json {
            Some(json) => self.raw(name, json),
            None => self,
        }
    }

    /// The object's JSON.
    pub fn finish(self) -> String {
        format!("{{{}}}", self.out)
    }
}

/// A list of JSON texts as JSON.
pub fn join(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn strings_come_back() {
        for text in ["", "plain", "a\"b\\c\nd\te\r\u{1}\u{1f}", "中文 🦀 \u{2028}"] {
            assert_eq!(string(&quote(text)).unwrap(), text);
            assert_eq!(serde_json::from_str::<String>(&quote(text)).unwrap(), text);
        }
        assert_eq!(
            string(r#""\ud83e\udd80 \ud83e. \udd80""#).unwrap(),
            "🦀 \u{fffd}. \u{fffd}",
            "texts cut within a character"
        );
        assert_eq!(string("3"), None);
        assert_eq!(string("\"a\"b\""), None);
    }

    #[test]
    fn objects_keep_their_values_as_text() {
        let object =
            Object::parse(r#"{"a": {"x" : 1.50}, "b":"t\n", "c":null, "\u0064": [1, {"y":2}], "a": 7}"#).unwrap();
        assert_eq!(object.get("a"), Some("7"), "the last of two fields counts");
        assert_eq!(object.text("b").unwrap(), "t\n");
        assert_eq!((object.get("c"), object.has("c")), (None, true));
        assert_eq!(object.list("d").unwrap(), ["1", r#"{"y":2}"#]);
        assert!(object.has_only(&["a", "b", "d"]) && !object.has_only(&["a", "b"]));
        assert!(Object::parse("[1]").is_none());
        let with_items = |json: &'static str| {
            let (object, items) = Object::parse_with_items(json, &["m", "n"])?;
            Some((object.get("m")?, object.get("a"), items))
        };
        let json = r#" { "a":1,"m" : [ {"x":1} ,"]" ] } "#;
        assert_eq!(with_items(json), Some((r#"[ {"x":1} ,"]" ]"#, Some("1"), vec![r#"{"x":1}"#, "\"]\""])));
        for json in
            [r#"{"m":[]}"#, r#"{"m":"t"}"#, r#"{"m":[1],"n":[2]}"#, r#"{"m":[1],"m":[2]}"#, r#"{"m":[1]} x"#, "[1]"]
        {
            assert_eq!(with_items(json), None, "{json}");
        }
        let written = ObjectWriter::new().text("k", "v\"").raw("n", "[1]").optional_field("o", None).finish();
        assert_eq!(written, r#"{"k":"v\"","n":[1]}"#);
    }

    #[test]
    fn fields_stay_as_they_came() {
        let body = r#" {"b": [ 1, {"x":2} ], "a\u0022" : 1.0 ,"c":null, "d":{"e" : 1}} "#;
        let fields = Object::parse(body).unwrap();
        let check = |changed: &[(&str, Option<&str>)], expect: &str| assert_eq!(fields.with(changed), expect);
        check(&[], r#"{"b":[ 1, {"x":2} ],"a\"":1.0,"c":null,"d":{"e" : 1}}"#);
        check(&[("b", Some("[]")), ("d", None), ("new", Some("1"))], r#"{"b":[],"a\"":1.0,"c":null}"#);
        assert_eq!(fields.list("b"), Some(vec!["1", "{\"x\":2}"]));
        assert_eq!((fields.get("c"), fields.list("d"), fields.get("none")), (None, None, None));
        assert_eq!(fields.value("d")["e"], 1);
        assert!(fields.is_distinct() && !Object::parse("{\"a\":1,\"a\":2}").unwrap().is_distinct());
        for none in ["", "[]", "7", "{\"a\":1", "{} {}"] {
            assert!(Object::parse(none).is_none(), "{none}");
        }
    }
}
