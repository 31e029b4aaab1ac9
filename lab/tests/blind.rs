//! Sheets of a blind reading: what readers see, and grades worked out by hand.
#![allow(clippy::unwrap_used, missing_docs)]

use epitome_eval::probes::ProbeKind;
use epitome_eval::{CaseId, KeptCount};
use epitome_lab::blind::{BlindContext, BlindQuestion, grade_rows, read_grades, read_key, sheets};

fn context(number: u32, session: &str, method: &str, text: &str) -> BlindContext {
    let question = |id: &str, shown: bool| BlindQuestion {
        id: id.into(),
        kind: ProbeKind::Why,
        question: format!("Why\t{id}?"),
        answer: "Because.".into(),
        shown,
    };
    BlindContext {
        number,
        case: CaseId {
            file: format!("{session}/prefix.json"),
            session: session.into(),
            cut_permille: 1000,
            part: None,
        },
        repository: None,
        method: method.into(),
        budget: "0.15".into(),
        text: text.into(),
        is_empty: text.is_empty(),
        questions: vec![question("q1", true), question("q2", false)],
    }
}

fn contexts() -> Vec<BlindContext> {
    vec![context(1, "a", "ours", "=== user\nGo on."), context(2, "a", "theirs", ""), context(3, "b", "ours", "text")]
}

#[test]
fn readers_see_no_names() {
    let sheets = sheets(&contexts()).unwrap();
    let names: Vec<&str> = sheets.readers.iter().map(|(name, _)| name.as_str()).collect();
    // Where there is nothing to read, nobody is asked.
    assert_eq!(names, ["README.md", "contexts/001.txt", "contexts/003.txt", "answers.tsv"]);
    assert_eq!(sheets.readers[1].1, "=== user\nGo on.");
    for (name, text) in &sheets.readers {
        assert!(!text.contains("ours") && !text.contains("Because") && !text.contains("0.15"), "{name}: {text}");
    }
    assert_eq!(sheets.readers[3].1.lines().nth(1), Some("001\tq1\tWhy q1?\t"));
    assert_eq!(sheets.grading.lines().nth(1), Some("001\tq1\tWhy q1?\tBecause.\t\t"));
    let read: Vec<BlindContext> = read_key(&sheets.key, "key").unwrap();
    let without_text = |context: BlindContext| BlindContext { text: String::new(), ..context };
    assert_eq!(read, contexts().into_iter().map(without_text).collect::<Vec<_>>());
}

#[test]
fn grades_are_means() {
    let sheet = "context\tasked\tquestion\tgrade\tgrader\n001\t?\tq1\t1\tAnn\n1\t?\tq1\t0.5\tBo\n001\t?\tq2\t0\tAnn\n\
                 001\t?\tq2\t0\tBo\n003\t?\tq1\t0\tAnn\n003\t?\tq2\t\t\n";
    let grades = read_grades(sheet, "f", &contexts()).unwrap();
    let (rows, agreement) = grade_rows(&contexts(), &grades);
    let found: Vec<(&str, &str, KeptCount)> =
        rows.iter().map(|row| (row.case.session.as_str(), row.method.as_str(), row.scores.probes.all)).collect();
    let kept = |kept, of| KeptCount { kept, of };
    // .75 and 0 of two; nothing to read is wrong twice; one of two questions was graded.
    let expect = [("a", "ours", kept(750, 2000)), ("a", "theirs", kept(0, 2000)), ("b", "ours", kept(0, 1000))];
    assert_eq!([found[0], found[2], found[4]], expect);
    assert_eq!(found[1], ("a", "ours by facts", kept(1, 2)));
    // q1 of the first is half right or more and shown, q2 wrong and not shown; q1 of the third wrong though shown.
    assert_eq!((agreement.answers, agreement.pairs, agreement.same, agreement.as_facts), (3, 2, 1, 2));
}

#[test]
fn wrong_sheets_are_told() {
    fn check(lines: &str, expect: &str) {
        let error = read_grades(lines, "g.tsv", &contexts()).unwrap_err().to_string();
        assert_eq!(error, format!("g.tsv: {expect}"));
    }
    let head = "context\tquestion\tgrade\tgrader\n";
    check(
        "context\tquestion\n",
        "its first line names no column `grade`: use the sheet that `blind export` wrote, parted by tabs",
    );
    check(head, "holds no grade: fill in the columns `grade` and `grader`");
    check(&format!("{head}001\tq1\t2\tAnn"), "line 2: the grade is `2`: give 0, 0.5 or 1");
    check(&format!("{head}009\tq1\t1\tAnn"), "line 2: the key has no context `009`: take that of the same export");
    check(&format!("{head}001\tq9\t1\tAnn"), "line 2: context 001 has no question `q9`: copy it from the sheet");
    check(&format!("{head}001\tq1\t1\t"), "line 2: nobody is named under `grader`: write who gave the grade");
    let twice = format!("{head}001\tq1\t1\tAnn\n1\tq1\t0\tAnn");
    check(&twice, "line 3: `Ann` graded this answer before: keep one of the lines");
    let no_key = read_key("{}", "k.json").unwrap_err().to_string();
    assert!(no_key.starts_with("k.json: is not the key of a blind reading"), "{no_key}");
}
