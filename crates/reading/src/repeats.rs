//! What tools print again and again.

use epitome_strategy::keys::{KeyMap, key_of};

use crate::passage::PassageKind;
use crate::source::Source;

/// The rest of the worth of a line that tools print again and again, and the number of messages that makes it such a
/// line.
const BOILERPLATE: f32 = 0.3;
const REPEATED: u32 = 3;
/// Bytes of the shortest line that counts as repeated.
const REPEATED_BYTES: usize = 12;
/// Bytes of the shortest such line of which only the newest copy has a worth: a harness puts whole paragraphs of advice behind
/// results. A shorter copy costs little, and belongs to what stands around it.
const LONG_COPY: usize = 80;

/// Returns the lines that tools print again and again, their numbers and paths aside, with the share of their worth that is
/// left; of long ones that are the same to the letter only the newest has one. Linear in the lines.
pub(crate) fn repeats(source: &Source) -> Vec<(u32, f32)> {
    let mut messages: KeyMap<(u32, u32)> = KeyMap::default();
    let mut keys: Vec<(u32, u64)> = Vec::new();
    // The newest line of each long text.
    let mut newest: KeyMap<u32> = KeyMap::default();
    for passage in source.passages.iter().filter(|passage| passage.kind == PassageKind::Output) {
        for line in passage.lines.clone() {
            let text = source.lines[line as usize].text();
            if text.len() > REPEATED_BYTES {
                let key = mask(text);
                keys.push((line, key));
                if text.len() >= LONG_COPY {
                    newest.insert(key_of(text.bytes()), line);
                }
                let (last, count) = messages.entry(key).or_insert((u32::MAX, 0));
                if *last != passage.message {
                    (*last, *count) = (passage.message, *count + 1);
                }
            }
        }
    }
    let is_repeated = |key: &u64| messages.get(key).is_some_and(|(_, count)| *count >= REPEATED);
    let rest = |line: u32| {
        let text = source.lines[line as usize].text();
        let is_copy = newest.get(&key_of(text.bytes())).is_some_and(|newest| *newest != line);
        if is_copy { 0.0 } else { BOILERPLATE }
    };
    keys.into_iter().filter(|(_, key)| is_repeated(key)).map(|(line, _)| (line, rest(line))).collect()
}

/// Returns a hash of a line without its numbers and paths.
fn mask(text: &str) -> u64 {
    let is_path = |word: &&str| word.bytes().any(|byte| matches!(byte, b'/' | b'\\'));
    let words = text.split_ascii_whitespace().filter(|word| !is_path(word));
    key_of(words.flat_map(|word| word.bytes().filter(|byte| !byte.is_ascii_digit()).chain([b' '])))
}
