//! Shortening texts before the model reads them: both ends stay, and lines that speak of errors or of the focus.

use std::borrow::Cow;

use epitome_strategy::cut::{Focus, informative_lines};
use epitome_strategy::{Arguments, Language, Tokens, Value, View};

/// Tokens beside which a text is not cut: the mark would cost as much.
const SLACK: Tokens = 40;

/// `text`, cut to about `most` tokens where it is longer. Linear in the text.
pub(super) fn shorten_text<'t>(view: &View<'_>, text: &'t str, most: Tokens, focus: &Focus) -> Cow<'t, str> {
    let most = most.max(1);
    if text.len() <= (most + SLACK) as usize {
        return Cow::Borrowed(text);
    }
    // A token of more than 64 bytes is as good as unseen.
    let is_short = text.len() / 64 <= (most + SLACK) as usize && view.count(text) <= most + SLACK;
    if is_short {
        return Cow::Borrowed(text);
    }
    let lines = informative_lines(view, text, focus, most);
    let mut short = String::new();
    let mut at = 0;
    let gap = |short: &mut String, range: std::ops::Range<usize>| {
        if !range.is_empty() {
            let is_line = short.is_empty() || short.ends_with('\n');
            let ends_line = text[range.clone()].ends_with('\n');
            short.push_str(&left_out(view.language(), &text[range]));
            short.push_str(if is_line && ends_line { "\n" } else { "" });
        }
    };
    for range in &lines.keep {
        gap(&mut short, at..range.start as usize);
        short.push_str(&text[range.start as usize..range.end as usize]);
        at = range.end as usize;
    }
    gap(&mut short, at..text.len());
    Cow::Owned(short)
}

/// The mark for text that is left out.
fn left_out(language: Language, text: &str) -> String {
    let lines = text.matches('\n').count();
    let chars = text.chars().count();
    match lines {
        0 | 1 => language.pick(format!("[… {chars} characters]"), format!("[… {chars} 字]")),
        _ => language.pick(format!("[… {lines} lines]"), format!("[… {lines} 行]")),
    }
}

/// A call's arguments on one line, the strings in them cut to about `most` tokens each, and the whole to four times as
/// much. Linear in the arguments.
pub(super) fn arguments(view: &View<'_>, arguments: &Arguments, most: Tokens, focus: &Focus) -> String {
    let text = arguments.text();
    let whole = most.saturating_mul(4);
    if text.len() <= most as usize || view.count(&text[..text.floor_char_boundary(64 * most as usize)]) <= most {
        return text.to_string();
    }
    let Some(mut value) = arguments.json() else {
        return shorten_text(view, text, whole.min(most * 2), focus).into_owned();
    };
    shorten_strings(view, &mut value, most, focus);
    let json = value.to_string();
    shorten_text(view, &json, whole, focus).into_owned()
}

fn shorten_strings(view: &View<'_>, value: &mut Value, most: Tokens, focus: &Focus) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(short) = shorten_text(view, text, most, focus) {
                *text = short;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_strings(view, item, most, focus)),
        Value::Object(fields) => fields.values_mut().for_each(|item| shorten_strings(view, item, most, focus)),
        Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}
