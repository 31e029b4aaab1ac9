//! Texts as they are compared with each other.

/// A text in small letters, white space as one blank, one kind of quotes. Linear.
pub(super) fn fold_for_lookup(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut is_gap = false;
    for char in text.chars() {
        if char.is_whitespace() {
            is_gap = !folded.is_empty();
            continue;
        }
        if std::mem::take(&mut is_gap) {
            folded.push(' ');
        }
        match char {
            '’' | '‘' => folded.push('\''),
            '“' | '”' => folded.push('"'),
            char => folded.extend(char.to_lowercase()),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding() {
        assert_eq!(fold_for_lookup(" It’s\n  “A  b” "), "it's \"a b\"");
    }
}
