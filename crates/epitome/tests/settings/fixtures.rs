//! The sessions that settings are tried on: work with tools, a talk, and the session that ships with the project.

use std::fmt::Write;
use std::path::Path;

use epitome::Session;
use epitome::formats::{ReadOptions, read};
use epitome_testkit::session;

/// A day in milliseconds: the made-up sessions go on for several, so that their ages differ.
const DAY: u64 = 86_400_000;

/// The session that ships with the project, up to its first compaction's worth of messages.
pub(crate) fn example() -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session.jsonl");
    let bytes = std::fs::read(path).unwrap();
    let whole = read(bytes, ReadOptions::default()).unwrap().sessions.remove(0).session;
    let mut session = Session::new();
    for message in whole.log().iter().take(90) {
        session.push(epitome::Message::clone(message));
    }
    session
}

/// Work with tools: reads that are made again, edits, a diff, test runs that fail and pass, task lists, marks, pins, a
/// protected tool, and cue words that nobody ships (`zebra…`).
pub(crate) fn work() -> Session {
    let mut text = String::from(
        "system: You are a coding agent. Keep to the rules of the house.\n\
         user(at=1000): Fix the parser. Never touch the public API. It is about zebratask and nothing else.\n",
    );
    text.push_str(
        "user(summary): ## Goal\n  - The lexer of the zebra project was ported before this session began.\n  ## Findings\n  - \
         The table of tokens is made by tools/table.py and must not be edited by hand.\n",
    );
    for paragraph in 0..3 {
        let _ = write!(
            text,
            "assistant: Yes, number {paragraph}.\nuser: This is a long message number {paragraph} that somebody pasted. {}\n",
            "It tells of this and that, and of what was said elsewhere. ".repeat(30)
        );
    }
    text.push_str(
        "assistant: Whether src/table.rs or src/rows.rs is meant stays open, a zebraquestion.\n\
         call Read q1 {\"file_path\":\"src/table.rs\"}\nresult q1: pub struct Table;\n",
    );
    for round in 0..6_u64 {
        let at = 1_000 + round * DAY;
        let call = |name: &str, number: u64| format!("call {name} c{round}x{number}");
        let _ = write!(
            text,
            "assistant(at={at}): I look at file {round} first. Decided: the zebradecision of round {round} holds, because the \
             depth counter is dropped at line {round}1 and nobody else reads it, which took a while to see in all that code.\n\
             {} {{\"file_path\":\"src/file{half}.rs\"}}\nresult c{round}x0:\n  fn number_{round}() {{ body }} … x60 lines\n\
             {} {{\"command\":\"git diff\"}}\nresult c{round}x1:\n  diff --git a/src/file{half}.rs b/src/file{half}.rs\n  --- a/src/file{half}.rs\n  +++ b/src/file{half}.rs\n  @@ -1,40 +1,40 @@\n  -old line {{n}} … x20 lines\n  +new line {{n}} … x20 lines\n   context {{n}} … x20 lines\n  diff --git a/Cargo.lock b/Cargo.lock\n  --- a/Cargo.lock\n  +++ b/Cargo.lock\n  @@ -1,30 +1,30 @@\n  -lock {{n}} … x30 lines\n  +lock {{n}} a … x30 lines\n\
             {} {{\"command\":\"cargo test --workspace\"}}\nresult c{round}x2{}:\n  test case_{{n}} ... ok … x80 lines\n  error[E0308]: mismatched types in round {round}, a zebraerror\n  test result: FAILED. 79 passed; 1 failed\n\
             {} {{\"file_path\":\"src/file{half}.rs\",\"old_string\":\"x{round}\",\"new_string\":\"{}\"}}\nresult c{round}x3: done\n\
             {} {{\"name\":\"playbook\"}}\nresult c{round}x4: The playbook says many things about the house … x30\n\
             {} {{\"todos\":[{{\"content\":\"fix file{round}\",\"status\":\"completed\"}},{{\"content\":\"document file{round}\",\"status\":\"pending\"}}]}}\nresult c{round}x5: ok\n\
             {} {{\"command\":\"git commit -am round{round}\"}}\nresult c{round}x6: [main {round}abc] round {round}\n\
             assistant(at={}): Round {round} is complete, a zebradone: the mismatch is fixed, the zebrafix went in, and all tests pass now. The reason was a counter. {}\n\
             user(at={}): {}\n",
            call("Read", 0),
            call("Bash", 1),
            call("Bash", 2),
            if round % 2 == 0 { " error" } else { "" },
            call("Edit", 3),
            "pub fn counted() -> usize { 41 } // and so on ".repeat(12),
            call("Skill", 4),
            call("TodoWrite", 5),
            call("Bash", 6),
            at + 1_000,
            "Some further words about what was done, which tell little that is new. ".repeat(14),
            at + 2_000,
            [
                "Thanks. I prefer tabs over spaces, remember that the staging server is called zebra-42. Go on with the next file, this is important.",
                "<Pin> The release is on Friday, a zebraimportant thing. What about the second file?",
                "Now something else, a zebrashift: look into why the index is slow. Which query takes longest?",
                "A zebraremember: the port is 7777, PASSWORD=z3Br4x9K2m. A zebrainstruct for all that follows. Continue.",
                "A zebrapreference of mine. !!!START!!! the next task, please; zebraquestion",
                "And then? A zebraplan comes next. What is the state of src/file1.rs?",
            ][round as usize],
            half = round / 2,
        );
    }
    session(&text)
}

/// A talk without tools, about two things, with questions and their answers.
pub(crate) fn talk() -> Session {
    let mut text = String::from(
        "system: You are a helpful assistant.\nuser(at=1000): I plan a trip to Lisbon. My budget is 740 euros, never go over it.\n",
    );
    for turn in 0..14_u64 {
        let topic = ["trains, trams and where they stop", "bread, yeast and how long it rises"][usize::from(turn >= 7)];
        // A longer pause in the midst of the first topic, in front of what is typed.
        let after_pause = |is_after: bool| if is_after { 20 * DAY } else { 0 };
        let at = 2_000 + turn * DAY / 2 + after_pause(turn > 4);
        let _ = write!(
            text,
            "assistant(at={at}): About {topic}, answer {turn}: it depends on the day, and the number to keep in mind is {turn}7. {} The zebraconversation goes on.\n\
             user(at={}): {} number {turn}? Tell me more about {topic}.{}\n",
            "There is a lot that one could say about it, and most of it is well known to those who have been there. "
                .repeat(6),
            2_500 + turn * DAY / 2 + after_pause(turn >= 4),
            if turn == 7 { "Something else now: baking. What is" } else { "And what is" },
            if turn == 2 { " From now on answer in two sentences." } else { "" },
        );
    }
    session(&text)
}
