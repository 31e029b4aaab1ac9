use super::*;
use epitome_testkit::PlanCase;

#[test]
fn declines_where_there_is_nothing_to_extract() {
    let check = |fixture: &str, target: u32, expect: &str| {
        PlanCase::new::<StructuredExtraction>(fixture, "").target(target).expect(expect);
    };
    check("user: hi\nassistant: hello", 1_000, "declined: the goal is met");
    check("user: hi\nassistant: a … x50\nuser: b", 10, "declined: only 25 tokens in front of the newest part may leave");
}
