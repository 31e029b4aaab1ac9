use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

/// Two finished rounds of two steps with 500 tokens of output each, and one that is not finished.
const ROUNDS: &str = r#"
system: You are a coding agent.
user: fix the parser
assistant: I look at it first.
call Read c1 {"file_path":"a.rs"}
result c1: aaaa … x400
call Read c2 {"file_path":"b.rs"}
result c2: bbbb … x400
assistant: The parser is fixed.
user: and the lexer?
call Read c3 {"file_path":"c.rs"}
result c3: cccc … x400
call Read c4 {"file_path":"d.rs"}
result c4: dddd … x400
assistant: The lexer was right all along.
user: now the docs
call Read c5 {"file_path":"e.md"}
result c5: eeee … x400
"#;

fn case(fixture: &str, settings: &str, target: u32) -> PlanCase {
    PlanCase::new::<QaPairs>(fixture, settings).target(target)
}

#[test]
fn outputs_are_cut_where_that_is_enough() {
    let planned = case(ROUNDS, "", 2200).expect(
        r#"excerpt m3.0 keep "aaaa aaaa aaaa aaaa aaaa aaaa …aaaa aaaa aaaa aaaa aaaa aaaa " + "aaaa aaaa aaaa aaaa aaaa aaaa … aaaa aaaa aaaa aaaa aaaa aaaa" (output-on-the-way)
         excerpt m5.0 keep "bbbb bbbb bbbb bbbb bbbb bbbb …bbbb bbbb bbbb bbbb bbbb bbbb " + "bbbb bbbb bbbb bbbb bbbb bbbb … bbbb bbbb bbbb bbbb bbbb bbbb" (output-on-the-way)"#,);
    assert!(planned.after <= 2200);
    case(ROUNDS, "light_result_tokens=0", 1200).expect(
        "excerpt m3.0 keep nothing (output-on-the-way)
         excerpt m5.0 keep nothing (output-on-the-way)
         excerpt m9.0 keep nothing (output-on-the-way)",
    );
}

#[test]
fn the_oldest_ways_are_summarised_where_cuts_are_not_enough() {
    let planned = case(ROUNDS, "", 1100).expect(
        r#"summarize u2..u3 in 165 tokens (way-to-the-answer)
         excerpt m9.0 keep "cccc cccc cccc cccc cccc cccc …cccc cccc cccc cccc cccc cccc " + "cccc cccc cccc cccc cccc cccc … cccc cccc cccc cccc cccc cccc" (output-on-the-way)
         excerpt m11.0 keep "dddd dddd dddd dddd dddd dddd …dddd dddd dddd dddd dddd dddd " + "dddd dddd dddd dddd dddd dddd … dddd dddd dddd dddd dddd dddd" (output-on-the-way)"#,);
    assert!(planned.after <= 1100, "{}", planned.after);
    // The ways have less than is needed: the pairs stay, and the chain continues.
    let planned = case(ROUNDS, "", 100).expect(
        "summarize u2..u3 in 80 tokens (way-to-the-answer)
         summarize u6..u7 in 80 tokens (way-to-the-answer)",
    );
    assert!(planned.after > 100);
}

#[test]
fn what_is_protected_stays_and_splits_a_way() {
    let case = case(ROUNDS, "min_summary_tokens=40", 100);
    case.protect(3, Protection::Pinned).expect(
        "summarize u2 in 40 tokens (way-to-the-answer)
         summarize u6..u7 in 40 tokens (way-to-the-answer)",
    );
}

#[test]
fn an_answer_given_with_a_call_keeps_its_step_but_not_the_output() {
    let fixture = "
user: 修复解析器
call Read c1 {}
result c1: 甲甲甲 … x200
assistant: 问题在第三行。
call Bash c2 {}
result c2: 乙乙乙 … x200
user: 继续
assistant: 好";
    case(fixture, "", 100).expect(
        r#"summarize u1 in 80 tokens (way-to-the-answer)
         excerpt m4.0 keep "乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙…乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 " + "乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙…乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙 乙乙乙" (output-on-the-way)"#,);
}

#[test]
fn a_round_that_is_not_finished_gives_its_older_steps() {
    let mut fixture = String::from("user: go\n");
    for step in 1..=30 {
        fixture.push_str(&format!("call Bash c{step} {{}}\nresult c{step}: xxxx … x400\n"));
    }
    let planned = case(&fixture, "", 13_000).expect(
        r#"excerpt m2.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m4.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m6.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m8.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m10.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m12.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)
         excerpt m14.0 keep "xxxx xxxx xxxx xxxx xxxx xxxx …xxxx xxxx xxxx xxxx xxxx xxxx " + "xxxx xxxx xxxx xxxx xxxx xxxx … xxxx xxxx xxxx xxxx xxxx xxxx" (output-on-the-way)"#,);
    assert!((12_000..=13_000).contains(&planned.after), "{}", planned.after);
    case(&fixture, "keep_steps=30", 6000).expect(
        "declined: no finished round has a way from question to answer, and the current one has no more than 30 steps",
    );
    // Calls in plain text, their output in messages of the user's side.
    let fixture = "user: go\n".to_owned() + &"textcall bash: ls\nuser(output): yyyy … x400\n".repeat(4);
    case(&fixture, "keep_steps=2", 1300).expect("summarize u1..u2 in 195 tokens (way-to-the-answer)");
}

#[test]
fn chats_have_no_way_between() {
    let fixture = "user: hello … x50\nassistant: hi … x50\n".repeat(20);
    case(&fixture, "", 100).expect(
        "declined: no finished round has a way from question to answer, and the current one has no more than 20 steps",
    );
}

#[test]
fn an_earlier_summary_is_folded_in_but_never_alone() {
    let fixture = "
user: go
user(summary): what happened … x40
assistant: done
user: on
assistant: yes
user: and";
    case(fixture, "min_summary_tokens=10", 100)
        .expect("declined: no way from question to answer is longer than what would stand for it");
    let fixture = fixture.replace("assistant: done", "call Bash c1 {}\nresult c1: xxxx … x40\nassistant: done");
    case(&fixture, "min_summary_tokens=10", 100).expect("summarize u1..u2 in 15 tokens (way-to-the-answer)");
}
