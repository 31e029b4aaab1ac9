//! Replays, and the search for chains.

use serde_json::Value;

use crate::place::{Place, example};

fn place() -> Place {
    Place::with("session.jsonl", example("session.jsonl"))
}

const REPLAY: &str = "replay session.jsonl --window 8k --model example";

#[test]
fn a_session_is_replayed() {
    // How far a strategy gets is its own business.
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[█▏▎▍▌▋▊▉·]{3,}", "[BAR]");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(place().run(&format!("{REPLAY} --policies never")).all(), @r"
    exit 0
    ----- stdout
    1 session of 1 read; example at a window of 8,000. The messages are those of the recording:
    what an agent would have done differently is not known.

    session.jsonl 50d00235-1d62-5dcd-880e-5038652e715a 75,366 tokens, 51 turns
      never                    [BAR]      $0.38  peak    75,038  47 turns over the window
      recorded                 [BAR]      $0.38  peak    75,038  47 turns over the window

    totals
      policy    sessions  turns  over  epochs  kept   input  cached  written  output  summaries  money  of never
      never            1     51    47       0     –  1,887k    96 %      75k     21k         $0  $0.38     100 %
      recorded         1     51    47       0     –  1,887k    96 %      75k     21k         $0  $0.38     100 %
      never: 47 turns over the window, which no provider would have taken, make up $0.37 of its $0.38
      recorded: 47 turns over the window, which no provider would have taken, make up $0.37 of its $0.38
    ");
}

#[test]
fn every_compaction_has_a_line() {
    let run = place().run("replay session.jsonl --window 60k --policies chain:sliding-window");
    let lines: Vec<&str> = run.text().lines().filter(|line| line.trim_start().starts_with("turn ")).collect();
    assert!(!lines.is_empty(), "{}", run.text());
    assert!(lines.iter().all(|line| line.contains(" → ") && line.contains("cache loss")), "{}", run.text());
    let quiet = place().run("replay session.jsonl --window 60k --timeline 0");
    assert!(!quiet.text().contains("turn "), "{}", quiet.text());
}

#[test]
fn lines_hold_sessions_and_totals() {
    let run = place().run(&format!("{REPLAY} --policies default,chain:sliding-window --json"));
    let lines: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named: Vec<(&str, &str)> =
        lines.iter().map(|line| (line["kind"].as_str().unwrap(), line["policy"].as_str().unwrap())).collect();
    let policies = ["never", "recorded", "default", "chain:sliding-window"];
    let expect: Vec<(&str, &str)> =
        ["session", "total"].into_iter().flat_map(|kind| policies.map(|policy| (kind, policy))).collect();
    assert_eq!(named, expect);
    for total in &lines[4..] {
        let of = |key: &str| total[key].as_u64().unwrap();
        assert_eq!(of("cached") + of("uncached"), of("input"));
        assert_eq!((total["model"].as_str(), of("window")), (Some("example"), 8_000));
    }
    assert!(lines[6]["epochs"].as_u64().unwrap() > 0, "{}", lines[6]);
    assert!(lines[6]["input"].as_u64() < lines[4]["input"].as_u64());
}

#[test]
fn prices_of_ones_own() {
    let place = place();
    place.file("prices.toml", "[models.mine]\ninput = 0\noutput = 1_000_000\n");
    let run = place.run("replay session.jsonl --prices prices.toml --model mine --json");
    let total: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
    assert_eq!(total["money"].as_f64().unwrap(), total["output"].as_f64().unwrap(), "a dollar for each token");
    place.file("prices.toml", "[models.mine]\ninput = 0\n");
    let run = place.run("replay session.jsonl --prices prices.toml --model mine");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("prices.toml") && run.stderr.contains("output"), "{}", run.stderr);
}

#[test]
fn what_is_wrong_is_told() {
    let place = place();
    let told = |line: &str| {
        let run = place.run(line);
        assert_eq!(run.code, 2, "{line}");
        run.stderr
    };
    assert!(told("replay session.jsonl --model none").contains("there is no price for `none`; there are claude-"));
    assert!(told("replay session.jsonl --model none").contains("docs/evaluation.md"));
    assert!(told("replay session.jsonl --policies none").contains("there is no strategy `none`"));
    assert!(told("replay session.jsonl --min-tokens 9m").contains("none of 1 session fits"));
    assert!(told("replay nowhere").contains("nowhere"));
    assert!(told("tune session.jsonl --strategies none").contains("none"));
    assert!(told("tune session.jsonl --settings sliding-window.none").contains("is not a setting"));
    assert!(told("tune session.jsonl --weights cost=1").contains("there are bound, quotes, files, rules"));
    assert!(told("tune session.jsonl").contains("no sessions left"));
}

#[test]
fn too_few_sessions_are_refused() {
    let place = place();
    for number in 0..4 {
        place.file(&format!("{number}.jsonl"), [example("session.jsonl"), "\n".repeat(number).into()].concat());
    }
    place.file("notes.md", "# Notes");
    let line = "tune 0.jsonl 1.jsonl 2.jsonl 3.jsonl notes.md --strategies sliding-window --budgets 0.4 --min-tokens 0 --min-calls 1 \
                --min-needed 1 -o none.toml";
    let ran = place.run(line);
    let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, 2, "{told}");
    assert!(told.contains("a kind of task needs 5 to search on and 5 to verify on, given are code 2 and 2"), "{told}");
    assert!(
        told.contains("a difference over all 4 of them is known to ±.000 only"),
        "they are the same session: {told}"
    );
    assert!(told.contains("1 no session can be read from it") && !told.contains("notes.md"), "{told}");
    assert!(!place.path("none.toml").exists());
    assert!(place.run(&format!("{line} --left-out")).stderr.contains("notes.md"));
}

#[test]
fn tuning_writes_a_configuration() {
    let place = place();
    // Sessions are known by their content, whatever their names.
    for (number, copy) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].into_iter().enumerate() {
        place.file(&format!("{copy}.jsonl"), [example("session.jsonl"), "\n".repeat(number).into()].concat());
        place.file(&format!("{copy}-again.jsonl"), place.read(&format!("{copy}.jsonl")));
    }
    let line = "tune a.jsonl b.jsonl c.jsonl d.jsonl e.jsonl ./a.jsonl b-again.jsonl --verify e-again.jsonl f.jsonl \
                g.jsonl h.jsonl i.jsonl j.jsonl j-again.jsonl --trials 6 --budgets 0.4,0.40 \
                --strategies sliding-window,tool-results --min-tokens 0 --min-calls 1 --min-needed 1";
    let ran = place.run(&format!("{line} -o one.toml"));
    assert!(ran.stderr.contains("searched on 5 sessions, verified on 5 sessions"), "{}", ran.stderr);
    assert!(ran.stderr.contains("code: no winner") || ran.stderr.contains("code: a winner"), "{}", ran.stderr);
    assert!(ran.stderr.contains("3  a copy of a session that is there already"), "{}", ran.stderr);
    place.run(&format!("{line} -o two.toml"));
    assert_eq!(place.read("one.toml"), place.read("two.toml"));
    assert_eq!(place.run("check session.jsonl --config one.toml").code, 0, "what is written is a configuration");
}
