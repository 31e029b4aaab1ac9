use super::*;
use epitome_testkit::PlanCase;

const FIXTURE: &str = "
user: go
thinking: I wonder about it. … x60
assistant: It is done so. … x60
user(injected): Remember the rule. … x60
user: Here is my log. … x60
thinking signed: I know. … x60
assistant: That is the cause. … x60
result c9: Not a text. … x60
user: on
assistant: The end has come. … x60
";

fn case(settings: &str, target: Tokens) -> PlanCase {
    PlanCase::new::<MessageTruncation>(FIXTURE, settings).target(target)
}

#[test]
fn cheap_and_old_texts_give_first() {
    let settings = "tail_share=0.0";
    case(settings, 1900)
        .expect(r#"excerpt m1.0 keep "I wonder about it. I wonder ab…r about it. I wonder about it." (long-text)"#);
    let all = case(settings, 1).run();
    let touched: Vec<&str> = all.text.lines().map(|line| &line[8..12]).collect();
    assert_eq!(touched, ["m1.0", "m1.1", "m2.0", "m3.0", "m4.1", "m7.0"]);
}

#[test]
fn what_is_kept_meets_the_goal_and_not_much_less() {
    for target in [1000, 1200, 1400, 1600, 1800, 1900] {
        let planned = case("", target).run();
        assert!(planned.after <= target, "{} is over {target}", planned.after);
        assert!(planned.after + target / 8 > target, "{} throws away too much of {target}", planned.after);
    }
}

#[test]
fn however_little_is_to_stay_something_does() {
    for min_kept in [1, 10, 20, 25, 30, 80] {
        let planned = case(&format!("min_kept_tokens={min_kept}"), 1).run();
        assert_eq!(planned.plan.edits.len(), 6, "{min_kept}: {}", planned.text);
        assert!(!planned.text.contains("keep nothing"), "{min_kept}: {}", planned.text);
    }
    let least = |min_kept: u32| case(&format!("min_kept_tokens={min_kept}"), 1).run().after;
    assert!(least(1) <= least(25) && least(25) < least(80), "{} {} {}", least(1), least(25), least(80));
}

#[test]
fn both_ends_stay_in_whole_sentences() {
    let fixture = "user: go\nassistant: First. Second one. Middle sentence number {n} is here. … x1\n  Middle sentence {n}. … x90 lines\n  Last but one. The very last.\nuser: on";
    PlanCase::new::<MessageTruncation>(fixture, "min_kept_tokens=40 tail_share=0.4")
        .expect(r#"excerpt m1.0 keep "First. Second one. Middle sentence number 1 is here." + "Last but one. The very last." (long-text)"#);
    let fixture = "user: 开始\nassistant: 第一句话在这里。第二句话。中间的句子没有意义。 … x60\nuser: 继续";
    let planned = PlanCase::new::<MessageTruncation>(fixture, "").run();
    let Some(Edit::Excerpt { keep, .. }) = planned.plan.edits.first() else { unreachable!("{}", planned.text) };
    assert_eq!(keep.len(), 2, "{}", planned.text);
    assert!(planned.text.contains("keep \"第一句话在这里。"), "{}", planned.text);
}

#[test]
fn typed_text_only_when_allowed() {
    let touches_typed = |settings| case(settings, 1).run().text.contains("m3.0");
    assert!(touches_typed(""));
    assert!(!touches_typed("cut_typed=false"));
}

#[test]
fn nothing_to_cut() {
    case("min_tokens=5000", 1).expect("declined: no text is long enough to cut");
    let call = "user: go\nassistant: I look. … x3\ntextcall bash: echo words … x300\nuser(output): x\nuser: on";
    PlanCase::new::<MessageTruncation>(call, "").expect("declined: no text is long enough to cut");
}
