//! Methods against each other on recorded sessions.

use serde_json::Value;

use crate::place::{Place, example};

/// The shipped example, cut in two; the baselines' figures change only with the metrics.
const BASELINES: &str = "eval session.jsonl --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 1 \
                         --min-needed 1 --compare baseline:cleared,baseline:newest";

fn place() -> Place {
    Place::with("session.jsonl", example("session.jsonl"))
}

#[test]
fn a_session_is_measured() {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(\.\d{3}) +\d+\n", "$1  ms\n");
    settings.add_filter(r"unchanged +ms", "unchanged  ms");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(place().run(BASELINES).all(), @r"
    exit 0
    ----- stdout
    1 case from 1 session read; macro averages, micro in brackets. Upper bounds on what a model will remember, not accuracies.

    budget 0.4
      method                      bound          FRR  quotes  files  rules  kept  usable  over  invalid  system  failed  unchanged  ms
      baseline:newest       .600 (.600)  .600 (.600)    .800  1.000   .500  .370   100 %     0        0       0       0       .000  ms
      baseline:tail         .600 (.600)  .600 (.600)    .800  1.000   .500  .370   100 %     0        0       0       0       .000  ms
      baseline:cleared      .800 (.800)  .800 (.800)    .800  1.000  1.000  .376   100 %     0        0       0       0       .008  ms
      baseline:identifiers  .867 (.867)  .867 (.867)    .800  1.000  1.000  .394   100 %     0        0       0       0       .008  ms

    baseline:cleared − baseline:newest paired by session, 95 % interval
      budget          difference    from      to  sessions  more/less
      0.4     bound       +0.200  +0.200  +0.200         1        1/0
      0.4     FRR         +0.200  +0.200  +0.200         1        1/0
      0.4     quotes      +0.000  +0.000  +0.000         1        0/0
      0.4     files       +0.000  +0.000  +0.000         1        0/0
      0.4     rules       +0.500  +0.500  +0.500         1        1/0
    ");
}

fn rows(place: &Place) -> Vec<Value> {
    let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn cases_are_written_and_not_measured_again() {
    let place = place();
    assert_eq!(place.run(&format!("{BASELINES} --jsonl cases.jsonl --html page.html -q")).code, 0);
    let first = rows(&place);
    assert!(place.read("page.html").starts_with(b"<!doctype html>"));
    // What an interrupt leaves: some rows, the last one cut off. A row that is there is taken as it is.
    let mut left = first[1].clone();
    left["micros"] = 123_456_789.into();
    place.file("cases.jsonl", format!("{left}\n{{\"file\": \"sess"));
    let ran = place.run(&format!("{BASELINES} --jsonl cases.jsonl --resume"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "1 row reused, 3 rows measured: 3 not among the earlier ones\n"));
    let second = rows(&place);
    assert_eq!(second[1], left);
    assert_eq!(second.len(), first.len());
    let key = |row: &Value| (row["method"].clone(), row["bound_frr"].clone(), row["tokens"].clone());
    assert_eq!(first.iter().map(key).collect::<Vec<_>>(), second.iter().map(key).collect::<Vec<_>>());
}

/// A configuration, four baselines.
const CONFIGURED: &str = "eval session.jsonl --methods config:mine.toml --min-tokens 0 --min-calls 1 --min-needed 1 \
                          --jsonl cases.jsonl --resume";

#[test]
fn rows_computed_from_something_else_are_measured_again() {
    fn check(arguments: &str, change: impl Fn(&Place), expect: &str) {
        let place = place();
        place.file("mine.toml", "[select]\nmode = \"fixed\"\nchain = \"code\"\n");
        assert_eq!(place.run(&format!("{CONFIGURED} --budgets 0.4")).code, 0);
        // Whatever is taken as it is shows this time.
        let marked: String = rows(&place)
            .into_iter()
            .map(|mut row| {
                row["micros"] = 123_456_789.into();
                format!("{row}\n")
            })
            .collect();
        place.file("cases.jsonl", marked);
        change(&place);
        let ran = place.run(&format!("{CONFIGURED} {arguments}"));
        assert_eq!((ran.code, ran.stderr.trim_end()), (0, expect));
        let taken = rows(&place).iter().filter(|row| row["micros"] == 123_456_789).count();
        let reused: usize = expect.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(taken, reused, "{expect}");
    }
    let edit = |place: &Place, from: &str, to: &str| {
        let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
        assert!(text.contains(from), "{text}");
        place.file("cases.jsonl", text.replace(from, to));
    };
    check("--budgets 0.4", |_| (), "5 rows reused, 0 rows measured");
    // The same name, another content.
    let other = |place: &Place| place.file("mine.toml", "[select]\nmode = \"fixed\"\nchain = \"mixed\"\n");
    check("--budgets 0.4", other, "4 rows reused, 1 row measured: 1 whose method changed");
    let session = |place: &Place| {
        let mut bytes = place.read("session.jsonl");
        bytes.push(b'\n');
        place.file("session.jsonl", bytes);
    };
    check("--budgets 0.4", session, "0 rows reused, 5 rows measured: 5 whose session file changed");
    check("--budgets 0.4,0.9", |_| (), "5 rows reused, 5 rows measured: 5 not among the earlier ones");
    // Too near for the cut's name, not for the cut.
    let near = "0 rows reused, 5 rows measured: 5 whose budget, cut or reasoning changed";
    check("--budgets 0.4 --cut 0.5004", |_| (), near);
    let version = |place: &Place| edit(place, "\"version\":\"", "\"version\":\"0/");
    check("--budgets 0.4", version, "0 rows reused, 5 rows measured: 5 of another version");
    let untold = |place: &Place| edit(place, "\"basis\"", "\"nothing\"");
    let expect = "0 rows reused, 5 rows measured: 5 that do not tell what they were computed from";
    check("--budgets 0.4", untold, expect);
}

#[test]
fn settings_are_set() {
    let place = place();
    let line = "eval session.jsonl --budgets 0.5 --min-tokens 0 --min-calls 1 --min-needed 1 --jsonl cases.jsonl -q \
                --compare default --methods default,set:select.mode=fixed+select.chain=code+structured-extraction.tail_share=0.9";
    let ran = place.run(line);
    assert!(ran.text().contains("tail_share=0.9 − default paired"), "{}", ran.all());
    assert_eq!(ran.text().matches("paired by session").count(), 1, "{}", ran.all());
    let rows = rows(&place);
    assert!(rows[1]["method"].as_str().unwrap().starts_with("set:"));
    assert_ne!(rows[0]["basis"]["method"], rows[1]["basis"]["method"]);
    assert_eq!((&rows[0]["problem"], &rows[1]["problem"]), (&Value::Null, &Value::Null));
    assert_ne!(rows[0]["tokens"], rows[1]["tokens"], "a larger tail fills another room");
}

#[test]
fn tables_by_kind_are_printed() {
    let place = place();
    place.file("kinds.md", "| file | type |\n|---|---|\n| session.jsonl | code |\n");
    let run = |how: &str| {
        let line = "eval session.jsonl --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 1 --min-needed 1 \
                    --labels kinds.md --compare baseline:cleared,baseline:newest";
        place.run(&format!("{line} {how}"))
    };
    let ran = run("--by kind --json").json();
    assert_eq!(ran["groups"][0]["name"], "code");
    assert_eq!(ran["groups"][0]["summaries"], ran["summaries"], "all cases are of one kind");
    assert_eq!(ran["groups"][0]["differences"], ran["differences"]);
    assert_eq!(run("--json").json().get("groups"), None);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\| \d+ \|\n", "| ms |\n");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(run("--by kind --markdown").all(), @r"
    exit 0
    ----- stdout
    #### all: 1 session

    | budget | method | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) | kept | usable | over / invalid / system / failed | unchanged | ms |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 [.600, .600] | .600 [.600, .600] | .800 [.800, .800] | 1.000 [1.000, 1.000] | .500 [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:tail` | .600 [.600, .600] | .600 [.600, .600] | .800 [.800, .800] | 1.000 [1.000, 1.000] | .500 [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:cleared` | .800 [.800, .800] | .800 [.800, .800] | .800 [.800, .800] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | .376 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |
    | 0.4 | `baseline:identifiers` | .867 [.867, .867] | .867 [.867, .867] | .800 [.800, .800] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | .394 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |

    | budget | baseline:cleared less … | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.200 [+.200, +.200] | +.200 [+.200, +.200] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.500 [+.500, +.500] |

    #### code: 1 session

    | budget | method | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) | kept | usable | over / invalid / system / failed | unchanged | ms |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 [.600, .600] | .600 [.600, .600] | .800 [.800, .800] | 1.000 [1.000, 1.000] | .500 [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:tail` | .600 [.600, .600] | .600 [.600, .600] | .800 [.800, .800] | 1.000 [1.000, 1.000] | .500 [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:cleared` | .800 [.800, .800] | .800 [.800, .800] | .800 [.800, .800] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | .376 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |
    | 0.4 | `baseline:identifiers` | .867 [.867, .867] | .867 [.867, .867] | .800 [.800, .800] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | .394 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |

    | budget | baseline:cleared less … | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.200 [+.200, +.200] | +.200 [+.200, +.200] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.500 [+.500, +.500] |
    ");
    let text = run("--by kind").all();
    assert!(text.contains("code 1 case, macro averages with 95 % intervals over 1 session"), "{text}");
    assert!(text.contains("baseline:cleared less …"), "{text}");
}

/// What commands read and write here, where there is no shell, is nothing.
#[cfg(unix)]
#[test]
fn outside_methods() {
    let place = place();
    let run = |arguments: &[&str]| {
        let line =
            "eval session.jsonl --methods baseline:newest --budgets 0.9 --min-tokens 0 --min-calls 1 --min-needed 1";
        let mut command = place.command(line);
        command.args(arguments).args(["--jsonl", "cases.jsonl", "-q"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let row = rows(&place).into_iter().find(|row| row["method"].as_str().unwrap().starts_with("command:")).unwrap();
        (String::from_utf8(output.stdout).unwrap(), row["problem"].clone(), row["frr"]["kept"].as_u64().unwrap())
    };
    // Gives back what it was given, commas and all.
    let (text, problem, kept) =
        run(&["--command", "sed 's/a,b/a,b/'", "--compare", "command:sed 's/a,b/a,b/',baseline:tail"]);
    assert_eq!((problem, kept > 0), (Value::Null, true), "{text}");
    assert!(text.contains("command:sed 's/a,b/a,b/' − baseline:tail"), "{text}");
    // More than one simple command.
    assert_eq!(run(&["--command", "cd . && X=1 cat | cat"]).1, Value::Null);
    assert_eq!(run(&["--methods", "command:cat"]).1, Value::Null);
    let (_, problem, kept) = run(&["--command", "cat, dog"]);
    assert!(problem.as_str().unwrap().contains("it failed with exit status: 127"), "{problem}");
    assert_eq!(kept, 0);
    // What is too slow is stopped, and with it what it started, which would write after a while.
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let late = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    let (_, problem, _) = run(&["--command", "(sleep 5; echo late) > pipe & sleep 30", "--command-timeout", "1"]);
    assert_eq!(problem, "it took more than 1 s");
    assert_eq!(late.join().unwrap(), "");
    assert_eq!(place.run("eval session.jsonl --command cat --command-timeout 0").code, 2);
}

#[test]
fn what_is_wrong_is_told() {
    let place = place();
    let told = |arguments: &str| place.run(&format!("eval session.jsonl {arguments}")).all();
    assert!(told("--methods nonsense").contains("nonsense"), "{}", told("--methods nonsense"));
    assert!(told("--methods baseline:x").contains("there are newest, tail, cleared, identifiers"));
    assert!(
        told("--methods set:budget").contains("set: `budget` is not KEY=VALUE"),
        "{}",
        told("--methods set:budget")
    );
    let unknown = told("--methods set:summary.nothing=1");
    assert!(unknown.contains("set: `summary.nothing=1` "), "{unknown}");
    assert_eq!(
        place
            .run("eval session.jsonl --methods set:summary.max_tokens=900+summary.tail_share=0.2 --min-tokens 0")
            .stderr,
        ""
    );
    assert!(told("--methods set:structured-extraction.tail_share=much").contains("`tail_share` takes a number"));
    assert!(told("--min-tokens 90m").contains("none of 1 session fits"), "{}", told("--min-tokens 90m"));
    assert!(told("--compare other").contains("--compare: `other` is not measured"));
    assert!(told("--compare default,other").contains("`other` is not measured"));
    assert_eq!(place.run("eval nowhere").code, 2);
}
