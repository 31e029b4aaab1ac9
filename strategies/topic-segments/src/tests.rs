use super::*;
use epitome_testkit::PlanCase;

fn case(fixture: &str, settings: &str, target: u32) -> PlanCase {
    PlanCase::new::<TopicSegments>(fixture, settings).target(target)
}

/// Turns about one thing each: what is asked and what is answered share its words.
fn turns(topics: &[(&str, &str, usize)]) -> String {
    let mut text = String::from("system: S\n");
    for (opening, words, count) in topics {
        for turn in 0..*count {
            let opening = if turn == 0 { *opening } else { "" };
            text.push_str(&format!("user: {opening} {words} question{turn}\nassistant: {words} answer … x12\n"));
        }
    }
    text
}

const PARSER: &str = "parser grammar token bracket nesting";
const HOTEL: &str = "hotel lisbon flight booking beach";
const TAX: &str = "invoice tax declaration receipt deduction";

#[test]
fn topics_are_told_apart_by_their_words() {
    let fixture = turns(&[("", PARSER, 6), ("", HOTEL, 6), ("", TAX, 6)]);
    case(&fixture, "", 600).expect(
        "summarize u2..u12 in 80 tokens (finished-topic)
         summarize u13..u24 in 80 tokens (finished-topic)",
    );
    case(&fixture, "", 2000).expect("summarize u2..u12 in 89 tokens (finished-topic)");
}

#[test]
fn chinese_topics_are_told_apart_by_pairs_of_characters() {
    let fixture = turns(&[("", "解析器语法括号嵌套错误", 6), ("", "酒店机票里斯本海滩预订", 6)]);
    case(&fixture, "", 600).expect("summarize u2..u12 in 80 tokens (finished-topic)");
}

#[test]
fn one_topic_stays_whole() {
    case(&turns(&[("", PARSER, 12)]), "", 600).expect("declined: one topic so far, in 13 passages");
}

#[test]
fn shift_words_open_a_topic() {
    let check = |opening: &str, expect: bool| {
        assert_eq!(segments::opens_new(opening, &epitome_strategy::Lexicon::standard()), expect, "{opening}");
    };
    check("Great, thanks! Next task: the docs", true);
    check("By the way, what is a lifetime?", true);
    check("好的，谢谢。接下来写文档", true);
    check("换个话题，今天天气怎么样", true);
    check("fix the parser, and when that is done go on with the next task", false);
    check("annexed: the parser", false);
    check("继续", false);
    // The same words all along: only the shift tells.
    let fixture = turns(&[("", PARSER, 6), ("Next task: the", PARSER, 6)]);
    case(&fixture, "", 600).expect("summarize u2..u12 in 80 tokens (finished-topic)");
    case(&fixture, "shift_score=0", 600).expect("declined: one topic so far, in 13 passages");
}

#[test]
fn a_pause_speaks_for_a_new_topic() {
    let turn = |minute: u64| format!("user(at={0}): {PARSER}\nassistant(at={0}): {PARSER} … x12\n", minute * 60_000);
    let fixture = |pause: u64| (0..12).map(|turn_| turn(turn_ + if turn_ < 6 { 0 } else { pause })).collect::<String>();
    case(&fixture(600), "pause_score=0.8", 600).expect("summarize u1..u11 in 80 tokens (finished-topic)");
    case(&fixture(0), "pause_score=0.8", 600).expect("declined: one topic so far, in 12 passages");
}

#[test]
fn the_work_of_one_request_has_topics_too() {
    let mut fixture = String::from("user: go\n");
    for step in 0..40 {
        let words = if step < 25 { PARSER } else { HOTEL };
        fixture.push_str(&format!(
            "assistant: {words}\ncall Bash c{step} {{\"command\":\"{words}\"}}\nresult c{step}: x … x100\n"
        ));
    }
    case(&fixture, "", 1000).expect("summarize u1..u25 in 80 tokens (finished-topic)");
}

#[test]
fn earlier_summaries_stand_and_are_folded_when_they_pile_up() {
    let summary = format!("user(summary): {HOTEL} … x30\n");
    let rest = turns(&[("", PARSER, 6), ("", TAX, 6)]).replace("system: S\n", "");
    let fixture = format!("user: go\n{}{rest}", summary.repeat(3));
    case(&fixture, "", 1500).expect("summarize u4..u15 in 112 tokens (finished-topic)");
    case(&fixture, "max_summaries=2", 1500).expect(
        "summarize u1..u2 in 259 tokens (summaries-folded)
         summarize u4..u15 in 112 tokens (finished-topic)",
    );
}
