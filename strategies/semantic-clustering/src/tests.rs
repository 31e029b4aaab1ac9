#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use super::*;
use epitome_strategy::{EmbedError, Embedder, Embeddings, Protection, async_trait};
use epitome_testkit::PlanCase;

/// Messages of about 30 tokens each about the named things, and a last question.
fn talk(topics: &[&str]) -> String {
    let mut text = String::from("system: S\nuser: start\n");
    for topic in topics {
        text.push_str(&format!("assistant: {topic} … x5\n"));
    }
    text.push_str("user: last\n");
    text
}

const FLIGHT: &str = "flight hotel lisbon beach";
const BICYCLE: &str = "bicycle brake cable saddle";
const GARDEN: &str = "garden tomato water compost";

/// Twelve messages about three things: u2..u13.
const TWELVE: &[&str] =
    &[FLIGHT, BICYCLE, FLIGHT, GARDEN, FLIGHT, BICYCLE, FLIGHT, FLIGHT, BICYCLE, FLIGHT, GARDEN, FLIGHT];

fn case_of(fixture: &str, settings: &str) -> PlanCase {
    PlanCase::new::<SemanticClustering>(fixture, &format!("min_summary_tokens=20 window=1 {settings}"))
}

fn case(settings: &str) -> PlanCase {
    case_of(&talk(TWELVE), settings)
}

#[test]
fn of_each_cluster_one_stays() {
    // The newest of equals: u10 for the bicycle, u12 for the garden, u13 for the flight.
    case("").target(200).expect(
        "summarize u2..u9 in 30 tokens (represented)
         drop u11 (represented)",
    );
    let chinese = ["预订机票和酒店", "修理自行车刹车", "番茄浇水和施肥"];
    let twelve: Vec<&str> = (0..12).map(|number| chinese[number % 3]).collect();
    case_of(&talk(&twelve), "").target(200).expect("summarize u2..u10 in 30 tokens (represented)");
}

#[test]
fn no_more_leaves_than_the_goal_needs_and_the_best_represented_leave_first() {
    // One of the flights says something of its own besides (u3): what is said twice leaves before it.
    let mixed = "flight hotel museum tram";
    let topics = [FLIGHT, mixed, FLIGHT, BICYCLE, BICYCLE, BICYCLE, GARDEN, GARDEN, GARDEN, FLIGHT];
    let case = |target| case_of(&talk(&topics), "max_clusters=3").target(target);
    case(280).expect(
        "summarize u4..u6 in 42 tokens (represented)
         drop u2 (represented)
         drop u8 (represented)",
    );
    let planned = case(280).run();
    assert!(planned.after <= 280 && planned.after > 220, "{planned:?}");
    case(200).expect(
        "summarize u2..u6 in 30 tokens (represented)
         drop u8..u9 (represented)",
    );
}

#[test]
fn representatives_leave_when_the_goal_leaves_no_room_and_the_window_last() {
    // With room for one, there is one cluster, and the newest of the largest part of it stays for all.
    case("").target(120).expect("summarize u2..u12 in 20 tokens (represented)");
    case("").target(1).expect("summarize u2..u13 in 20 tokens (no-room-for-representative)");
    case("window=3").target(1).expect("summarize u2..u13 in 20 tokens (window-shrunk)");
}

#[test]
fn what_a_person_typed_or_later_messages_use_represents() {
    let check = |first: &str, settings: &str, expect: &str| {
        let mut fixture = format!("system: S\nuser: start\n{first}\n");
        fixture.push_str(&format!("assistant: {FLIGHT} … x5\n").repeat(6));
        fixture.push_str(&format!("assistant: {GARDEN} … x5\n").repeat(5));
        fixture.push_str("call Read c1 {\"file_path\":\"src/gate_keeper.rs\"}\nresult c1: ok\nuser: last\n");
        let settings = format!("max_clusters=2 window=3 {settings}");
        case_of(&fixture, &settings).target(170).expect(expect);
    };
    // A call between the typed message and the answers: it is no question of theirs.
    let typed = format!("user: {FLIGHT} … x5\ncall Bash b {{}}\nresult b: ok");
    check(&typed, "", "summarize u3..u13 in 25 tokens (represented)");
    check(
        &typed,
        "usage_weight=0",
        "summarize u2..u8 in 25 tokens (represented)
         drop u10..u13 (represented)",
    );
    let used = format!("assistant: {FLIGHT} … x5 and src/gate_keeper.rs");
    check(&used, "usage_weight=2", "summarize u3..u12 in 25 tokens (represented)");
    check(
        &used,
        "usage_weight=0",
        "summarize u2..u7 in 25 tokens (represented)
         drop u9..u12 (represented)",
    );
}

#[test]
fn a_question_stays_and_leaves_with_its_answer() {
    // Each exchange is one thing: of the flights the newest stays, both halves of it.
    let mut fixture = String::from("system: S\nuser: start\n");
    for topic in [FLIGHT, BICYCLE, FLIGHT, BICYCLE, FLIGHT, BICYCLE] {
        fixture.push_str(&format!("user: {topic}\nassistant: {topic} … x5\n"));
    }
    fixture.push_str("user: last\n");
    case_of(&fixture, "").target(200).expect("summarize u2..u9 in 30 tokens (represented)");
}

#[test]
fn several_may_stay_for_a_cluster() {
    let check = |settings: &str, expect: &str| {
        let settings = format!("max_clusters=1 {settings}");
        case_of(&talk(TWELVE), &settings).target(120).expect(expect);
    };
    check("per_cluster=1", "summarize u2..u12 in 20 tokens (represented)");
    // A flight, and what is least like it: there is room for one of them only.
    check("per_cluster=2", "summarize u2..u12 in 20 tokens (no-room-for-representative)");
}

#[test]
fn each_run_has_a_summary_of_its_own() {
    // Of the first ten, all about the flight, the newest stay, and stand between them and the bicycles that leave. There is
    // room for one summary: the shorter run leaves without, where the goal needs it.
    let topics: Vec<&str> = [[FLIGHT; 10], [BICYCLE; 10]].concat();
    case_of(&talk(&topics), "max_clusters=2 window=1").target(300).expect(
        "summarize u12..u20 in 45 tokens (represented)
         drop u2..u7 (represented)",
    );
}

#[test]
fn earlier_summaries_are_folded_in() {
    let fixture = talk(TWELVE).replacen("user: start", "user: start\nuser(summary): goals … x10", 1);
    case_of(&fixture, "").target(220).expect(
        "summarize u2..u10 in 33 tokens (represented)
         drop u12 (represented)",
    );
}

#[test]
fn what_is_protected_stays_and_stands_for_nothing() {
    case("").target(250).protect(2, Protection::Pinned).protect(13, Protection::Pinned).expect(
        "summarize u3..u9 in 37 tokens (represented)
         drop u12 (represented)",
    );
}

#[test]
fn the_same_each_time_and_for_many_messages() {
    // More messages than are clustered one by one.
    let names = [FLIGHT, BICYCLE, GARDEN];
    let topics: Vec<&str> = (0..5_100).map(|number| names[number / 850 % 3]).collect();
    let planned = case_of(&talk(&topics), "max_clusters=3").target(20_000).run();
    let again = case_of(&talk(&topics), "max_clusters=3").target(20_000).run();
    assert_eq!(planned.plan, again.plan);
    assert!(planned.text.ends_with("(represented)") && planned.after <= 20_000, "{}", planned.after);
}

/// Gives each text one of two vectors, by its first letter.
#[derive(Debug)]
struct Two(f32, f32);

#[async_trait]
impl Embedder for Two {
    fn name(&self) -> &str {
        "two"
    }

    fn dimensions(&self) -> usize {
        2
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let vector = |text: &&str| if text.starts_with('f') { [self.0, 0.0] } else { [0.0, self.1] };
        Ok(Embeddings::new(2, texts.iter().flat_map(vector).collect()))
    }
}

#[test]
fn vectors_of_zeros_and_no_numbers_do_no_harm() {
    let check = |embedder: Two, expect: &str| {
        case("").embedder(Some(Arc::new(embedder))).target(200).expect(expect);
    };
    // Nothing is known of bicycles and gardens: they leave first.
    check(
        Two(1.0, 0.0),
        "summarize u2..u8 in 30 tokens (represented)
         drop u10 (represented)
         drop u12 (represented)",
    );
    check(
        Two(1.0, f32::NAN),
        "summarize u2..u8 in 30 tokens (represented)
         drop u10 (represented)
         drop u12 (represented)",
    );
    check(
        Two(f32::INFINITY, 1.0),
        "summarize u2..u6 in 30 tokens (represented)
         drop u8..u9 (represented)
         drop u11 (represented)
         drop u13 (represented)",
    );
    check(Two(0.0, 0.0), "declined: nothing that the embedder knows stands in the messages");
}

#[test]
fn it_declines_where_there_is_nothing_to_cluster() {
    case("").embedder(None).target(200).expect("declined: no embedder is configured");
    case("min_messages=13").target(200).expect("declined: 12 messages in front of the newest 1: runs from 13");
    case("min_summary_tokens=1000")
        .target(200)
        .expect("declined: what is represented is no longer than its summary would be");
}
