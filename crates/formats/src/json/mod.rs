//! JSON in two ways. Formats that are written back keep values as the bytes that they were recorded in, and decode only
//! the parts that are needed: [`Object`]. Readers of other recordings work on parsed values: [`value`].

pub(crate) mod value;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::input::{mend, mend_with};

/// An object whose values are still JSON text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// The object that `json` is, or `None` where it is something else.
    pub(crate) fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The object that `json` is together with the items of its one list in a field of `keys`, in one pass over the text.
    /// `None` where the object is anything else: two such fields, an empty list, a field that is not a list.
    pub(crate) fn parse_with_items(json: &'a str, keys: &[&str]) -> Option<(Self, Vec<&'a str>)> {
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
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let (_, json) = self.fields.iter().rfind(|(key, _)| key == name)?;
        (*json != "null").then_some(json)
    }

    /// The text of a field that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(string)
    }

    /// The id in a field that is a string; empty where there is none: see [`id`].
    pub(crate) fn id(&self, name: &str) -> Arc<str> {
        self.get(name).and_then(id).map_or_else(|| Arc::from(""), |id| Arc::from(&*id))
    }

    /// A field that is an object.
    pub(crate) fn object(&self, name: &str) -> Option<Object<'a>> {
        self.get(name).and_then(Object::parse)
    }

    /// A field that is a list, as the texts of its items.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        self.get(name).and_then(list)
    }

    /// A field that is a number, where it is one of `T`.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Whether a field is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Whether the object has a field of that name, null or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }

    /// Whether every field that is not null is one of `known`.
    pub(crate) fn has_only(&self, known: &[&str]) -> bool {
        self.fields.iter().all(|(key, json)| known.contains(&key.as_ref()) || *json == "null")
    }

    /// The fields in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &'a str)> {
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

/// The string that `json` is.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    // The common case, checked without the parser: no escapes and no control characters.
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.bytes().any(|byte| byte == b'\\' || byte == b'"' || byte < 0x20) {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = serde_json::from_str::<String>(json).ok();
    decoded.or_else(|| serde_json::from_str(&mend(json)?).ok()).map(Cow::Owned)
}

/// Where halves of characters are in an id that was read: U+D800 is U+10D800, a character for private use.
const HALVES: u32 = 0x10_0000;

/// The id that `json` is, where it is a string. Ids are compared, and written back beside others that are not: one that was
/// cut within a character keeps which half it has, where a text has U+FFFD. [`quote_id`] writes it as it came.
pub(crate) fn id(json: &str) -> Option<Cow<'_, str>> {
    let text = string(json)?;
    // Only a text that was cut has this, or one that had it before.
    if !text.contains('\u{fffd}') {
        return Some(text);
    }
    Some(keep_halves(json).and_then(|json| serde_json::from_str(&json).ok()).map_or(text, Cow::Owned))
}

/// JSON with a character for private use in place of each half of a character; `None` where it has none.
/// [`restore_halves`] gives the halves back.
pub(crate) fn keep_halves(json: &str) -> Option<String> {
    mend_with(json, |out, unit| out.push(char::from_u32(HALVES + unit).unwrap_or(char::REPLACEMENT_CHARACTER)))
}

/// JSON with the halves of characters that [`keep_halves`] took out.
pub(crate) fn restore_halves(json: String) -> String {
    if !has_half(&json) {
        return json;
    }
    let mut written = String::with_capacity(json.len() + 8);
    for char in json.chars() {
        match half(char) {
            Some(unit) => written.push_str(&format!("\\u{unit:04x}")),
            None => written.push(char),
        }
    }
    written
}

/// The half of a character that `char` stands for.
fn half(char: char) -> Option<u32> {
    u32::from(char).checked_sub(HALVES).filter(|unit| (0xd800..=0xdfff).contains(unit))
}

/// Whether an id has half of a character, which is in its own format alone.
pub(crate) fn has_half(id: &str) -> bool {
    id.chars().any(|char| half(char).is_some())
}

/// A text whose halves of characters were kept, as texts are read.
pub(crate) fn without_halves(text: &str) -> Cow<'_, str> {
    if !has_half(text) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|char| if half(char).is_some() { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

/// An id as a JSON string, as it came.
pub(crate) fn quote_id(id: &str) -> String {
    restore_halves(quote(id))
}

/// The texts of the items of the list that `json` is.
pub(crate) fn list(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// Returns the tool definitions in a JSON text; `None` where there are none: an empty list is sent as no list is, and
/// costs nothing. Constant time but for white space.
///
/// ```
/// use epitome_formats::defined_tools;
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
pub(crate) fn offset(whole: &[u8], part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// `text` as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default() // a text can always be written
}

/// Writes one object, field by field.
#[derive(Debug)]
pub(crate) struct ObjectWriter {
    out: String,
}

impl ObjectWriter {
    /// An object without fields.
    pub(crate) fn new() -> Self {
        Self { out: String::from("{") }
    }

    /// Adds a field whose value is JSON text.
    pub(crate) fn raw(mut self, name: &str, json: &str) -> Self {
        if self.out.len() > 1 {
            self.out.push(',');
        }
        self.out.push_str(&quote(name));
        self.out.push(':');
        self.out.push_str(json);
        self
    }

    /// Adds a field whose value is a string.
    pub(crate) fn text(self, name: &str, text: &str) -> Self {
        self.raw(name, &quote(text))
    }

    /// Adds a field whose value is an id.
    pub(crate) fn id(self, name: &str, id: &str) -> Self {
        self.raw(name, &quote_id(id))
    }

    /// Adds an id where there is one.
    pub(crate) fn optional_id(self, name: &str, id: &str) -> Self {
        if id.is_empty() { self } else { self.id(name, id) }
    }

    /// Adds a field where there is a value.
    pub(crate) fn optional_field(self, name: &str, json: Option<&str>) -> Self {
        match json {
            Some(json) => self.raw(name, json),
            None => self,
        }
    }

    /// The object's JSON.
    pub(crate) fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }
}

/// A list of JSON texts as JSON.
pub(crate) fn join(items: &[String]) -> String {
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
    fn ids_keep_the_half_of_a_character() {
        let check = |json: &str, has: bool| {
            let id = id(json).unwrap();
            assert_eq!((quote_id(&id), has_half(&id)), (json.to_owned(), has), "{json}");
        };
        check(r#""call_1""#, false);
        check(r#""\ud83d""#, true);
        check(r#""a\udd80b""#, true);
        check("\"\u{fffd}\"", false);
        check("\"🦀\"", false);
        check(r#""\\ud83d""#, false);
        assert_ne!(id(r#""\ud83d""#), id(r#""\ud83e""#), "which half");
        assert_eq!(id(r#""\uD83D""#), id(r#""\ud83d""#), "however it is written");
        assert_eq!(id("3"), None);
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
}
