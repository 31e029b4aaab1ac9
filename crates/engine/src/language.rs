//! The language of a session.

use epitome_session::{Entry, Language};
use epitome_strategy::text::is_cjk;

/// How many characters of typed text are read: the first pages decide.
const SAMPLE: usize = 4_000;

/// The share of Chinese characters from which on a session is Chinese: a Chinese sentence about code is half Latin
/// letters.
const CHINESE_FROM: f64 = 0.15;

/// Returns the language in which the user writes. Linear in a bounded sample.
pub fn language(entries: &[Entry]) -> Language {
    let (mut letters, mut chinese, mut others) = (0usize, 0usize, 0usize);
    for entry in entries.iter().filter(|entry| entry.message.is_typed()) {
        for text in entry.message.texts() {
            for char in text.chars().filter(|char| char.is_alphabetic()).take(SAMPLE) {
                letters += 1;
                // Kana and Hangul: Han characters around them are not Chinese.
                let other = matches!(u32::from(char), 0x3040..=0x30FF | 0xAC00..=0xD7AF);
                others += usize::from(other);
                chinese += usize::from(!other && is_cjk(char));
            }
        }
        if letters >= SAMPLE {
            break;
        }
    }
    if letters > 0 && others * 4 < chinese && chinese as f64 >= CHINESE_FROM * letters as f64 {
        Language::Chinese
    } else {
        Language::English
    }
}
