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

/// The lines in their order, each once, without empty ones.
pub(super) fn unique(lines: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    lines.into_iter().filter(|line| !line.is_empty() && seen.insert(line.clone())).collect()
}
