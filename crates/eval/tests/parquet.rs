//! Sessions in Parquet files are measured like the same sessions in files of their own. `tests/data` was written by the
//! sessions of `examples/python/lakes/made_up.py`: `lists.parquet` as lists of structures in `messages`, each named, the last
//! null; `text.parquet` as text in its only column, the second no session; `unclear.parquet` has two columns of text.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};

use epitome_eval::{BudgetSpec, CaseOptions, Filter, Labels, Plan, Row, Run, Subject, methods};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn plan(path: PathBuf, column: Option<&str>) -> Plan {
    Plan {
        subject: Subject::Future,
        paths: vec![path],
        column: column.map(str::to_owned),
        methods: methods(&["sliding-window".to_owned()], &epitome::registry()).unwrap(),
        budgets: vec![BudgetSpec::Share(0.5)],
        generations: Vec::new(),
        search: None,
        questions: 0,
        cuts: vec![CaseOptions::default()],
        filter: Filter { min_tokens: 0, min_calls: 0, min_needed: 0, ..Filter::default() },
        labels: Labels::default(),
        repositories: Labels::default(),
        sample: None,
        seed: 1,
    }
}

fn run(path: PathBuf, column: Option<&str>) -> Run {
    plan(path, column).run(&|_, _, _| {}).unwrap()
}

/// The figures of each row, whatever the session is called and however long it took.
fn figures(run: &Run) -> Vec<Row> {
    let plain = |row: &Row| {
        let mut row = Row { micros: 0, ..row.clone() };
        (row.case.file, row.case.session) = Default::default();
        row
    };
    run.rows.iter().map(plain).collect()
}

fn names(run: &Run) -> Vec<&str> {
    let mut names: Vec<&str> = run.rows.iter().map(|row| row.case.session.as_str()).collect();
    names.dedup();
    names
}

#[test]
fn lists_and_texts_are_the_same_sessions() {
    let (lists, texts) = (run(data("lists.parquet"), None), run(data("text.parquet"), None));
    assert_eq!((lists.sessions, lists.cases, names(&lists)), (2, 2, vec!["a", "b"]));
    assert_eq!((texts.sessions, texts.cases, names(&texts)), (2, 2, vec!["0", "2"]));
    assert_eq!(figures(&lists), figures(&texts));
    assert!(lists.rows.iter().any(|row| row.method == "sliding-window" && row.is_usable() && row.scores.frr.of > 0));
    let [(file, problem)] = texts.skipped.as_slice() else { panic!("{:?}", texts.skipped) };
    assert!(file == "text.parquet" && problem.starts_with("row 1: "), "{file}: {problem}");
    assert!(lists.skipped.is_empty());
}

#[test]
fn a_row_is_what_its_text_is_in_a_file() {
    let texts = run(data("text.parquet"), Some("transcript"));
    let folder = tempfile::tempdir().unwrap();
    // The first row of the table, out of the table.
    let session = epitome_eval::lake::session_text(first_text(&data("text.parquet"))).unwrap();
    let file = folder.path().join("session.json");
    std::fs::write(&file, session).unwrap();
    let alone = figures(&run(file, None));
    assert_eq!(figures(&texts)[..alone.len()], alone);
}

/// The only column of a table's first row.
fn first_text(path: &Path) -> serde_json::Value {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    row.to_json_value()["transcript"].take()
}

#[test]
fn a_table_that_cannot_be_used_says_why() {
    fn check(path: PathBuf, column: Option<&str>, expect: &str) {
        let error = plan(path, column).run(&|_, _, _| {}).unwrap_err().to_string();
        assert!(error.ends_with(expect), "{error}");
    }
    check(
        data("unclear.parquet"),
        None,
        "unclear.parquet has no column `messages`: name the column of the sessions, of first, second",
    );
    check(data("lists.parquet"), Some("talk"), "lists.parquet has no column `talk`: it has id, turns, messages");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.parquet");
    std::fs::write(&broken, b"PAR1 and no more").unwrap();
    let error = plan(broken, None).run(&|_, _, _| {}).unwrap_err().to_string();
    assert!(error.contains("broken.parquet cannot be read as Parquet: "), "{error}");
}
