use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

/// A search, then edits and tests of one file by turns, then a typed message and two reads.
const LOOP: &str = r#"
system: You are a coding agent.
user: fix the parser
call WebSearch c0 {"query":"parser"}
result c0: wwww … x200
call Edit c1 {"file_path":"a.rs"}
result c1: aaaa … x200
call Bash c2 {"command":"cargo test"}
result c2: bbbb … x200
call Edit c3 {"file_path":"a.rs"}
result c3: cccc … x200
assistant: One more try. … x40
call Bash c4 {"command":"cargo test"}
result c4: dddd … x200
call Edit c5 {"file_path":"a.rs"}
result c5: eeee … x200
user: thanks, look at b.rs
call Read c6 {"file_path":"b.rs"}
result c6: ffff … x200
call Read c7 {"file_path":"b.rs"}
result c7: gggg … x200
"#;

fn case(fixture: &str, settings: &str, target: u32) -> PlanCase {
    PlanCase::new::<ToolChains>(fixture, settings).target(target)
}

#[test]
fn outputs_between_first_and_last_become_stubs() {
    case(LOOP, "", 1900).expect(
        "excerpt m7.0 keep nothing (output-in-chain)
         excerpt m9.0 keep nothing (output-in-chain)",
    );
    case(LOOP, "", 1650).expect(
        "excerpt m7.0 keep nothing (output-in-chain)
         excerpt m9.0 keep nothing (output-in-chain)
         excerpt m11.0 keep nothing (output-in-chain)",
    );
}

#[test]
fn middles_are_summarised_where_stubs_are_not_enough() {
    let planned = case(LOOP, "", 1500).expect("summarize u4..u6 in 111 tokens (middle-of-chain)");
    assert!(planned.after <= 1500, "{}", planned.after);
    case(LOOP, "", 100).expect("summarize u4..u6 in 80 tokens (middle-of-chain)");
    case(LOOP, "keep_first=2 keep_last=2", 100).expect("excerpt m9.0 keep nothing (output-in-chain)");
}

#[test]
fn what_has_nothing_in_common_is_no_chain() {
    case(LOOP, "reach=1", 100).expect("declined: 8 calls: no 3 steps with calls belong together");
    case(LOOP, "min_steps=6", 100).expect("declined: 8 calls: no 6 steps with calls belong together");
    let fixture = "user: go\ncall Read a {}\nresult a: xxxx … x300\ncall Bash b {}\nresult b: xxxx … x300\nuser: on\ncall Read c {}\nresult c: xxxx … x300";
    case(fixture, "", 100).expect("declined: 3 calls: no 3 steps with calls belong together");
    // Unknown tools are distinguished by name.
    let calls = |names: [&str; 3]| {
        names
            .iter()
            .enumerate()
            .map(|(id, name)| format!("call {name} c{id} {{}}\nresult c{id}: xxxx … x300\n"))
            .collect::<String>()
    };
    case(&format!("user: go\n{}", calls(["book", "pay", "book_hotel"])), "", 100)
        .expect("declined: 3 calls: no 3 steps with calls belong together");
    case(&format!("user: 订票\n{}", calls(["book", "book", "book"])), "", 100)
        .expect("excerpt m4.0 keep nothing (output-in-chain)");
}

#[test]
fn long_chains_are_several() {
    let mut fixture = String::from("user: go\n");
    for step in 1..=10 {
        fixture.push_str(&format!("call Bash c{step} {{}}\nresult c{step}: xxxx … x400\n"));
    }
    case(&fixture, "max_steps=5", 100).expect(
        "excerpt m4.0 keep nothing (output-in-chain)
         excerpt m6.0 keep nothing (output-in-chain)
         excerpt m8.0 keep nothing (output-in-chain)
         excerpt m14.0 keep nothing (output-in-chain)
         excerpt m16.0 keep nothing (output-in-chain)
         excerpt m18.0 keep nothing (output-in-chain)",
    );
    let planned = case(&fixture, "", 3000).expect(
        "excerpt m4.0 keep nothing (output-in-chain)
         excerpt m6.0 keep nothing (output-in-chain)
         excerpt m8.0 keep nothing (output-in-chain)
         excerpt m10.0 keep nothing (output-in-chain)
         excerpt m12.0 keep nothing (output-in-chain)",
    );
    assert!((2500..=3000).contains(&planned.after), "{}", planned.after);
}

#[test]
fn calls_in_plain_text_are_chains_too() {
    let fixture = "user: go\n".to_owned() + &"textcall bash: ls\nuser(output): yyyy … x400\n".repeat(4);
    case(&fixture, "", 1300).expect(
        "excerpt m4.0 keep nothing (output-in-chain)
         excerpt m6.0 keep nothing (output-in-chain)",
    );
}

#[test]
fn what_is_protected_stays() {
    case(LOOP, "min_summary_tokens=20", 100).protect(5, Protection::Pinned).expect(
        "summarize u4 in 20 tokens (middle-of-chain)
         summarize u6 in 20 tokens (middle-of-chain)",
    );
}

#[test]
fn an_earlier_middle_is_folded_in_when_the_chain_has_grown() {
    let fixture = "
user: go
call Bash c1 {}
result c1: xxxx … x200
user(summary): ssss … x100
call Bash c2 {}
result c2: xxxx … x200
call Bash c3 {}
result c3: xxxx … x200";
    case(fixture, "", 100).expect("summarize u2..u3 in 80 tokens (middle-of-chain)");
    let fixture = fixture.replace("call Bash c3 {}\nresult c3: xxxx … x200", "");
    case(&fixture, "min_steps=2", 100).expect("declined: 2 calls: no 3 steps with calls belong together");
}
