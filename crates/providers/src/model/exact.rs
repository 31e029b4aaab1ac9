//! Exact strings that later work may need: which of them, and the words that bind them.

use std::collections::{HashMap, HashSet};

use epitome_strategy::text::is_cjk;
use epitome_strategy::tools::{self, ToolKind};
use epitome_strategy::{Atom, AtomKind, AtomPlace, BlockRef, Content, ToolCall, Value, View};

use super::shorten;
use crate::rules::languages::is_extension;
use crate::rules::speech::{is_standing, sentences};

/// Strings that are looked at, the likeliest first.
const MOST: usize = 300;
/// The age, as a share of the messages, at which the worth of a string has halved.
const HALF_LIFE: f32 = 0.8;
/// Bytes on each side of a string that bind it.
const AROUND: usize = 60;
/// A string of more bytes is data.
const LONGEST: usize = 160;

/// A line of the index: what it shows, and the strings that it holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExactLine {
    /// The string that the line is there for.
    pub string: String,
    /// The string with what binds it; the string alone where it says what it is.
    pub text: String,
}

/// The strings that requests and calls were about, the likeliest to be needed again first.
///
/// What counts is recent use, frequency, and kind (most numbers are counts and line
/// numbers). Linear in the view.
pub(super) fn index(view: &View<'_>) -> Vec<ExactLine> {
    let atoms = view.facts().atoms();
    let asked_for = || atoms.all().iter().enumerate().filter(|(_, atom)| atom.was_asked_for() && is_exact(atom));
    // A file whose path is there needs no other name.
    let names: HashSet<&str> = asked_for()
        .filter_map(|(_, atom)| Some(atom.text.rsplit_once('/')?.1))
        .filter(|name| !name.is_empty())
        .collect();
    let mut asked: Vec<(usize, f32)> = asked_for()
        .filter(|(_, atom)| !names.contains(atom.text))
        .filter_map(|(index, atom)| Some((index, worth(atom, atom.last_asked?, view.len()))))
        .collect();
    asked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    asked.truncate(MOST);
    let wanted: HashSet<u32> = asked.iter().map(|(index, _)| *index as u32).collect();
    // Of each string the newest place where it was asked for.
    let mut places: Vec<Option<(BlockRef, usize)>> = vec![None; atoms.all().len()];
    for occurrence in atoms.occurrences() {
        if wanted.contains(&occurrence.atom) && matches!(occurrence.place, AtomPlace::Typed | AtomPlace::Arguments) {
            places[occurrence.atom as usize] = Some((occurrence.at, occurrence.start as usize));
        }
    }
    let mut leaves = Leaves::new();
    let line = |(index, _): (usize, f32)| {
        let atom = &atoms.all()[index];
        let (at, start) = places[index]?;
        Some(ExactLine { string: atom.text.to_owned(), text: string_in_context(view, &mut leaves, atom, at, start)? })
    };
    asked.into_iter().filter_map(line).collect()
}

/// Whether a string is one that has to be exact. The facts of a view take compound words (`self-portrait`), calls of
/// methods (`im.save`) and alternatives (`and/or`) for identifiers and paths; here they would take the room of better ones.
pub(super) fn is_exact(atom: &Atom<'_>) -> bool {
    let text = atom.text;
    if text.len() > LONGEST {
        return false;
    }
    match atom.kind {
        AtomKind::Url | AtomKind::Number | AtomKind::Quoted => true,
        AtomKind::Identifier => {
            let is_camel = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
            let is_name = |byte: u8| !byte.is_ascii_alphabetic() && byte != b'-' && byte != b'.';
            (text.bytes().any(is_name) || text.as_bytes().windows(2).any(is_camel)) && !is_counted(text)
        }
        AtomKind::Path => {
            let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
            if text == "/dev/null" {
                return false;
            }
            let has_extension = is_extension(extension.split(':').next().unwrap_or_default());
            has_extension || text.matches('/').count() > 1 || text.starts_with("~/") || text.starts_with("./")
        }
    }
}

/// Whether a word only counts something: `18th`, `10-day`, `1950s-era`; not `4421abcd`, which may be a hash.
fn is_counted(text: &str) -> bool {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_hash = text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    rest.len() < text.len() && !is_hash && rest.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
}

fn worth(atom: &Atom<'_>, asked: u32, messages: usize) -> f32 {
    let kind = match atom.kind {
        AtomKind::Path => 1.0,
        AtomKind::Identifier | AtomKind::Quoted => 0.8,
        AtomKind::Url => 0.7,
        AtomKind::Number => 0.2,
    };
    // A typed string is rarer than those of calls, and has no other place.
    let typed = if atom.count(AtomPlace::Typed) > 0 { 2.0 } else { 1.0 };
    let age = messages.saturating_sub(asked as usize) as f32 / messages.max(1) as f32;
    let times = (atom.count(AtomPlace::Arguments) + atom.count(AtomPlace::Typed)).max(1);
    kind * typed * 0.5f32.powf(age / HALF_LIFE) * (1.0 + 0.3 * (times as f32).log2())
}

/// A string with the words around it; paths and addresses need no words. `None` for the name of a tool's argument.
fn string_in_context(
    view: &View<'_>,
    leaves: &mut Leaves,
    atom: &Atom<'_>,
    at: BlockRef,
    start: usize,
) -> Option<String> {
    let says_what_it_is = matches!(atom.kind, AtomKind::Path | AtomKind::Url);
    match &view.block(at)?.content {
        Content::ToolCall(call) => {
            // Written and planned content is reported by other means; the files remain.
            let kind = tools::kind(&call.name);
            if kind == ToolKind::Plan || matches!(kind, ToolKind::Edit | ToolKind::Write) && !says_what_it_is {
                return None;
            }
            let known = leaves.entry(at).or_insert_with(|| leaves_of(call));
            let (key, value) = known.iter().find(|(_, value)| value.contains(atom.text))?;
            if says_what_it_is {
                return Some(atom.text.to_owned());
            }
            let around = surroundings(value, value.find(atom.text)?, atom.text.len());
            let key = if key.is_empty() { String::new() } else { format!(" {}", shorten::one_line(key, 40)) };
            Some(format!("{}{key}: {around}", shorten::one_line(&call.name, 60)))
        }
        Content::Text { text } if !says_what_it_is => Some(surroundings(text, start, atom.text.len())),
        _ => Some(atom.text.to_owned()),
    }
}

/// The strings and numbers in the arguments of calls, each with its key.
type Leaves = HashMap<BlockRef, Vec<(String, String)>>;

fn leaves_of(call: &ToolCall) -> Vec<(String, String)> {
    let mut leaves = Vec::new();
    match call.arguments.json() {
        Some(json) => collect(&json, "", &mut leaves),
        None => leaves.push((String::new(), call.arguments.text().to_string())),
    }
    leaves
}

fn collect(value: &Value, key: &str, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => leaves.push((key.to_owned(), text.clone())),
        Value::Number(number) => leaves.push((key.to_owned(), number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, leaves)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| collect(item, key, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The words around `text[start..start + length]` on its line, cut between words.
fn surroundings(text: &str, start: usize, length: usize) -> String {
    let end = start + length;
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let is_gap = |char: char| char.is_whitespace() || is_cjk(char);
    let mut left = text.ceil_char_boundary(start.saturating_sub(AROUND)).max(line_start);
    if left > line_start {
        left = text[left..start].find(is_gap).map_or(start, |at| left + at);
    }
    let mut right = text.floor_char_boundary((end + AROUND).min(line_end)).max(end);
    if right < line_end {
        right = text[end..right].rfind(is_gap).map_or(end, |at| end + at);
    }
    shorten::one_line(&text[left..right], 2 * AROUND + LONGEST)
}

/// Strings without which a summary is useless: those in the standing instructions that were typed, then those in the
/// newest typed message, the newest first; at most `most`. Strings that a later message takes back are left out. Linear
/// in the typed text, for each candidate.
pub(super) fn must_keep(view: &View<'_>, most: usize) -> Vec<String> {
    let atoms = view.facts().atoms();
    let mut kept: Vec<String> = Vec::new();
    let typed: Vec<String> =
        view.messages().filter(|message| message.is_typed()).map(|message| message.plain_text()).collect();
    let add = |text: &str, number: usize, kept: &mut Vec<String>| {
        for atom in atoms.in_text(text).into_iter().map(|atom| &atoms.all()[atom as usize]) {
            // The file's name is in its path, a part is in the whole.
            let is_known = kept.iter().any(|known| known.contains(atom.text));
            if kept.len() < most && !is_known && atom.text.len() <= LONGEST / 2 && is_exact(atom) {
                let is_revoked = typed.iter().skip(number + 1).any(|later| revokes(later, atom.text));
                // The newest message may itself take back what an earlier one held.
                let is_past = number > 0
                    && revokes(&typed[number], atom.text)
                    && typed[..number].iter().any(|earlier| holds(earlier, atom.text));
                if !is_revoked && !is_past {
                    kept.push(atom.text.to_owned());
                }
            }
        }
    };
    for (number, text) in typed.iter().enumerate().rev() {
        for sentence in sentences(text).into_iter().filter(|sentence| is_standing(sentence)) {
            add(sentence, number, &mut kept);
        }
    }
    // A pasted document is not an instruction: only the beginning and the end of a long message count.
    if let Some((newest, before)) = typed.split_last() {
        const NEAR: usize = 600;
        if newest.len() <= 2 * NEAR {
            add(newest, before.len(), &mut kept);
        } else {
            add(&newest[..newest.floor_char_boundary(NEAR)], before.len(), &mut kept);
            add(&newest[newest.ceil_char_boundary(newest.len() - NEAR)..], before.len(), &mut kept);
        }
    }
    kept
}

/// Whether a typed text takes a string back: in a clause with words that end something, behind those that name the
/// subject.
pub(super) fn revokes(text: &str, string: &str) -> bool {
    const OF_WHAT_FOLLOWS: [&str; 4] = ["forget ", "instead of ", "不用", "别用"];
    const OF_ANYTHING: [&str; 2] = ["no longer", "不再"];
    // Most strings stand in no other message.
    if !holds(text, string) {
        return false;
    }
    let clauses =
        text.split(['\n', ';', '；', '。', '，']).flat_map(|part| part.split(". ")).flat_map(|part| part.split(", "));
    clauses.filter(|clause| holds(clause, string)).any(|clause| {
        let lower = clause.to_lowercase();
        let is_negated = ["n't ", "not ", "never ", "’t "].iter().any(|word| lower.contains(word));
        let behind = |word: &str| {
            let found = lower.find(word).filter(|_| word != OF_WHAT_FOLLOWS[0] || !is_negated);
            found.is_some_and(|at| holds(&lower[at + word.len()..], &string.to_lowercase()))
        };
        OF_WHAT_FOLLOWS.iter().any(|word| behind(word))
            || OF_ANYTHING.iter().any(|word| lower.contains(word))
            || is_negated && ["any more", "anymore"].iter().any(|word| lower.contains(word))
    })
}

/// Whether a text holds a string that is not a part of a longer word or number.
fn holds(text: &str, string: &str) -> bool {
    let is_word = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric() || char == '_');
    !string.is_empty()
        && text.match_indices(string).any(|(at, _)| {
            let (front, behind) = (&text[..at], &text[at + string.len()..]);
            !(is_word(front.chars().next_back()) && is_word(string.chars().next())
                || is_word(behind.chars().next()) && is_word(string.chars().next_back()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_takes_back() {
        let check = |text: &str, string: &str, expect: bool| assert_eq!(revokes(text, string), expect, "{text}");
        check("Forget port 8080.", "8080", true);
        check("Do the tests first. Then forget port 8080, use 9090", "8080", true);
        check("Then forget port 8080, use 9090", "9090", false);
        check("use 9090 instead of 8080", "8080", true);
        check("use 9090 instead of 8080", "9090", false);
        check("src/a.rs is no longer needed", "src/a.rs", true);
        check("do not use 8080 any more", "8080", true);
        check("别用 8080 端口，用 9090", "8080", true);
        check("别用 8080 端口，用 9090", "9090", false);
        check("don't forget port 8080", "8080", false);
        check("forget port 18080", "8080", false);
        check("keep port 8080", "8080", false);
    }

    #[test]
    fn what_was_taken_back_need_not_be_there() {
        let strings = |fixture: &str| {
            let session = epitome_testkit::session(fixture);
            let request = epitome_strategy::SummaryRequest::new(500, None);
            let task = epitome_strategy::SummaryTask {
                messages: session.log(),
                session: None,
                request: &request,
                language: epitome_strategy::Language::English,
                counter: &epitome_strategy::NoTokens,
            };
            crate::model::source::with_view(&task, |view| must_keep(view, 8))
        };
        let first = "user: Always use port 48080 from now on.\nassistant: ok\n";
        assert_eq!(strings(first), ["48080"]);
        assert_eq!(strings(&format!("{first}user: Use port 49090 instead of 48080.\n")), ["49090"]);
        let again = format!("{first}user: Forget port 48080.\nassistant: ok\nuser: Always use port 48080 again.\n");
        assert_eq!(strings(&again), ["48080"]);
    }

    #[test]
    fn words_around_a_string() {
        let check = |text: &str, string: &str, expect: &str| {
            let start = text.find(string).unwrap_or_default();
            assert_eq!(surroundings(text, start, string.len()), expect);
        };
        check("use port 48213 for it", "48213", "use port 48213 for it");
        check("one\nuse  port 48213\ntwo", "48213", "use port 48213");
        let long = format!("{}port 48213 and {}", "word ".repeat(30), "more ".repeat(30));
        let expect = format!("{}port 48213 and {}", "word ".repeat(10), "more ".repeat(11));
        check(&long, "48213", expect.trim());
        check(&format!("{}48213{}", "x".repeat(100), "y".repeat(100)), "48213", "48213");
        check("端口是48213，不要改动它", "48213", "端口是48213，不要改动它");
    }

    #[test]
    fn words_that_count() {
        let check = |text: &str, expect: bool| assert_eq!(is_counted(text), expect, "{text}");
        for text in ["18th", "10-day", "1950s-era", "55-gallon"] {
            check(text, true);
        }
        for text in ["4421abcd", "LEX-77", "2024-05-20", "1.2.3", "7e_x"] {
            check(text, false);
        }
    }
}
