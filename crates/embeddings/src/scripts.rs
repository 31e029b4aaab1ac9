//! The characters that the table knows, and those that are hashed.

/// The reader of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// A Latin letter, a digit.
    Latin,
    /// A Chinese character, also where Japanese or Korean text writes one.
    Han,
    /// A letter of a script with words of a few letters: Cyrillic, Greek, Arabic, …
    Alphabet,
    /// A letter of a script that writes a syllable a letter or no spaces: kana, Hangul, Thai, …
    Syllables,
    /// Blanks, punctuation, symbols.
    None,
}

/// Returns the reader of `character`.
pub(crate) fn script_of(character: char) -> Script {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Script::Latin,
        '\0'..='\u{7f}' => Script::None,
        '\u{4e00}'..='\u{9fff}' => Script::Han,
        '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' if character.is_alphabetic() => Script::Latin,
        // Thai to Myanmar, Khmer, kana and bopomofo, rarer Chinese characters, Hangul.
        '\u{e00}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}' if character.is_alphanumeric() => {
            Script::Syllables
        }
        '\u{3040}'..='\u{4dff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
            if character.is_alphanumeric() =>
        {
            Script::Syllables
        }
        _ if character.is_alphanumeric() => Script::Alphabet,
        _ => Script::None,
    }
}

/// Returns the letter without its accent, in lower case, as the table spells it; `None` where there is no such letter.
pub(crate) fn plain_letter(character: char) -> Option<char> {
    // One letter for each character from U+00C0 on; a blank stands for "none".
    const LATIN_1: &[u8; 64] = b"aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty";
    const EXTENDED: &[u8; 128] = b"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll\
        lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
    let code = character as usize;
    let letter = match code {
        0xc0..=0xff => LATIN_1.get(code - 0xc0)?,
        0x100..=0x17f => EXTENDED.get(code - 0x100)?,
        _ => return character.is_ascii_alphanumeric().then(|| character.to_ascii_lowercase()),
    };
    (*letter != b' ').then_some(char::from(*letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        let cases = [
            ("aZ9éŁ", Script::Latin),
            ("汉字漢", Script::Han),
            ("Яжλشש", Script::Alphabet),
            ("かカ한ไ", Script::Syllables),
            (" -。,_«", Script::None),
        ];
        for (characters, expect) in cases {
            for character in characters.chars() {
                assert_eq!(script_of(character), expect, "{character}");
            }
        }
    }

    #[test]
    fn accents_fall() {
        let plain = |text: &str| text.chars().filter_map(plain_letter).collect::<String>();
        assert_eq!(plain("ÀéîõÜçñßÿ×"), "aeioucnsy");
        assert_eq!(plain("ĀđĘğİłńŐřŠŤůŵŸž"), "adegilnorstuwyz");
        assert_eq!(plain("Rust2"), "rust2");
    }
}
