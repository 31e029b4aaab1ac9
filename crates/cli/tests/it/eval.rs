//! Methods against each other on recorded sessions.

use std::fs;

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
    settings.add_filter(r"(100 % .*\.\d{3}) +\d+\n", "$1  ms\n");
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
      method                final  speakers  source  fill  out of place
      baseline:newest        .600     1.000   1.000  .925             0
      baseline:tail          .600     1.000   1.000  .925             0
      baseline:cleared      1.000     1.000   1.000  .941             0
      baseline:identifiers  1.000     1.000   1.000  .985             0

    baseline:cleared − baseline:newest paired by session, 95 % interval
      budget            difference    from      to  sessions  more/less
      0.4     bound         +0.200  +0.200  +0.200         1        1/0
      0.4     FRR           +0.200  +0.200  +0.200         1        1/0
      0.4     quotes        +0.000  +0.000  +0.000         1        0/0
      0.4     files         +0.000  +0.000  +0.000         1        0/0
      0.4     rules         +0.500  +0.500  +0.500         1        1/0
      0.4     final         +0.400  +0.400  +0.400         1        1/0
      0.4     speakers      +0.000  +0.000  +0.000         1        0/0
      0.4     source        +0.000  +0.000  +0.000         1        0/0
      0.4     fill          +0.017  +0.017  +0.017         1        1/0
    ");
}

pub(crate) fn rows(place: &Place) -> Vec<Value> {
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
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            0,
            "1 line of cases.jsonl cannot be read and will be left out\n\
         1 row reused, 3 rows measured: 3 not among the earlier ones\n"
        )
    );
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
                --compare default --methods default,set:select.mode=fixed+select.chain=code+transcript.tail_share=0.9";
    let ran = place.run(line);
    for other in ["tail_share=0.9", "baseline:newest", "baseline:identifiers"] {
        assert!(ran.text().contains(&format!("{other} − default paired")), "{}", ran.all());
    }
    assert_eq!(ran.text().matches("paired by session").count(), 5, "all others: {}", ran.all());
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
    settings.add_filter(r"(0 / 0 \| \.\d+) \| \d+ \|\n", "$1 | ms |\n");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(run("--by kind --markdown").all(), @r"
    exit 0
    ----- stdout
    #### all: 1 session

    | budget | method | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) | kept | usable | over / invalid / system / failed | unchanged | ms |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 (.600) [.600, .600] | .600 (.600) [.600, .600] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | .500 (.500) [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:tail` | .600 (.600) [.600, .600] | .600 (.600) [.600, .600] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | .500 (.500) [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:cleared` | .800 (.800) [.800, .800] | .800 (.800) [.800, .800] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .376 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |
    | 0.4 | `baseline:identifiers` | .867 (.867) [.867, .867] | .867 (.867) [.867, .867] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .394 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |

    | budget | method | final (1) | speakers (1) | source (1) | fill (1) | out of place |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 (.600) [.600, .600] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .925 (.925) [.925, .925] | 0 |
    | 0.4 | `baseline:tail` | .600 (.600) [.600, .600] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .925 (.925) [.925, .925] | 0 |
    | 0.4 | `baseline:cleared` | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .941 (.941) [.941, .941] | 0 |
    | 0.4 | `baseline:identifiers` | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .985 (.985) [.985, .985] | 0 |

    | budget | baseline:cleared less … | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.200 [+.200, +.200] | +.200 [+.200, +.200] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.500 [+.500, +.500] |

    | budget | baseline:cleared less … | final (1) | speakers (1) | source (1) | fill (1) |
    |---|---|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.400 [+.400, +.400] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.017 [+.017, +.017] |

    #### code: 1 session

    | budget | method | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) | kept | usable | over / invalid / system / failed | unchanged | ms |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 (.600) [.600, .600] | .600 (.600) [.600, .600] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | .500 (.500) [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:tail` | .600 (.600) [.600, .600] | .600 (.600) [.600, .600] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | .500 (.500) [.500, .500] | .370 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | ms |
    | 0.4 | `baseline:cleared` | .800 (.800) [.800, .800] | .800 (.800) [.800, .800] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .376 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |
    | 0.4 | `baseline:identifiers` | .867 (.867) [.867, .867] | .867 (.867) [.867, .867] | .800 (.800) [.800, .800] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .394 | 1 of 1 | 0 / 0 / 0 / 0 | .008 | ms |

    | budget | method | final (1) | speakers (1) | source (1) | fill (1) | out of place |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | .600 (.600) [.600, .600] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .925 (.925) [.925, .925] | 0 |
    | 0.4 | `baseline:tail` | .600 (.600) [.600, .600] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .925 (.925) [.925, .925] | 0 |
    | 0.4 | `baseline:cleared` | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .941 (.941) [.941, .941] | 0 |
    | 0.4 | `baseline:identifiers` | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | 1.000 (1.000) [1.000, 1.000] | .985 (.985) [.985, .985] | 0 |

    | budget | baseline:cleared less … | bound (1) | FRR (1) | quotes (1) | files (1) | rules (1) |
    |---|---|---:|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.200 [+.200, +.200] | +.200 [+.200, +.200] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.500 [+.500, +.500] |

    | budget | baseline:cleared less … | final (1) | speakers (1) | source (1) | fill (1) |
    |---|---|---:|---:|---:|---:|
    | 0.4 | `baseline:newest` | +.400 [+.400, +.400] | +.000 [+.000, +.000] | +.000 [+.000, +.000] | +.017 [+.017, +.017] |
    ");
    let text = run("--by kind").all();
    assert!(
        text.contains("code 1 case, macro averages (micro in brackets) with 95 % intervals over 1 session"),
        "{text}"
    );
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
        let _ = std::fs::remove_file(place.path("cases.jsonl"));
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
    assert!(told("--methods baseline:x").contains("`x` is not one of newest, tail, cleared, identifiers"));
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
    assert!(told("--methods set:transcript.tail_share=much").contains("`tail_share` takes a number"));
    assert!(told("--min-tokens 90m").contains("none of 1 session fits"), "{}", told("--min-tokens 90m"));
    fs::create_dir(place.path("none")).unwrap();
    for line in ["eval none", "replay none"] {
        let nothing = place.run(line);
        assert!(nothing.code == 2 && nothing.stderr.contains("there is no session in none"), "{}", nothing.stderr);
    }
    assert!(told("--compare other").contains("--compare: `other` is not measured"));
    assert!(told("--compare default,other").contains("`other` is not measured"));
    assert_eq!(place.run("eval nowhere").code, 2);
    place.file("broken.toml", "[budget]\nwindow = \"much\"\n");
    let broken = told("--methods config:broken.toml");
    assert!(broken.contains("docs/configuration.md") && !broken.contains("epitome strategies"), "{broken}");
    let none = told("--only nothing --min-tokens 0");
    assert!(none.contains("lower --min-calls, --min-needed, or leave out --only, or name other files"), "{none}");
    assert!(told("--what recorded --budgets 0.3").contains("the budget is the size of each"));
}

#[test]
fn rows_and_other_files_are_not_lost() {
    let place = place();
    let eval = "eval session.jsonl --min-tokens 0 --min-calls 1 --min-needed 1 -q --methods";
    let keys = |place: &Place| -> Vec<(String, String)> {
        let key = |row: &Value| (row["method"].to_string(), row["budget"].to_string());
        rows(place).iter().map(key).collect()
    };
    assert_eq!(place.run(&format!("{eval} default,classic --budgets 0.4 --jsonl cases.jsonl")).code, 0);
    let (before, whole) = (keys(&place), place.read("cases.jsonl"));
    // A file that is there is only gone on from.
    let refused = place.run(&format!("{eval} default --jsonl cases.jsonl"));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is there already") && refused.stderr.contains("--resume"), "{}", refused.stderr);
    // Nothing is touched by what goes wrong before anything is measured.
    for wrong in ["nonsense", "default --only nothing", "default --compare nothing", "default nowhere"] {
        assert_eq!(place.run(&format!("{eval} {wrong} --jsonl cases.jsonl --resume")).code, 2, "{wrong}");
        assert_eq!(place.run(&format!("{eval} {wrong} --jsonl new.jsonl")).code, 2, "{wrong}");
    }
    assert_eq!(place.read("cases.jsonl"), whole);
    assert!(!place.path("new.jsonl").exists());
    // Other budgets, fewer methods: the rows of the earlier run stay.
    assert_eq!(place.run(&format!("{eval} default --budgets 0.3 --jsonl cases.jsonl --resume")).code, 0);
    let after = keys(&place);
    assert_eq!(after.len(), before.len() + 5);
    assert_eq!(after[5..], before);
    // What is no such file stays what it is.
    let session = place.read("session.jsonl");
    let refused = place.run(&format!("{eval} default --jsonl session.jsonl --resume"));
    assert!(refused.code == 2 && refused.stderr.contains("holds no rows"), "{}", refused.stderr);
    assert_eq!(place.read("session.jsonl"), session);
    for (name, reason) in [("-", "standard output"), ("cases.jsonl.gz", "compressed")] {
        let refused = place.run(&format!("{eval} default --jsonl {name}"));
        assert!(refused.code == 2 && refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

#[test]
fn what_is_named_twice_counts_once() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("all/part")).unwrap();
    place.file("all/part/session.jsonl", example("session.jsonl"));
    let line = "eval all all/part all/part/session.jsonl --methods default --budgets 0.4,0.40 --cut 0.5,0.50 --min-tokens 0 \
                --min-calls 1 --min-needed 1 --jsonl cases.jsonl -q";
    assert_eq!(place.run(line).code, 0);
    let rows = rows(&place);
    assert_eq!((rows.len(), &rows[0]["file"]), (5, &Value::from("part/session.jsonl")));
}

#[test]
fn labels_are_found_above_and_their_lack_is_told() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("data/dev/part")).unwrap();
    place.file("data/dev/part/session.jsonl", example("session.jsonl"));
    place.file("data/dev/MANIFEST.md", "# About something else\n");
    let line = "eval data/dev/part --methods default --budgets 0.4 --min-tokens 0 --min-calls 1 --min-needed 1 --by kind --json";
    let told = place.run(line);
    assert_eq!(told.stderr, "there are no kinds of task: --labels names a table of them\n");
    place.file("data/MANIFEST.md", "| file | type |\n|---|---|\n| part/session.jsonl | code |\n");
    let found = place.run(line);
    assert_eq!((found.json()["groups"][0]["name"].clone(), found.stderr.as_str()), ("code".into(), ""));
    place.file("data/MANIFEST.md", "| file | type |\n|---|---|\n| part/other.jsonl | code |\n");
    assert_eq!(place.run(line).stderr, "none of the files stands in the table of labels\n");
}
