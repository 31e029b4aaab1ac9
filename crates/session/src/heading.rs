//! The lines that a compaction writes in place of messages: the heading of a summary, and the notice of messages that
//! left without one. Written and recognised here, so that every reader knows both forms.

use std::fmt;

use crate::message::Language;

/// What replaces the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeadingKind {
    /// A summary: its text follows in the lines below.
    Summary,
    /// A notice: the line is the whole message, but for memories below it.
    Notice,
}

/// A heading: `[Summary of 12 earlier messages; search_history finds what they said · recall 0a1b2c3d4e5f]`, or without the
/// tool and the handle where the reader cannot use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Heading<'t> {
    /// What replaces the messages.
    pub kind: HeadingKind,
    /// The language of the heading.
    pub language: Language,
    /// How many messages the text replaces.
    pub messages: u64,
    /// The archive's handle of the messages, where the reader can use it.
    pub handle: Option<&'t str>,
}

/// The wording of a heading.
struct Form {
    kind: HeadingKind,
    language: Language,
    /// The text before the number.
    before: &'static str,
    /// The text behind the number.
    behind: &'static str,
    /// The text behind the number one.
    behind_one: &'static str,
}

const FORMS: [Form; 4] = [
    Form {
        kind: HeadingKind::Summary,
        language: Language::English,
        before: "[Summary of ",
        behind: " earlier messages",
        behind_one: " earlier message",
    },
    Form {
        kind: HeadingKind::Summary,
        language: Language::Chinese,
        before: "[此前 ",
        behind: " 条消息的摘要",
        behind_one: " 条消息的摘要",
    },
    Form {
        kind: HeadingKind::Notice,
        language: Language::English,
        before: "[",
        behind: " earlier messages left the context",
        behind_one: " earlier message left the context",
    },
    Form {
        kind: HeadingKind::Notice,
        language: Language::Chinese,
        before: "[此前 ",
        behind: " 条消息已移出上下文",
        behind_one: " 条消息已移出上下文",
    },
];

/// Returns the words between a text that the engine writes and the handle of what it replaces.
pub fn recall_word(language: Language) -> &'static str {
    language.pick(" · recall ", " · 可取回 ")
}

/// Returns the words between a heading and the handle: they name the tool that finds the messages. A reader without use
/// for handles has none for the tool either.
fn lookup_hint(language: Language) -> &'static str {
    language.pick("; search_history finds what they said", "；可用 search_history 查找原文")
}

impl<'t> Heading<'t> {
    /// Returns the heading in the first line of a text; `None` where that line is not one. Linear in the line.
    pub fn read(text: &'t str) -> Option<Self> {
        let line = text.lines().next()?.trim_end().strip_suffix(']')?;
        FORMS.iter().find_map(|form| {
            let numbered = line.strip_prefix(form.before)?;
            // Headings of earlier versions use the plural behind the number one too.
            let (number, rest) = numbered.split_once(form.behind).or_else(|| {
                let (number, rest) = numbered.split_once(form.behind_one)?;
                (number == "1").then_some((number, rest))
            })?;
            let handle = match rest {
                "" => None,
                rest => {
                    // Headings of earlier versions have the handle without the tool.
                    let rest = rest.strip_prefix(lookup_hint(form.language)).unwrap_or(rest);
                    Some(rest.strip_prefix(recall_word(form.language))?).filter(|handle| is_handle(handle))
                }
            };
            if handle.is_none() && !rest.is_empty() {
                return None;
            }
            Some(Self { kind: form.kind, language: form.language, messages: parse_grouped(number)?, handle })
        })
    }

    /// Returns a text without its heading, without the memories and the state behind it and without blank lines at its ends; the rest
    /// where there is no heading.
    pub fn body_of(text: &str) -> &str {
        let text = without_notes(text).trim();
        match Heading::read(text) {
            Some(_) => text.split_once('\n').map_or("", |(_, body)| body.trim()),
            None => text,
        }
    }
}

impl fmt::Display for Heading<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = FORMS.iter().find(|form| (form.kind, form.language) == (self.kind, self.language));
        let behind = |form: &Form| if self.messages == 1 { form.behind_one } else { form.behind };
        let (before, behind) = form.map_or(("[", ""), |form| (form.before, behind(form)));
        write!(formatter, "{before}{}{behind}", group_digits(self.messages))?;
        if let Some(handle) = self.handle {
            write!(formatter, "{}{}{handle}", lookup_hint(self.language), recall_word(self.language))?;
        }
        formatter.write_str("]")
    }
}

/// Returns the line above the memories that a compaction puts behind its text. Each memory stands in a line of its own: in
/// quotation marks where a person typed it.
pub fn memory_heading(language: Language) -> &'static str {
    language.pick(
        "[Remembered: in quotation marks what the user typed earlier, the rest as commands showed it]",
        "[已记住：引号内为用户此前输入的内容，其余为命令显示的结果]",
    )
}

/// Returns the line above the state of the work that a compaction puts behind its text.
pub fn state_heading(language: Language) -> &'static str {
    language.pick("[State at this point, by the calls and their results]", "[此时的状态，据调用及其结果]")
}

/// Whether a line stands above memories or the state.
pub fn is_notes_heading(line: &str) -> bool {
    let of = |language| [memory_heading(language), state_heading(language)].contains(&line.trim_end());
    of(Language::English) || of(Language::Chinese)
}

/// Returns a text of a compaction without the memories and the state behind it: the next compaction has its own. They are the
/// lines of a list behind their heading at the end of the text; with anything else behind it the line is one of the text.
/// Linear.
pub fn without_notes(text: &str) -> &str {
    let mut rest = text;
    let mut at = text.len();
    for line in text.split_inclusive('\n').rev() {
        at -= line.len();
        if is_notes_heading(line) {
            rest = text[..at].trim_end();
        } else if !(line.trim().is_empty() || line.starts_with("- ")) {
            break;
        }
    }
    rest
}

/// Whether a text consists of memories and the state alone.
pub fn is_notes(text: &str) -> bool {
    !text.trim().is_empty() && without_notes(text.trim()).is_empty()
}

/// The line between the text of a compaction and what is said next, where both stand in one text.
const NOW: &str = "[Now]";

/// Whether the first line of a text says that a compaction's text ends in front of it.
pub fn is_now(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.trim_end() == NOW)
}

/// Returns what stands between two texts that become one: a blank line, and where the first ends with a compaction's text and
/// something else follows, a line that says so. [`joined_parts`] reads it. Linear.
pub fn separator(first: &str, second: &str) -> &'static str {
    let ends_compacted = joined_parts(first).last().is_some_and(|part| part.is_compaction);
    if ends_compacted && !heads_compaction(second) { "\n\n[Now]\n" } else { "\n\n" }
}

/// A part of a text that was joined of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedPart<'t> {
    /// Its text.
    pub text: &'t str,
    /// Whether a compaction wrote it: it begins with a heading.
    pub is_compaction: bool,
}

fn heads_compaction(text: &str) -> bool {
    Heading::read(text).is_some() || heads_notes(text)
}

/// Whether a text begins with the heading of memories or of the state and its list.
fn heads_notes(text: &str) -> bool {
    let mut lines = text.lines();
    let ends = |line: &str| is_notes_heading(line) || is_now(line) || Heading::read(line).is_some();
    lines.next().is_some_and(is_notes_heading)
        && lines.find(|line| !line.trim().is_empty() && !line.starts_with("- ")).is_none_or(ends)
}

/// Returns the parts of a text in which texts of compactions stand beside others, as [`separator`] joined them: a heading behind
/// a blank line begins a part, and the line that ends one is in none. A text without such lines is one part. Linear.
pub fn joined_parts(text: &str) -> impl Iterator<Item = JoinedPart<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let is_compaction = heads_compaction(text);
        let breaks = text.match_indices("\n\n").map(|(at, gap)| (at, at + gap.len()));
        for (end, next) in breaks {
            let behind = &text[next..];
            // Memories and the state stand behind the text of a compaction, and are of it.
            let begins = Heading::read(behind).is_some() || !is_compaction && heads_notes(behind);
            if begins {
                rest = Some(behind);
            } else if is_compaction && is_now(behind) {
                rest = behind.split_once('\n').map(|(_, said)| said).filter(|said| !said.is_empty());
            } else {
                continue;
            }
            return Some(JoinedPart { text: &text[..end], is_compaction });
        }
        Some(JoinedPart { text, is_compaction })
    })
}

/// Returns a text of a compaction without the handles that `is_known` knows, and without the words around them: the
/// form for readers that cannot use handles. Linear.
pub fn without_handles(text: &str, is_known: impl Fn(&str) -> bool) -> String {
    let mut text = text.to_owned();
    for language in [Language::English, Language::Chinese] {
        let (word, hint) = (recall_word(language), lookup_hint(language));
        let (mut rest, mut bare) = (text.as_str(), String::new());
        while let Some((before, behind)) = rest.split_once(word) {
            match behind.split_once(']') {
                Some((handle, _)) if is_known(handle) => {
                    bare.push_str(before.strip_suffix(hint).unwrap_or(before));
                    rest = &behind[handle.len()..];
                }
                _ => {
                    bare.push_str(before);
                    bare.push_str(word);
                    rest = behind;
                }
            }
        }
        bare.push_str(rest);
        text = bare;
    }
    text
}

/// Returns the text in place of a result that was never recorded. It says no more than that: the call may have done its
/// work.
pub fn missing_result(language: Language) -> &'static str {
    language.pick("[No result was recorded for this call.]", "[未记录该调用的结果。]")
}

/// Whether the text of a result says that none was recorded: then nothing is known of how the call ended.
pub fn is_missing_result(text: &str) -> bool {
    [Language::English, Language::Chinese].iter().any(|language| missing_result(*language) == text)
}

/// Whether a text has the form of an archive's handle: a word without brackets.
fn is_handle(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_alphanumeric() || matches!(char, '-' | '_'))
}

/// Returns a number with thousands separators: `1,204`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the digits of a number, without the commas or underscores between its thousands; `None` where something else
/// stands in the text, or a separator elsewhere.
pub fn ungroup_digits(text: &str) -> Option<String> {
    let separator = if text.contains('_') { '_' } else { ',' };
    let groups: Vec<&str> = text.split(separator).collect();
    let are_digits = groups.iter().all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    let in_place = groups.len() == 1 || groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    (are_digits && in_place).then(|| groups.concat())
}

/// Returns the number that [`group_digits`] wrote; `None` for any other text.
fn parse_grouped(text: &str) -> Option<u64> {
    let number = text.replace(',', "").parse().ok()?;
    (group_digits(number) == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stand_between_thousands() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(ungroup_digits(text).as_deref(), expect, "{text}");
        check("32000", Some("32000"));
        check("1,204", Some("1204"));
        check("12_000_000", Some("12000000"));
        for wrong in ["", "12,00", "1,5", "1__000", "_100", "1000,000", "100,", "1,000_000", "1 000", "+1", "1.5"] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for kind in [HeadingKind::Summary, HeadingKind::Notice] {
            for language in [Language::English, Language::Chinese] {
                for messages in [0, 1, 12, 999, 1_204, 7_654_321] {
                    for handle in [None, Some("0a1b2c3d")] {
                        let heading = Heading { kind, language, messages, handle };
                        let written = heading.to_string();
                        assert_eq!(Heading::read(&written), Some(heading), "{written}");
                        assert_eq!(Heading::read(&format!("{written}\n## Goal")), Some(heading), "{written}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_joined_is_taken_apart() {
        let (summary, notice) =
            ("[Summary of 12 earlier messages]\n» Done.\n\nMore.", "[3 earlier messages left the context]");
        let (memories, state) = (memory_heading(Language::English), state_heading(Language::Chinese));
        let remembered = format!("{memories}\n- \"a\"");
        let with_state = format!("{summary}\n\n{state}\n- b");
        let check = |texts: &[&str], expect: &str| {
            let mut joined = texts[0].to_owned();
            for text in &texts[1..] {
                let between = separator(&joined, text);
                joined.push_str(between);
                joined.push_str(text);
            }
            assert_eq!(joined, expect);
            let is_compaction = |text: &str| text.starts_with('[') && !text.starts_with("[Now");
            let parts: Vec<JoinedPart<'_>> =
                texts.iter().map(|text| JoinedPart { text, is_compaction: is_compaction(text) }).collect();
            assert_eq!(joined_parts(&joined).collect::<Vec<_>>(), parts);
        };
        check(&["a\n\nb\n"], "a\n\nb\n");
        check(&["a\n\nb", summary], &format!("a\n\nb\n\n{summary}"));
        check(&[summary, "a\n\nb"], &format!("{summary}\n\n[Now]\na\n\nb"));
        check(&["a", &with_state, notice, "b"], &format!("a\n\n{with_state}\n\n{notice}\n\n[Now]\nb"));
        check(&[notice, "[Now]\na"], &format!("{notice}\n\n[Now]\n[Now]\na"));
        check(&["a", &remembered, "b"], &format!("a\n\n{remembered}\n\n[Now]\nb"));
        check(&["a\n\n[Now]\nb"], "a\n\n[Now]\nb");
        check(&[&format!("a\n\n{memories}\nb")], &format!("a\n\n{memories}\nb"));
        check(&[""], "");
    }

    #[test]
    fn headings_are_written_in_two_forms() {
        let check = |kind, language, handle, expect: &str| {
            assert_eq!(Heading { kind, language, messages: 1_204, handle }.to_string(), expect);
        };
        use HeadingKind::{Notice, Summary};
        use Language::{Chinese, English};
        check(
            Summary,
            English,
            Some("0a1b"),
            "[Summary of 1,204 earlier messages; search_history finds what they said · recall 0a1b]",
        );
        check(Summary, English, None, "[Summary of 1,204 earlier messages]");
        check(Summary, Chinese, Some("0a1b"), "[此前 1,204 条消息的摘要；可用 search_history 查找原文 · 可取回 0a1b]");
        check(Notice, English, None, "[1,204 earlier messages left the context]");
        check(
            Notice,
            Chinese,
            Some("0a1b"),
            "[此前 1,204 条消息已移出上下文；可用 search_history 查找原文 · 可取回 0a1b]",
        );
    }

    #[test]
    fn one_message_is_no_plural() {
        let check = |kind, language, expect: &str, earlier: &str| {
            let heading = Heading { kind, language, messages: 1, handle: None };
            assert_eq!(heading.to_string(), expect);
            assert_eq!(Heading::read(earlier), Some(heading), "headings of earlier versions are still read");
        };
        use HeadingKind::{Notice, Summary};
        check(Summary, Language::English, "[Summary of 1 earlier message]", "[Summary of 1 earlier messages]");
        check(
            Notice,
            Language::English,
            "[1 earlier message left the context]",
            "[1 earlier messages left the context]",
        );
        check(Summary, Language::Chinese, "[此前 1 条消息的摘要]", "[此前 1 条消息的摘要]");
        assert_eq!(Heading::read("[Summary of 12 earlier message]"), None);
    }

    #[test]
    fn other_lines_are_no_headings() {
        for text in [
            "",
            "[]",
            "[Summary]",
            "[Summary of the earlier messages]",
            "[Summary of 12 earlier messages",
            "[Summary of 12 earlier messages · recall ]",
            "[Summary of 12 earlier messages · recall a b]",
            "[Summary of 12 earlier messages, in short]",
            "[Summary of 1204 earlier messages]",
            "Summary of 12 earlier messages",
            "an opening line\n[Summary of 12 earlier messages]",
        ] {
            assert_eq!(Heading::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_body_is_what_stands_below() {
        let check = |text: &str, expect: &str| assert_eq!(Heading::body_of(text), expect);
        check("[Summary of 1,204 earlier messages · recall 0a1b]\n## Goal\n- x", "## Goal\n- x");
        check("[Summary of 1,204 earlier messages]\n\n## Goal\n- x\n", "## Goal\n- x");
        check("[此前 12 条消息的摘要]\n## 目标", "## 目标");
        check("[Summary]\nof another tool", "[Summary]\nof another tool");
        check("[Summary of 2 earlier messages · recall 0a]", "");
        for language in [Language::English, Language::Chinese] {
            let memories = format!("{}\n- “Use tabs.”", memory_heading(language));
            check(&format!("[Summary of 2 earlier messages]\n## Goal\n- x\n\n{memories}"), "## Goal\n- x");
            check(&format!("[2 earlier messages left the context]\n\n{memories}"), "");
            assert!(is_notes(&memories) && !is_notes(&format!("x\n{memories}")) && !is_notes(""));
            // Words behind the list are not memories, whatever stands above them.
            let said = format!("{memories}\nMy question.");
            assert!(!is_notes(&said) && without_notes(&said) == said);
        }
    }

    #[test]
    fn handles_are_taken_out() {
        let check = |text: &str, expect: &str| {
            assert_eq!(without_handles(text, |handle| ["0a1b", "9f"].contains(&handle)), expect);
        };
        for (kind, language) in [
            (HeadingKind::Summary, Language::English),
            (HeadingKind::Notice, Language::English),
            (HeadingKind::Summary, Language::Chinese),
            (HeadingKind::Notice, Language::Chinese),
        ] {
            let heading = Heading { kind, language, messages: 12, handle: Some("0a1b") };
            let bare = Heading { handle: None, ..heading };
            check(&format!("{heading}\n» done"), &format!("{bare}\n» done"));
        }
        check("a\n[… 2 lines, 9 tokens elided · recall 9f]\nb", "a\n[… 2 lines, 9 tokens elided]\nb");
        check("{\"x\":\"[… 省略 9 字 · 可取回 9f]\"}", "{\"x\":\"[… 省略 9 字]\"}");
        // What others wrote stays.
        check("[it · recall ffff] · recall 0a1b", "[it · recall ffff] · recall 0a1b");
        check("cars · recall 0a1b of them", "cars · recall 0a1b of them");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, expect) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(group_digits(number), expect);
        }
    }
}
