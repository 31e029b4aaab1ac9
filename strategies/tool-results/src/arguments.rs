//! What shortening a call's arguments saves.

use epitome_strategy::{Arguments, BlockRef, Tokens, View};
use serde_json::Value;

/// Shortening must cut off at least this many characters to be worth an edit.
const LEAST_CUT: usize = 100;

/// Tokens that cutting the strings of a call's arguments to `max_chars` saves, estimated from their share of its
/// characters; 0 where there is nothing worth cutting. Linear in the arguments.
pub(crate) fn saving(view: &View<'_>, at: BlockRef, arguments: &Arguments, max_chars: u32) -> Tokens {
    let text = arguments.text();
    let all = text.chars().count();
    let most = max_chars as usize;
    if all <= most + LEAST_CUT {
        return 0;
    }
    let cut = match arguments {
        Arguments::Text(_) => all - most,
        Arguments::Json(text) => serde_json::from_str::<Value>(text).map_or(0, |value| overlong(&value, most)),
    };
    if cut < LEAST_CUT {
        return 0;
    }
    let share = cut as f64 / all as f64;
    ((f64::from(view.block_tokens(at)) * share) as Tokens).saturating_sub(view.mark_tokens())
}

/// Characters beyond `most` in all strings of a value.
fn overlong(value: &Value, most: usize) -> usize {
    match value {
        Value::String(text) => text.chars().count().saturating_sub(most),
        Value::Array(items) => items.iter().map(|item| overlong(item, most)).sum(),
        Value::Object(fields) => fields.values().map(|field| overlong(field, most)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
