//! Finds the exact strings of a text: one pass over its bytes.

use super::strings::StringKind;

/// The longest exact string, in bytes: a longer one is data and not a name.
const LONGEST: usize = 200;

/// A string that was found: its kind and where it starts and ends.
pub(super) struct StringMatch {
    pub kind: StringKind,
    pub start: usize,
    pub end: usize,
}

/// A byte that continues a word. Every byte that is not ASCII ends one.
const IN_WORD: u8 = 1;
/// A byte of a word that common words do not have: a digit or a sign.
const TELLS: u8 = 2;
/// A capital letter; one behind a small letter marks a name.
const CAPITAL: u8 = 4;
/// A small letter.
const SMALL: u8 = 8;
/// A backslash or a backquote.
const SPECIAL: u8 = 16;

/// The class of each byte, looked up for every byte of a session.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => IN_WORD | SMALL,
            b'A'..=b'Z' => IN_WORD | CAPITAL,
            b'0'..=b'9' => IN_WORD | TELLS,
            b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'#' | b'~' | b'%' | b'+' | b'=' | b'&' | b'?' | b'$' => {
                IN_WORD | TELLS
            }
            b'\\' | b'`' => SPECIAL,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Punctuation that ends a sentence or opens a string, and is not part of a name at its edges.
fn at_edge(byte: u8) -> bool {
    matches!(byte, b'.' | b':' | b'?' | b'-' | b'=' | b'&' | b'+' | b'%' | b'#' | b'$' | b'@')
}

/// Returns the exact strings of a text, in order: paths, identifiers, numbers, addresses, quoted words. Linear.
pub fn exact_strings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    scan(text, false, |it| found.push(&text[it.start..it.end]));
    found
}

/// Calls `found` for each exact string in `text`, in order. `is_json` says that `\n`, `\"` and the like are escapes.
/// Linear.
pub(super) fn scan(text: &str, is_json: bool, mut found: impl FnMut(StringMatch)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let class = CLASSES[usize::from(bytes[at])];
        if class & IN_WORD == 0 {
            if class == SPECIAL && is_json {
                at += usize::from(bytes[at] == b'\\'); // an escape: what stands behind it is not part of a word
            } else if class == SPECIAL
                && bytes[at] == b'`'
                && let Some(quoted) = backquoted_span(bytes, at)
            {
                found(quoted);
            }
            at += 1;
            continue;
        }
        let (start, mut tells, mut before) = (at, false, 0);
        while let Some(byte) = bytes.get(at) {
            let class = CLASSES[usize::from(*byte)];
            if class & IN_WORD == 0 {
                break;
            }
            tells |= class & TELLS != 0 || (class & CAPITAL != 0 && before & SMALL != 0);
            before = class;
            at += 1;
        }
        // Most words are letters only, and these are not exact strings.
        if tells {
            word(bytes, start, at, &mut found);
        }
    }
}

/// A short text between backquotes that holds more than one word: a command or a phrase that the writer set apart.
fn backquoted_span(bytes: &[u8], open: usize) -> Option<StringMatch> {
    let rest = &bytes[open + 1..bytes.len().min(open + 82)];
    let length = rest.iter().position(|byte| matches!(byte, b'`' | b'\n'))?;
    let inside = &rest[..length];
    let is_phrase = rest[length] == b'`' && length >= 4 && inside.contains(&b' ') && inside[0] != b' ';
    is_phrase.then_some(StringMatch { kind: StringKind::Quoted, start: open + 1, end: open + 1 + length })
}

fn word(bytes: &[u8], mut start: usize, mut end: usize, found: &mut impl FnMut(StringMatch)) {
    while end > start && at_edge(bytes[end - 1]) {
        end -= 1;
    }
    // A dot, a dash or an at sign may open a name: `.env`, `@scope/pkg`.
    while start < end && at_edge(bytes[start]) && !matches!(bytes[start], b'.' | b'@') {
        start += 1;
    }
    if end - start < 3 || end - start > LONGEST {
        return;
    }
    let word = &bytes[start..end];
    if let Some(kind) = kind(word) {
        found(StringMatch { kind, start, end });
        if kind == StringKind::Path {
            file_name(word, start, found);
        } else if let Some(at) = word.iter().position(|byte| matches!(byte, b'=' | b':'))
            && kind == StringKind::Identifier
            && word.get(at + 1).is_none_or(|next| *next != word[at])
        {
            // `key=value` and `file.rs:12` name two things; later text repeats the parts.
            parts(bytes, start, start + at, end, found);
        }
    }
}

fn parts(bytes: &[u8], start: usize, middle: usize, end: usize, found: &mut impl FnMut(StringMatch)) {
    for (start, end) in [(start, middle), (middle + 1, end)] {
        let part = &bytes[start..end];
        if part.len() >= 3
            && let Some(kind) = kind(part)
        {
            found(StringMatch { kind, start, end });
            if kind == StringKind::Path {
                file_name(part, start, found);
            }
        }
    }
}

/// Returns the last part of a path: other texts may name the file by it alone.
fn file_name(path: &[u8], start: usize, found: &mut impl FnMut(StringMatch)) {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let path_end = path.iter().position(|byte| *byte == b':').unwrap_or(path.len());
    let name_start = path[..path_end].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    if path_end < path.len() && name_start < path_end {
        // `src/main.rs:12`: other texts use the path without the line.
        found(StringMatch { kind: StringKind::Path, start, end: start + path_end });
    }
    if name_start > 0 && path_end >= name_start + 3 {
        found(StringMatch { kind: StringKind::Path, start: start + name_start, end: start + path_end });
    }
}

/// Returns the kind of a word, if it is an exact string at all.
fn kind(word: &[u8]) -> Option<StringKind> {
    let word = without_line(word);
    let (mut letters, mut digits, mut upper_inside, mut underscores, mut slashes, mut dots) = (0, 0, 0, 0, 0, 0);
    let (mut dashes, mut colons, mut others) = (0, 0, 0);
    let mut before = 0u8;
    for byte in word {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' => letters += 1,
            b'A'..=b'Z' => {
                letters += 1;
                upper_inside += usize::from(before.is_ascii_lowercase());
            }
            b'_' => underscores += 1,
            b'/' => slashes += 1,
            b'.' => dots += 1,
            b'-' => dashes += 1,
            b':' => colons += 1,
            _ => others += 1,
        }
        before = *byte;
    }
    if letters + digits < 2 {
        return None;
    }
    if colons > 0 && word.windows(3).any(|part| part == b"://") {
        return Some(StringKind::Url);
    }
    if slashes > 0 {
        let rooted = matches!(word[0], b'/' | b'.' | b'~' | b'@');
        let has_extension = extension(word).is_some();
        return (letters > 0 && (rooted || slashes > 1 || has_extension || underscores + dashes > 0))
            .then_some(StringKind::Path);
    }
    if letters == 0 {
        return (digits >= 4).then_some(StringKind::Number);
    }
    if dots > 0 && colons == 0 && extension(word).is_some() && underscores + dashes + digits + letters >= 4 {
        return Some(StringKind::Path);
    }
    let mixed = digits > 0 && letters + digits >= 4;
    let compound = dots > 0 && word.len() >= 6 || colons > 0 && letters >= 3 || dashes > 0 && letters >= 6;
    (underscores > 0 || upper_inside > 0 || mixed || compound || others > 0).then_some(StringKind::Identifier)
}

/// Returns `main.rs:12:5` without the numbers of line and column.
fn without_line(word: &[u8]) -> &[u8] {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &word[..word.len() - digits];
    match rest.strip_suffix(b":") {
        Some(rest) if digits > 0 && rest.iter().any(|byte| matches!(byte, b'.' | b'/')) => without_line(rest),
        _ => word,
    }
}

/// Returns the extension of a file name: one to five letters or digits behind the last dot, letters first, with a name
/// before.
fn extension(word: &[u8]) -> Option<&[u8]> {
    let dot = word.iter().rposition(|byte| *byte == b'.')?;
    let (name, extension) = (&word[..dot], &word[dot + 1..]);
    let plain = (1..=5).contains(&extension.len())
        && extension[0].is_ascii_lowercase()
        && extension.iter().all(u8::is_ascii_alphanumeric);
    (plain && name.last().is_none_or(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/')))
        .then_some(extension)
}
