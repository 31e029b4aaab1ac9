//! What a model's name says: its words and its version.

/// A model's name: its words, and the version among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// Its words in order, in small letters.
    pub words: Vec<String>,
    /// The first version in it.
    pub version: Option<(u32, u32)>,
}

impl ModelName {
    /// Reads a name: `claude-sonnet-4-5` and `claude-4.5-sonnet` have two words and (4, 5), `qwen3-8b` has the words `qwen` and `8b`
    /// and (3, 0). A longer number is a date, and ends it.
    pub fn parse(name: &str) -> Self {
        let name = name.to_lowercase();
        let (mut words, mut version) = (Vec::new(), None);
        let mut is_open = false; // whether the part in front is the first number of the version
        for part in name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty()) {
            let word = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let number = part[word.len()..].parse::<u32>().ok().filter(|number| *number < 100);
            let number = number.filter(|_| word.chars().all(char::is_alphabetic));
            match (word, number) {
                ("", None) => break,
                ("", Some(_)) => {}
                (word, Some(_)) => words.push(word.to_owned()),
                (_, None) => words.push(part.to_owned()),
            }
            (version, is_open) = match (version, number) {
                (None, Some(major)) => (Some((major, 0)), true),
                (Some((major, _)), Some(minor)) if is_open && word.is_empty() => (Some((major, minor)), false),
                (version, _) => (version, false),
            };
        }
        Self { words, version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_words_and_a_version() {
        let check = |name: &str, words: &str, version: Option<(u32, u32)>| {
            let read = ModelName::parse(name);
            assert_eq!((read.words.join(" ").as_str(), read.version), (words, version), "{name}");
        };
        check("claude-sonnet-4-5-20250929", "claude sonnet", Some((4, 5)));
        check("Claude-4.5-Sonnet", "claude sonnet", Some((4, 5)));
        check("us.anthropic.claude-3-5-haiku-20241022-v1:0", "us anthropic claude haiku", Some((3, 5)));
        check("qwen3-8b", "qwen 8b", Some((3, 0)));
        check("gpt-4o-2024-05-13", "gpt 4o", None);
        check("claude-sonnet-5", "claude sonnet", Some((5, 0)));
        check("opus", "opus", None);
        check("", "", None);
    }
}
