//! The changes of a call's arguments.

use epitome_session::Arguments;
use serde_json::Value;

use super::shortened::is_mark;

/// A change of arguments.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// Long strings were cut to this many characters, or fewer.
    Cut(u32),
    /// A change that is not expressible as an edit.
    Other(String),
}

/// Returns how `new` differs from `old`. Linear in both.
pub(super) fn change(old: &Arguments, new: &Arguments) -> Change {
    if old == new {
        return Change::None;
    }
    let mut lengths = Lengths::default();
    let compared = match (old, new) {
        (Arguments::Text(old), Arguments::Text(new)) => lengths.text(old, new),
        (Arguments::Json(old), Arguments::Json(new)) => {
            match (serde_json::from_str::<Value>(old), serde_json::from_str::<Value>(new)) {
                (Ok(old), Ok(new)) => lengths.value(&old, &new),
                _ => Err("the arguments are not JSON".to_owned()),
            }
        }
        _ => Err("the arguments are of another kind than before".to_owned()),
    };
    match (compared, lengths.cut) {
        (Err(problem), _) => Change::Other(problem),
        (Ok(()), None) => Change::None, // white space
        (Ok(()), Some(cut)) if lengths.whole > cut.max(1) => Change::Other(format!(
            "a string of the arguments was cut to {cut} characters and one of {} was not; strings of one call are cut \
             to one length",
            lengths.whole
        )),
        (Ok(()), Some(cut)) => Change::Cut(u32::try_from(cut.max(1)).unwrap_or(u32::MAX)),
    }
}

#[derive(Default)]
struct Lengths {
    /// Returns the characters of the longest string that is unchanged.
    whole: usize,
    /// Returns the most characters that a cut string has left.
    cut: Option<usize>,
}

impl Lengths {
    fn text(&mut self, old: &str, new: &str) -> Result<(), String> {
        if old == new {
            self.whole = self.whole.max(old.chars().count());
            return Ok(());
        }
        let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new);
        let bytes: usize = same.clone().map(|(char, _)| char.len_utf8()).sum();
        let rest = &new[bytes..];
        if new.len() >= old.len() || !(rest.is_empty() || is_mark(rest)) {
            return Err("a string of the arguments was rewritten; its end may be cut off".to_owned());
        }
        self.cut = self.cut.max(Some(same.count()));
        Ok(())
    }

    fn value(&mut self, old: &Value, new: &Value) -> Result<(), String> {
        match (old, new) {
            (Value::String(old), Value::String(new)) => self.text(old, new),
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                old.iter().zip(new).try_for_each(|(old, new)| self.value(old, new))
            }
            (Value::Object(old), Value::Object(new)) if old.len() == new.len() => {
                old.iter().try_for_each(|(key, old)| match new.get(key) {
                    Some(new) => self.value(old, new),
                    None => Err(format!("the argument `{key}` is gone; its text may be cut, it stays")),
                })
            }
            (old, new) if old == new => Ok(()),
            _ => Err("the arguments are others than before; strings in them may be cut".to_owned()),
        }
    }
}
