use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

/// A question and five steps of a read, a text and reasoning, about 600 tokens each.
fn steps() -> String {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=5 {
        text.push_str(&format!(
            "assistant: Step {step} is a sentence of this text. … x15\ncall Read c{step} {{}}\nresult c{step}:\n  line {{n}} of {step} … x100 lines\n"
        ));
    }
    text
}

fn case(fixture: &str, settings: &str, target: u32) -> PlanCase {
    PlanCase::new::<TimeDecay>(fixture, settings).target(target)
}

/// One tier takes the place of all weaker ones; nothing leaves unless asked for.
const NO_HASTE: &str = "hasten_up_to=1 drop_after=1000 heavy_after=1000 medium_after=1000";

#[test]
fn light_cuts_outputs() {
    case(&steps(), &format!("{NO_HASTE} light_after=2"), 100).expect(
        r#"excerpt m3.0 keep "line 1 of 1⏎line 2 of 1⏎line 3…f 1⏎line 23 of 1⏎line 24 of 1⏎" + "line 77 of 1⏎line 78 of 1⏎line…f 1⏎line 99 of 1⏎line 100 of 1" (aged-light)
         excerpt m5.0 keep "line 1 of 2⏎line 2 of 2⏎line 3…f 2⏎line 23 of 2⏎line 24 of 2⏎" + "line 77 of 2⏎line 78 of 2⏎line…f 2⏎line 99 of 2⏎line 100 of 2" (aged-light)"#,);
}

#[test]
fn medium_cuts_all_texts_to_a_sentence() {
    case(&steps(), "hasten_up_to=1 drop_after=1000 heavy_after=1000 medium_after=2 light_after=1000", 100).expect(
        r#"excerpt m2.0 keep "Step 1 is a sentence of this t… 1 is a sentence of this text." (aged-medium)
         excerpt m3.0 keep "line 1 of 1⏎line 2 of 1⏎line 3… of 1⏎line 5 of 1⏎line 6 of 1⏎" + "line 95 of 1⏎line 96 of 1⏎line…f 1⏎line 99 of 1⏎line 100 of 1" (aged-medium)
         excerpt m4.0 keep "Step 2 is a sentence of this t… 2 is a sentence of this text." (aged-medium)
         excerpt m5.0 keep "line 1 of 2⏎line 2 of 2⏎line 3… of 2⏎line 5 of 2⏎line 6 of 2⏎" + "line 95 of 2⏎line 96 of 2⏎line…f 2⏎line 99 of 2⏎line 100 of 2" (aged-medium)"#,);
}

#[test]
fn heavy_leaves_stubs_and_a_sentence_of_what_was_typed() {
    let fixture = "user: a\nuser: 第一句话在这里。 … x30\nassistant: ok\ncall Write c1 {\"content\":\"long\"}\nresult c1: x … x300\nuser: next\nassistant: bbbb … x200\n";
    let fixture = fixture.replace("\"long\"", &format!("{:?}", "w".repeat(600)));
    case(&fixture, "hasten_up_to=1 drop_after=1000 heavy_after=0.5", 100).expect(
        r#"excerpt m1.0 keep "第一句话在这里。 第一句话在这里。 第一句话在这里。 第一句话在这里。 第一句话在这里。 第一句话在这里。 第一句话在这里。" (aged-heavy)
         trim m2.1 to 200 characters (aged-heavy)
         excerpt m3.0 keep nothing (aged-heavy)"#,);
}

#[test]
fn the_oldest_leave() {
    let planned = case(&steps(), "hasten_up_to=1", 1500).expect(
        "summarize u2..u3 in 225 tokens (aged-out)
         excerpt m6.0 keep nothing (aged-heavy)
         excerpt m7.0 keep nothing (aged-heavy)",
    );
    assert!(planned.after <= 1500, "{}", planned.after);
}

#[test]
fn everything_fades_before_anything_leaves() {
    // A near goal is met by the lightest cuts, a farther one by stronger ones of what is older.
    let tiers = |target: u32| {
        let planned = case(&steps(), "", target).run();
        let mut codes: Vec<String> = planned.plan.edits.iter().map(|edit| edit.reason().code.to_string()).collect();
        codes.dedup();
        codes.join(" ")
    };
    let has = |target: u32, code: &str| tiers(target).contains(code);
    assert!(has(2_100, "aged-light") && !has(2_100, "aged-heavy") && !has(2_100, "aged-out"), "{}", tiers(2_100));
    assert!(has(1_500, "aged-heavy") && has(1_500, "aged-medium") && !has(1_500, "aged-out"), "{}", tiers(1_500));
    assert!(tiers(500).contains("aged-out"), "{}", tiers(500));
}

#[test]
fn it_goes_as_far_as_the_goal_needs_and_hastens_where_it_must() {
    for target in (600..2400).step_by(150) {
        let planned = case(&steps(), "", target).run();
        assert!(planned.after <= target, "{} is over {target}:\n{}", planned.after, planned.text);
    }
    let planned = case(&steps(), "hasten_up_to=1", 600).run();
    assert!(planned.after > 600, "{}", planned.text);
}

#[test]
fn age_goes_by_timestamps_where_there_are_any() {
    // Minutes 0, 1, 2 and 60: three old messages, and two new ones of the same length.
    let text = "word … x200";
    let fixture = format!(
        "user(at=0): go\nassistant(at=60000): {text}\nassistant(at=120000): {text}\nuser(at=3600000): on\nassistant(at=3600000): {text}\nassistant(at=3600000): {text}"
    );
    let settings = "hasten_up_to=1 drop_after=1000 heavy_after=1";
    case(&fixture, settings, 100).expect(
        "excerpt m1.0 keep nothing (aged-heavy)
         excerpt m2.0 keep nothing (aged-heavy)",
    );
    case(&fixture, &format!("{settings} half_life_minutes=59"), 100).expect(
        r#"excerpt m1.0 keep nothing (aged-heavy)
         excerpt m2.0 keep "word word word word word word …word word word word word word " (aged-medium)"#,
    );
}

#[test]
fn what_is_protected_or_new_stays() {
    case(&steps(), "", 100)
        .protect(2, Protection::Pinned)
        .protect(3, Protection::Pinned)
        .expect("summarize u4..u5 in 80 tokens (aged-out)");
    case("user: go\nassistant: short\nuser: on\nassistant: short", "", 1)
        .expect("declined: nothing old enough is long enough: the oldest message is 24.7 half-lives old by position");
}

#[test]
fn earlier_summaries_are_folded_in_but_never_alone() {
    let fixture = format!("user: go\nuser(summary): what happened … x100\n{}", &steps()[23..]);
    case(&fixture, "hasten_up_to=1", 1500).expect(
        "summarize u1..u3 in 225 tokens (aged-out)
         excerpt m6.0 keep nothing (aged-heavy)
         excerpt m7.0 keep nothing (aged-heavy)",
    );
    case("user: go\nuser(summary): what happened … x100\nuser: on\nassistant: yes", "", 100)
        .expect("declined: nothing old enough is long enough: the oldest message is 31.6 half-lives old by position");
}
