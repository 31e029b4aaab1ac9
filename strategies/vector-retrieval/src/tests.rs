#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use super::*;
use epitome_strategy::{Edit, EmbedError, Embedder, Embeddings, Protection, async_trait};
use epitome_testkit::PlanCase;

/// Questions and answers about several things, of about 40 tokens each, and a question that goes back to one of them.
fn chat(topics: &[&str], question: &str) -> String {
    let mut text = String::from("system: S\nuser: start\n");
    for topic in topics {
        text.push_str(&format!("user: {topic} … x4\nassistant: answer on {topic} … x4\n"));
    }
    text.push_str(&format!("user: {question}\n"));
    text
}

const TOPICS: &[&str] = &[
    "flight hotel lisbon beach",
    "bicycle brake cable saddle",
    "income return form office",
    "garden tomato water compost",
    "guitar chord string tuning",
    "winter jacket wool lining",
];

fn case_of(topics: &[&str], question: &str, settings: &str) -> PlanCase {
    let settings = format!("min_summary_tokens=20 window=1 {settings}");
    PlanCase::new::<VectorRetrieval>(&chat(topics, question), &settings).question(question)
}

fn case(settings: &str) -> PlanCase {
    case_of(TOPICS, "income return form", settings)
}

#[test]
fn the_nearest_stay_and_the_least_near_leave_first() {
    // u6 and u7 are the form's question and answer.
    case("keep_nearest=1").target(170).expect(
        "summarize u8..u13 in 25 tokens (far-from-question)
         drop u2..u5 (far-from-question)",
    );
    case("keep_nearest=2").target(170).expect(
        "summarize u8..u13 in 25 tokens (far-from-question)
         drop u2..u5 (far-from-question)",
    );
    // No more leaves than the goal needs.
    let planned = case("keep_nearest=1").target(400).run();
    assert!(planned.after <= 400 && planned.after > 300, "{planned:?}");
}

#[test]
fn chinese_is_near_too() {
    let topics = ["预订机票和酒店", "修理自行车刹车", "报税表格在哪里提交", "番茄浇水和施肥"];
    case_of(&topics, "报税表格什么时候提交", "keep_nearest=2").target(200).expect(
        "summarize u2..u5 in 30 tokens (far-from-question)
         drop u8 (far-from-question)",
    );
}

#[test]
fn the_nearest_leave_when_the_goal_leaves_no_room_and_the_window_last() {
    case("keep_nearest=2").target(1).expect("summarize u2..u13 in 20 tokens (no-room-for-near)");
    case("keep_nearest=2 window=5").target(1).expect("summarize u2..u13 in 20 tokens (window-shrunk)");
    // The last chosen of the near ones leaves first: the question is nearer than its answer.
    case("keep_nearest=2").target(130).expect(
        "summarize u7..u13 in 20 tokens (no-room-for-near)
         drop u2..u5 (no-room-for-near)",
    );
}

#[test]
fn an_answer_comes_with_its_question() {
    // The question alone holds the words; the answer says other things.
    let fixture = "
user: start
user: where did the tax office send the letter
assistant: to the old flat … x20
user: sing me a song
assistant: la la … x40
user: another one please
assistant: dum dum … x40
user: the tax office letter again
";
    let check = |settings: &str, target: u32, expect: &str| {
        let settings = format!("min_summary_tokens=1 summary_share=0 window=1 keep_nearest=1 {settings}");
        let focus = "the tax office letter again";
        PlanCase::new::<VectorRetrieval>(fixture, &settings).target(target).question(focus).expect(expect);
    };
    check("", 150, "summarize u3..u6 in 1 tokens (far-from-question)");
    check(
        "",
        80,
        "summarize u2..u4 in 1 tokens (no-room-for-near)
         drop u6 (no-room-for-near)",
    );
}

#[test]
fn what_says_the_same_takes_one_place() {
    // Two that are alike, and one that is less near but says something else.
    let units = Embeddings::new(2, vec![1.0, 0.1, 1.0, 0.1, 0.6, -0.8]);
    let candidates = [0.9, 0.8, 0.6].into_iter().enumerate().map(|(unit, nearness)| Candidate { unit, nearness });
    let candidates: Vec<Candidate> = candidates.collect();
    let chosen = |lambda: f64| -> Vec<usize> {
        nearness::nearest(&candidates, &units, 2, lambda).iter().map(|candidate| candidate.unit).collect()
    };
    assert_eq!(chosen(0.4), [0, 2]);
    assert_eq!(chosen(1.0), [0, 1]);
}

#[test]
fn exact_strings_count_beside_the_vectors() {
    // In words the second is nearer; only the first and its answer hold the question's path.
    let topics =
        ["deploy broke src/gate.rs:41 yesterday", "please look again when there is time", "guitar chord string"];
    let question = "please look at src/gate.rs again when there is time";
    let check = |weight: &str, expect: &str| {
        let settings = format!("keep_nearest=1 identifier_weight={weight}");
        case_of(&topics, question, &settings).target(130).expect(expect);
    };
    check("2", "summarize u3..u7 in 20 tokens (no-room-for-near)");
    check(
        "0",
        "summarize u5..u7 in 20 tokens (no-room-for-near)
         drop u2..u3 (no-room-for-near)",
    );
}

#[test]
fn a_call_and_its_results_are_one_message() {
    let mut fixture = String::from("user: start\n");
    for (number, what) in ["alpha beta", "gamma delta", "income return", "kappa lambda"].iter().enumerate() {
        fixture.push_str(&format!("call Search c{number} {what}\nresult c{number}: {what} … x20\n"));
    }
    fixture.push_str("user: income return\n");
    PlanCase::new::<VectorRetrieval>(&fixture, "window=1 keep_nearest=1 min_summary_tokens=10")
        .question("income return")
        .target(150)
        .expect(
            "summarize u1..u2 in 20 tokens (far-from-question)
         drop u4 (far-from-question)",
        );
}

#[test]
fn earlier_summaries_are_folded_in_and_never_summarised_alone() {
    let with_summary = |words: usize| {
        chat(TOPICS, "income return form").replacen(
            "user: start",
            &format!("user: start\nuser(summary): goals … x{words}"),
            1,
        )
    };
    let check = |words: usize, target: u32, expect: &str| {
        PlanCase::new::<VectorRetrieval>(&with_summary(words), "min_summary_tokens=20 window=1 keep_nearest=2")
            .question("income return form")
            .target(target)
            .expect(expect);
    };
    check(
        10,
        180,
        "summarize u9..u14 in 27 tokens (far-from-question)
         drop u2..u6 (far-from-question)",
    );
    let planned = PlanCase::new::<VectorRetrieval>(&with_summary(400), "min_summary_tokens=20 window=1 keep_nearest=2")
        .question("income return form")
        .target(900)
        .run();
    assert!(planned.text.starts_with("summarize u2..u3 "), "the summary and a message: {}", planned.text);
}

#[test]
fn what_cannot_stay_goes_first() {
    // One near message is larger than the target: it costs none of the others.
    let fixture =
        chat(TOPICS, "income return form").replacen("user: start", "user: start\nassistant: income … x400", 1);
    PlanCase::new::<VectorRetrieval>(&fixture, "min_summary_tokens=20 window=1")
        .question("income return form")
        .target(500)
        .expect("summarize u2..u4 in 75 tokens (no-room-for-near)");
}

#[test]
fn what_is_protected_stays() {
    case("keep_nearest=1").target(170).protect(4, Protection::Pinned).expect(
        "summarize u7..u13 in 25 tokens (no-room-for-near)
         drop u2..u3 (no-room-for-near)
         drop u5 (no-room-for-near)",
    );
}

/// Gives every text the same vector.
#[derive(Debug)]
struct Same(f32);

#[async_trait]
impl Embedder for Same {
    fn name(&self) -> &str {
        "same"
    }

    fn dimensions(&self) -> usize {
        2
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        Ok(Embeddings::new(2, vec![self.0; 2 * texts.len()]))
    }
}

#[test]
fn it_declines_where_there_is_nothing_to_go_by() {
    let check = |case: PlanCase, expect: &str| drop(case.target(100).expect(&format!("declined: {expect}")));
    check(case("").embedder(None), "no embedder is configured");
    check(case("").embedder(Some(Arc::new(Same(0.0)))), "no old message has anything in common with the question");
    check(case("").embedder(Some(Arc::new(Same(f32::NAN)))), "no old message has anything in common with the question");
    let unasked = |settings: &str| PlanCase::new::<VectorRetrieval>(&chat(TOPICS, "?"), settings);
    let answered = "the conversation's last question is answered: the next turn may be about another";
    check(unasked("").focus("income return form").task(TaskKind::Conversation), answered);
    check(case("window=100"), "nothing in front of the newest 15 units may leave");
    check(case("min_summary_tokens=2000"), "what is far from the question is no longer than its summary would be");
}

#[test]
fn in_work_with_tools_what_was_asked_last_is_the_question() {
    let unasked = PlanCase::new::<VectorRetrieval>(&chat(TOPICS, "?"), "min_summary_tokens=20 window=1 keep_nearest=1");
    let planned = unasked.focus("income return form").task(TaskKind::Code).target(100).run();
    let asked = case("min_summary_tokens=20 window=1 keep_nearest=1").task(TaskKind::Code).target(100).run();
    assert_eq!(planned.text, asked.text);
}

#[test]
fn what_a_person_demands_stays_near_or_not() {
    let demand = "user: From now on, answer in French.\nassistant: Oui.\n";
    let leaves = |settings: &str| {
        let settings = format!("min_summary_tokens=20 window=1 keep_nearest=1 {settings}");
        let fixture = format!("user: hello\nassistant: hi\n{demand}{}", chat(TOPICS, "income return form"));
        let case = PlanCase::new::<VectorRetrieval>(&fixture, &settings).question("income return form").target(200);
        let planned = case.run();
        planned.plan.edits.iter().any(|edit| match edit {
            Edit::Summarize { units, .. } | Edit::Drop { units, .. } => units.contains(&2),
            Edit::Excerpt { .. } | Edit::Trim { .. } => false,
        })
    };
    assert!(leaves("demand_share=0"), "it is far from the question");
    assert!(!leaves(""), "it is a demand");
}
