//! The savings from shortening a call's arguments.

use epitome_session::Arguments;
use serde_json::Value;

use crate::block::BlockRef;
use crate::services::Tokens;
use crate::view::View;

/// Shortening must remove at least this many characters to be worth an edit.
const LEAST_CUT: usize = 100;

/// Returns the tokens that cutting the strings of a call's arguments to `max_chars` characters saves, rather too few
/// than too many; 0 where the block is not a call or the cut is not worth it. Estimated from the share of the
/// characters, less a mark for each string that is cut. Linear in the arguments.
pub fn argument_saving(view: &View<'_>, at: BlockRef, max_chars: u32) -> Tokens {
    let Some(call) = view.block(at).and_then(|block| block.as_call()) else { return 0 };
    let text = call.arguments.text();
    let most = max_chars as usize;
    // Bytes are no fewer than characters: this test settles most arguments.
    if text.len() < most + LEAST_CUT {
        return 0;
    }
    let all = text.chars().count();
    let (mut over, mut strings) = (0, 0);
    match &call.arguments {
        Arguments::Text(_) => (over, strings) = (all.saturating_sub(most), 1),
        Arguments::Json(json) => {
            let mut values: Vec<Value> = serde_json::from_str(json).into_iter().collect();
            while let Some(value) = values.pop() {
                match value {
                    Value::String(text) => {
                        let beyond = text.chars().count().saturating_sub(most);
                        over += beyond;
                        strings += Tokens::from(beyond > 0);
                    }
                    Value::Array(items) => values.extend(items),
                    Value::Object(fields) => values.extend(fields.into_iter().map(|(_, value)| value)),
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
    }
    if over < LEAST_CUT {
        return 0;
    }
    let share = over as f64 / all.max(1) as f64;
    ((f64::from(view.block_tokens(at)) * share) as Tokens).saturating_sub(strings * view.mark_tokens())
}
