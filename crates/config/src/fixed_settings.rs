//! Settings of strategies that files may still have and that are constants now.

/// The strategy, the key, and the value that holds.
const FIXED: [(&str, &str, &str); 7] = [
    ("hierarchical", "conclusion_tokens", "200 tokens"),
    ("hierarchical", "key_result_tokens", "300 tokens"),
    ("structured-extraction", "decision_share", "0.05"),
    ("structured-extraction", "longest_line", "200 bytes"),
    ("time-decay", "medium_text_tokens", "60 tokens"),
    ("tool-results", "arrival_share", "0.25"),
    ("topic-segments", "passage_steps", "5 steps"),
];

/// The value, with its unit, of a key that this strategy had as a setting; `None` for other keys.
pub(crate) fn fixed_value(strategy: &str, key: &str) -> Option<&'static str> {
    FIXED.iter().find(|(of, name, _)| (*of, *name) == (strategy, key)).map(|(_, _, value)| *value)
}
