//! Tables in Markdown.
#![allow(clippy::unwrap_used, missing_docs)]

use epitome_eval::{CaseId, Group};
use epitome_lab::blind::{BlindContext, grade_rows};
use epitome_lab::markdown::markdown;

#[test]
fn names_do_not_break_tables() {
    let case = CaseId { file: "f".into(), session: "s".into(), cut_permille: 0, part: None };
    let context = BlindContext {
        number: 1,
        case,
        repository: None,
        method: "a | b `c`\nd".into(),
        budget: "0.2".into(),
        text: String::new(),
        is_empty: true,
        questions: Vec::new(),
    };
    let key = r#"{"id":"q","kind":"why","question":"?","answer":"!","shown":true}"#;
    let context = BlindContext { questions: vec![serde_json::from_str(key).unwrap()], ..context };
    let (rows, _) = grade_rows(&[context], &[]);
    let text = markdown(&[Group::new("all", &rows, &[], 1)]);
    assert!(text.contains("| 0.2 | `a \\| b 'c' d` | .000 (.000) [.000, .000] |"), "{text}");
}
