//! The metrics against cases worked by hand. Every session here is written for the test.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{case, id, session};
use epitome::session::{Entry, Role};
use epitome_eval::{Baseline, Case, CaseOptions, KeptCount, Method};

fn needed(prefix: &[&str], future: &[&str]) -> Vec<String> {
    case(prefix, future).needed().iter().map(|needed| needed.atom.clone()).collect()
}

const CALL: &str = r#"C read {"path":"src/parser_old.rs"}"#;

#[test]
fn what_is_needed() {
    fn check(why: &str, prefix: &[&str], future: &[&str], expect: &[&str]) {
        assert_eq!(needed(prefix, future), expect, "{why}");
    }
    let prefix = ["U fix the parser", r#"C ls {"path":"src"}"#, "R src/parser_old.rs and src/lexer.rs"];
    check("it stands in the prefix", &prefix, &[CALL, "R text"], &["src/parser_old.rs"]);
    check("it does not", &["U fix the parser"], &[CALL, "R text"], &[]);
    check("a part of another string is not an occurrence", &["U see xsrc/parser_old.rs"], &[CALL, "R text"], &[]);
    check(
        "the system prompt says it",
        &["S The code is in src/parser_old.rs.", prefix[0], prefix[1], prefix[2]],
        &[CALL, "R text"],
        &[],
    );
    check("a result shows it before", &prefix, &[r#"C ls {"path":"."}"#, "R src/parser_old.rs", CALL, "R t"], &[]);
    check("the user shows it before", &prefix, &["U look at src/parser_old.rs", CALL, "R t"], &[]);
    check(
        "the model's own words show nothing",
        &prefix,
        &["A src/parser_old.rs next", CALL, "R t"],
        &["src/parser_old.rs"],
    );
    check("shown after the first use", &prefix, &[CALL, "R src/parser_old.rs", CALL, "R t"], &["src/parser_old.rs"]);
    let number = ["U order 48213 is late", "A I see."];
    check("a number in an argument", &number, &[r#"C order {"id":48213}"#, "R t"], &["48213"]);
    check("a plumbing parameter", &number, &[r#"C order {"timeout_ms":48213}"#, "R t"], &[]);
    let long = format!(r#"C write {{"text":"48213 {}"}}"#, "x ".repeat(150));
    check("a long argument is content", &number, &[&long, "R t"], &[]);
}

/// The recall of a text in place of the prefix, loose and bound.
fn recall(prefix: &[&str], future: &[&str], result: &[&str]) -> (u32, u32, u32) {
    let case = case(prefix, future);
    let result = session(result);
    let scores = case.score(result.view(), 100_000);
    assert_eq!(scores.frr.of, scores.bound_frr.of);
    (scores.bound_frr.kept, scores.frr.kept, scores.frr.of)
}

#[test]
fn recall_loose_and_bound() {
    fn check(why: &str, result: &str, expect: (u32, u32, u32)) {
        let prefix = ["U the customer of invoice 48213 lives in Bergen near harbour", "A I see."];
        let future = [r#"C order {"id":"48213"}"#, "R t"];
        assert_eq!(recall(&prefix, &future, &[result]), expect, "{why}");
    }
    check("as it was", "U the customer of invoice 48213 lives in Bergen", (1, 1, 1));
    check("two of its words are near", "U 48213: customer, Bergen", (1, 1, 1));
    check("whatever their case", "U 48213: Customer, bergen", (1, 1, 1));
    check("one of its words is near", "U 48213: customer", (0, 1, 1));
    check("a naked list", "U 48213", (0, 1, 1));
    check("gone", "U the customer lives in Bergen", (0, 0, 1));
    check("inside another number", "U customer Bergen 482137", (0, 0, 1));
    check("its fourth word behind does not count", "U 48213 Bergen harbour", (0, 1, 1));
    let far = format!("U customer {} 48213 Bergen", ".".repeat(120));
    check("a word out of reach", &far, (0, 1, 1));
    let near = format!("U customer{} 48213 Bergen", ".".repeat(100));
    check("a word just in reach", &near, (1, 1, 1));
    check("the system prompt is not part of the result", "S customer 48213 Bergen invoice", (0, 0, 1));
}

#[test]
fn chinese_runs_bind() {
    let prefix = ["U 客户订单，编号 48213，地址在上海。", "A 好"];
    let future = [r#"C order {"id":"48213"}"#, "R t"];
    assert_eq!(recall(&prefix, &future, &["U 编号48213，地址在上海"]), (1, 1, 1));
    assert_eq!(recall(&prefix, &future, &["U 号码48213，地址在上海"]), (0, 1, 1));
}

#[test]
fn quotes_files_and_rules() {
    let prefix = [
        "U You must keep the API.\\nTell me why. 不要改动接口。 Thanks",
        r#"C read {"path":"/app/src/main.rs"}"#,
        "R fn main() {\\n    let parser = Parser::new();\\n    run(parser);\\n}",
        r#"C edit {"file_path":"/app/src/main.rs","old_string":"fn main() {","new_string":"pub fn main() {"}"#,
        "R done",
        r#"C patch {"input":"*** Begin Patch\n*** Add File: docs/guide.md\n+new\n*** End Patch"}"#,
        "R done",
    ];
    let future = [
        r#"C edit {"file_path":"/app/src/main.rs","old_string":"    let parser = Parser::new();\n    run(parser);\n}\nnever there before","new_string":"x"}"#,
        "R done",
    ];
    let case = case(&prefix, &future);
    let score = |lines: &[&str]| case.score(session(lines).view(), 100_000);
    let whole = score(&prefix);
    let kept = |kept, of| KeptCount { kept, of };
    // `}` is too short, the last line was never there.
    assert_eq!(whole.quotes, kept(2, 2));
    assert_eq!(whole.files, kept(2, 2));
    assert_eq!(whole.rules, kept(2, 2));
    let part = score(&["U You must keep the API. I wrote guide.md and changed src/main.rs", "A     run(parser);"]);
    assert_eq!(part.quotes, kept(1, 2));
    assert_eq!(part.files, kept(1, 2), "a file is named by its folder and name");
    assert_eq!(part.rules, kept(1, 2));
}

#[test]
fn validity_and_the_unchanged_prefix() {
    let prefix = ["S Be brief.", "U fix the parser", CALL, "R one two three", "A done", "U more"];
    let case = case(&prefix, &["A ok"]);
    let entries = |lines: &[&str]| -> Vec<Entry> { session(lines).view().to_vec() };
    let check = |why: &str, result: &[Entry], usable: bool, unchanged_messages: usize| {
        let scores = case.score(result, 1_000);
        assert_eq!(scores.is_usable(), usable, "{why}: {scores:?}");
        let all = case.prefix.view();
        let counted: u32 =
            all[..unchanged_messages].iter().map(|entry| case.score(std::slice::from_ref(entry), 0).tokens).sum();
        assert_eq!(scores.unchanged_tokens, counted, "{why}");
        assert_eq!(scores.unchanged_tokens + scores.cache_loss_tokens, case.prefix_tokens, "{why}");
    };
    let whole = case.prefix.view().to_vec();
    check("nothing was changed", &whole, true, 6);
    check("messages left", &entries(&["S Be brief.", "U fix the parser", "A done", "U more"]), true, 2);
    check("the system prompt was changed", &entries(&["S Be very brief.", "U more"]), false, 0);
    let without_result: Vec<Entry> = whole.iter().filter(|entry| entry.message.role != Role::Tool).cloned().collect();
    check("a call without its result", &without_result, false, 3);
    let without_call: Vec<Entry> = whole.iter().filter(|entry| entry.message.calls().count() == 0).cloned().collect();
    check("a result without its call", &without_call, false, 2);
    check("the model speaks first", &entries(&["S Be brief.", "A done", "U more"]), false, 1);
    assert!(case.score(&whole, case.prefix_tokens - 1).over_budget);
    assert!(!case.score(&whole, case.prefix_tokens).over_budget, "the budget may be used to the token");
}

#[test]
fn where_a_session_is_cut() {
    fn check(why: &str, lines: &[&str], expect: Option<usize>) {
        let found = Case::new(id(), "test", &session(lines), &CaseOptions::default()).unwrap();
        assert_eq!(found.map(|case| case.prefix.log().len()), expect, "{why}");
    }
    let text = "word ".repeat(40);
    let said = format!("U {text}");
    let told = format!("R {text}");
    check("half of the tokens", &[&said, "A ok", &said, "A ok"], Some(2));
    check("a call waits for its result", &[&said, r#"C run {"command":"make"}"#, &told, "A ok"], Some(3));
    check("nothing behind", &["A ok", &said], None);
    check("one message", &[&said], None);
}

#[test]
fn budgets_are_never_below_what_must_stay() {
    let long = "word ".repeat(200);
    let typed = format!("U {long}");
    let step = format!("R {long}");
    let case = case(&["S Be brief.", "U first", &typed, CALL, &step], &["A ok"]);
    let of = |text: &str| case.budget_tokens(text.parse().unwrap());
    let must_stay: u32 =
        [0, 2, 3, 4].iter().map(|index| case.score(std::slice::from_ref(&case.prefix.view()[*index]), 0).tokens).sum();
    assert_eq!(case.floor_tokens, must_stay + 500);
    assert_eq!(of("0.1"), case.floor_tokens);
    assert_eq!(of("5k"), 5_000);
    assert!("0".parse::<epitome_eval::BudgetSpec>().is_err());
    assert!("1.5".parse::<epitome_eval::BudgetSpec>().is_err());
}

#[test]
fn baselines_are_usable() {
    let text = "some_name ".repeat(60);
    let mut lines: Vec<String> = vec!["S Be brief.".into(), "U the first task".into()];
    for _ in 0..12 {
        lines.extend([CALL.to_owned(), format!("R {text}")]);
    }
    lines.extend(["U go on".to_owned(), CALL.to_owned(), format!("R {text}")]);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let case = case(&lines, &[CALL, "R ok"]);
    let registry = epitome::registry();
    for baseline in Baseline::ALL {
        let method = Method::parse(&format!("baseline:{}", baseline.as_str()), &registry).unwrap();
        for share in ["0.6", "0.4", "0.1"] {
            let budget = case.budget_tokens(share.parse().unwrap());
            let outcome = method.compact(&case, budget);
            let scores = case.score(&outcome.entries.unwrap(), budget);
            assert!(scores.is_usable(), "{} at {share}: {scores:?}", method.name());
            // A round that does not fit whole is none of the newest rounds.
            let uses_room = scores.tokens > budget / 3 || baseline == Baseline::Newest;
            assert!(uses_room, "{} at {share} leaves room: {scores:?}", method.name());
        }
    }
}

#[test]
fn how_full_the_budget_is() {
    let case = case(&["M We work on the parser.", "U Go on with it.", "A ok"], &[]);
    let score = |budget: u32| case.score(session(&["U Go on with it."]).view(), budget);
    assert_eq!(score(10).fill, KeptCount { kept: score(10).tokens, of: 10 });
    assert_eq!(score(case.prefix_tokens).fill, KeptCount::default(), "nothing had to leave");
}
