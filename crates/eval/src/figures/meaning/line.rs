//! Lines as they are compared.

/// Characters that a line has at least to be counted: shorter ones stand in many places by chance.
pub(super) const LEAST_LINE: usize = 20;

/// Each run of white space as one blank, none at the ends.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
