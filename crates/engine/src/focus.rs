//! The subject of a session: the newest thing that a person typed.

use epitome_session::{Entry, Origin, Role};
use epitome_strategy::speech::{asks, typed_texts};

/// The bytes of a typed message that are read for its subject.
const FOCUS_BYTES: usize = 2_000;

/// The newest typed message.
#[derive(Debug, PartialEq)]
pub(crate) struct NewestTypedMessage {
    /// The text that a person typed, without a harness's additions; only its first bytes.
    pub text: String,
    /// Whether it asks something that the model has not answered or worked on yet: the next turn is then about it.
    pub is_open: bool,
}

/// Returns the newest message in which a person typed something. Linear in the messages behind it and in its text.
pub(crate) fn newest(entries: &[Entry]) -> Option<NewestTypedMessage> {
    let mut is_answered = false;
    for message in entries.iter().rev().map(|entry| &entry.message) {
        is_answered |= message.role == Role::Assistant && message.origin == Origin::Model;
        if !message.is_typed() {
            continue;
        }
        let texts = typed_texts(message).flat_map(|(_, text, ranges)| ranges.into_iter().map(|range| &text[range]));
        let text = texts.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            let text = text[..text.floor_char_boundary(FOCUS_BYTES)].to_owned();
            let is_open = !is_answered && asks(&text);
            return Some(NewestTypedMessage { text, is_open });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use epitome_testkit::session;

    use super::*;

    #[test]
    fn the_newest_question() {
        let check = |fixture: &str, expect: Option<(&str, bool)>| {
            let found = newest(session(fixture).view());
            assert_eq!(found.as_ref().map(|it| (it.text.as_str(), it.is_open)), expect, "{fixture}");
        };
        check("user: one\nassistant: yes\nuser: two?\nassistant: done\n", Some(("two?", false)));
        check("user: one\nassistant: yes\nuser: two?\n", Some(("two?", true)));
        check("user: one\nassistant: yes\nuser: two it is.\n", Some(("two it is.", false)));
        check("user: one?\ncall Read c {}\nresult c: text\n", Some(("one?", false)));
        check("user: one?\nuser(injected): a reminder\n", Some(("one?", true)));
        check("user: one?\nassistant: yes\nuser: <system-reminder>why?</system-reminder>\n", Some(("one?", false)));
        check("user: 第二个是什么？\n", Some(("第二个是什么？", true)));
        check("assistant: hello?\n", None);
    }
}
