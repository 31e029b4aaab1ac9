//! What was said, in its order, under who said it: against cases worked by hand.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../../crates/eval/tests/common/mod.rs"]
mod common;

use common::session;
use epitome_eval::KeptCount;
use epitome_lab::meaning::{Meaning, MeaningScores};

fn meaning(prefix: &[&str], result: &[&str]) -> MeaningScores {
    Meaning::new(session(prefix).view()).unwrap().measure(session(result).view())
}

fn kept(kept: u32, of: u32) -> KeptCount {
    KeptCount { kept, of }
}

#[test]
fn typed_messages() {
    fn check(why: &str, typed: &str, result: &str, expect: KeptCount) {
        assert_eq!(meaning(&[&format!("U {typed}"), "A I see."], &[result]).typed, expect, "{why}");
    }
    let wish = "Please keep the old names of all columns, our partner joins on them.";
    check("whole", wish, &format!("U {wish}"), kept(1, 1));
    check("white space does not count", wish, &format!("M He said: {}", wish.replace(' ', "\\n")), kept(1, 1));
    check("30 characters in a row, from a fifth place on", wish, &format!("M … {} …", &wish[5..35]), kept(1, 1));
    check("29 are not enough", wish, &format!("M … {} …", &wish[5..34]), kept(0, 1));
    check("gone", wish, "U The columns stay.", kept(0, 1));
    check("a short one must stand whole", "Use port 8080.", "M Use port 8080. Yes.", kept(1, 1));
    check("a short one that is cut", "Use port 8080.", "M Use port 808", kept(0, 1));
    check("ten characters are counted", "0123456789", "U 0123456789", kept(1, 1));
    check("nine are not", "012345678", "U 012345678", kept(0, 0));
    check("400 are counted", &"x".repeat(400), "U y", kept(0, 1));
    check("401 are not", &"x".repeat(401), "U y", kept(0, 0));
    check("a tag is an agent's", "<reminder>be quick</reminder>", "U y", kept(0, 0));
    check("a bracket too", "[Request interrupted by user]", "U y", kept(0, 0));
    let twice = meaning(&["U Go on with it.", "A ok", "U Go on with it.", "A ok"], &["U Go on with it."]).typed;
    assert_eq!(twice, kept(2, 2), "what was said twice is there twice");
}

#[test]
fn final_answers() {
    let first = "The delay is exactly base times two to the power of n. Short. It has no jitter, because the replay tests compare it!";
    let prefix = [
        "U Fix the delay.",
        "A I look at it first, and at all of its many callers.",
        &format!("A {first}"),
        "U Thanks.",
        "A And this is said behind the newest typed message, so it is not asked for.",
    ];
    fn check(why: &str, prefix: &[&str], result: &str, expect: KeptCount) {
        assert_eq!(meaning(prefix, &["U Fix the delay.", result]).finals, expect, "{why}");
    }
    check("both sentences", &prefix, &format!("A {first}"), kept(2, 2));
    check("one of them", &prefix, "A The delay is exactly base times two to the power of n.", kept(1, 2));
    check("in other words", &prefix, "A The delay is base * 2^n without jitter.", kept(0, 2));
    check("nobody answered", &["U Fix the delay."], "A y", kept(0, 0));
    let chinese =
        ["U 修好它", "A 延迟恰好是基数乘以二的幂次方没有任何随机抖动因为重放测试会逐一比较所有到期时间。 好", "U 谢谢"];
    check(
        "Chinese",
        &chinese,
        "A 延迟恰好是基数乘以二的幂次方没有任何随机抖动因为重放测试会逐一比较所有到期时间。",
        kept(1, 1),
    );
}

#[test]
fn order_of_what_was_said() {
    const READ: &str = r#"C read {"path":"notes.md"}"#;
    let prefix = [
        "U What is in the notes?",
        READ,
        "R the first line of the notes",
        "A There is one line.",
        "U Publish the text, please.",
        r#"C publish {"text":"the text of the notes"}"#,
        "R it was published under number 4711",
        "A It is published, the number is 4711.",
    ];
    fn check(why: &str, prefix: &[&str], result: &[&str], expect: Option<u32>) {
        assert_eq!(meaning(prefix, result).misplaced, expect, "{why}");
    }
    check("nothing was changed", &prefix, &prefix, Some(0));
    let done = "M it was published under number 4711";
    check("in front of the request", &prefix, &[done, "U Publish the text, please."], Some(1));
    check(
        "within the message in front of it",
        &prefix,
        &[&format!("U {} Publish the text, please.", &done[2..])],
        Some(1),
    );
    check("behind it", &prefix, &["U Publish the text, please.", done], Some(0));
    check(
        "what was said before too",
        &prefix,
        &["M the first line of the notes", "U Publish the text, please."],
        Some(0),
    );
    check("the request is gone", &prefix, &[done], None);
    check("nothing came after it", &prefix[..5], &prefix[..5], None);
    let said = "A I will now Publish the text, please.";
    check("the user's own message is the place", &prefix, &["U Publish the text, please.", done, said], Some(0));
}

#[test]
fn speakers_and_sources() {
    const LINE: &str = "fn parse(text: &str) -> Result<Tree, Error> {";
    let prefix = [
        "U Never change the signature of the parser.",
        r#"C read {"path":"/app/src/parser.rs"}"#,
        &format!("R {LINE}"),
        r#"C bash {"command":"cargo test --workspace"}"#,
        "R test result: 12 passed; 1 failed in parser",
        "A The failure comes from the empty input.",
        "U Go on.",
    ];
    fn check(why: &str, prefix: &[&str], result: &[&str], speakers: KeptCount, sources: KeptCount) {
        let found = meaning(prefix, result);
        assert_eq!((found.speakers, found.sources), (speakers, sources), "{why}");
    }
    check("in their own places", &prefix, &prefix, kept(4, 4), kept(2, 2));
    let block = |lines: &[&str]| format!("M {}", lines.join("\\n"));
    let one = |why: &str, lines: &[&str], speakers: (u32, u32), sources: (u32, u32)| {
        check(why, &prefix, &[&block(lines)], kept(speakers.0, speakers.1), kept(sources.0, sources.1));
    };
    one("under the file", &["[read] /app/src/parser.rs", LINE], (1, 1), (1, 1));
    one("under its last parts, marked", &["src/parser.rs:", &format!("+ {LINE}")], (1, 1), (1, 1));
    one("under another source", &["$ cargo test --workspace", LINE], (1, 1), (0, 1));
    one("under the tool only", &["[read]", LINE], (1, 1), (0, 1));
    one("under nothing", &["## Exact lines", LINE], (0, 1), (0, 1));
    one("under the user", &["user:", LINE], (0, 1), (0, 1));
    one("the user's under the user", &["[user]", &prefix[0][2..]], (1, 1), (0, 0));
    one("the user's under a tool", &["[bash]", &prefix[0][2..]], (0, 1), (0, 0));
    one("the model's behind its name", &["assistant: The failure comes from the empty input."], (1, 1), (0, 0));
    one(
        "a label holds until the next",
        &[
            "[read] parser.rs",
            LINE,
            "… 3 lines",
            LINE,
            "cargo test --workspace → test result: 12 passed; 1 failed in parser",
        ],
        (3, 3),
        (3, 3),
    );
    one("a heading ends it", &["[read] parser.rs", "## What else there is", LINE], (0, 1), (0, 1));
    one("short lines are not counted", &["[user]", "Go on."], (0, 0), (0, 0));
    let excerpt = [
        "U Never change the signature of the parser.",
        "A …",
        r#"C read {"path":"/app/src/parser.rs"}"#,
        &format!("R [… cut …]\\n{LINE}"),
    ];
    check("an excerpt in its own place", &prefix, &excerpt, kept(2, 2), kept(1, 1));
    let told = ["M We read the parser and its tests.", "U Go on."];
    check("a recorded summary has no speaker", &told, &told, kept(0, 0), kept(0, 0));
    let nameless = [r#"C status {}"#, "R all units are built and linked", "U Go on."];
    check("a call without a name is not a source", &nameless, &nameless, kept(1, 1), kept(0, 0));
    let cut = [r#"C read {"path":"…"}"#, &format!("R {LINE}")];
    check("under a call that lost its file", &prefix, &cut, kept(1, 1), kept(0, 1));
    let turned = ["U The failure comes from the empty input."];
    check("put into the user's mouth", &prefix, &turned, kept(0, 1), kept(0, 0));
}

#[test]
fn recorded_summaries() {
    let prefix =
        ["M We work on the parser.\\nPending: the signature stays as it is.\\nShort.", "U Go on with it.", "A ok"];
    let check = |why: &str, result: &[&str], expect: KeptCount| {
        assert_eq!(meaning(&prefix, result).summary, expect, "{why}");
    };
    check("whole", &prefix, kept(2, 2));
    check("one line", &["M Pending: the signature stays as it is."], kept(1, 2));
}
