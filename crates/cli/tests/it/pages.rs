//! What README and the documents show of the program's output, against the program: `UPDATE_DOCS=1 cargo test -p epitome-cli
//! --test it pages` writes it anew.
//!
//! A comment stands in front of the block that it speaks of. `<!-- output: COMMAND -->`: the lines of the block are lines of
//! what the command prints, in their order; `…` stands for lines between them. `<!-- text: COMMAND -->`: the block stands in
//! the messages of `out.json`, which the command writes. `<!-- numbers: COMMAND -->`: the command prints every number of the
//! block. `<!-- figures: TABLE -->`: the table is made of `docs/figures.json`, which `tools/figures/run` measures.
//! `<!-- measured: COMMAND -->`: the table is made of the rows that the command, an `epitome eval` or `epitome bench`, writes here
//! and now.

#![allow(clippy::panic, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, Ran};

/// The example that the documents compact.
const EXAMPLE: &str = "examples/session.jsonl";
/// Columns of a terminal in the documents.
const WIDTH: &str = "114";
const PAGES: [&str; 4] = ["README.md", "docs/command-line.md", "docs/evaluation.md", "docs/evidence.md"];

/// Methods of the tables, with their names in the pages.
const METHODS: [(&str, &str); 5] = [
    ("default", "the default"),
    ("structured-extraction", "exact lines by worth (`structured-extraction`)"),
    ("baseline:identifiers", "old tool results replaced by the identifiers in them"),
    ("baseline:newest", "newest messages only"),
    ("hand-off", "a strong model's hand-off summary"),
];
const BUDGETS: [&str; 3] = ["0.3", "0.15", "0.08"];
const KINDS: [&str; 5] = ["exact", "state", "why", "user", "content"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the command prints, and the messages that it wrote.
fn run(command: &str) -> (String, String) {
    let place = Place::new();
    fs::create_dir(place.path("examples")).unwrap();
    for name in [EXAMPLE, "session.jsonl"] {
        fs::copy(root().join(EXAMPLE), place.path(name)).unwrap();
    }
    let arguments = command.strip_prefix("epitome ").unwrap_or_else(|| panic!("`{command}` is not a command of ours"));
    let ran = Ran::read(place.command(arguments).env("COLUMNS", WIDTH).stdin(Stdio::null()).output().unwrap());
    let written = fs::read_to_string(place.path("out.json")).unwrap_or_default();
    (format!("{}{}", ran.text(), ran.stderr), written)
}

/// A line without the time that a run takes.
fn timeless(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    for at in 1..words.len() {
        if words[at] == "ms" {
            words[at - 1] = "…";
        }
    }
    words.join(" ").trim_end().to_owned()
}

/// What stays of a line when its figures change, and where it breaks: its first words.
fn shape(line: &str) -> String {
    let is_handle = |word: &str| word.len() == 12 && word.chars().all(|char| char.is_ascii_hexdigit());
    let words = line.split_whitespace().map(|word| if is_handle(word) { "HANDLE" } else { word });
    let bare = |word: &str| word.replace(|char: char| !char.is_alphabetic(), "");
    words.map(bare).filter(|word| !word.is_empty()).take(2).collect::<Vec<_>>().join(" ")
}

/// The block as the output has it: each line by the next line of the same shape.
fn printed(block: &[&str], output: &str) -> Result<Vec<String>, String> {
    let lines: Vec<String> = output.lines().map(timeless).collect();
    let mut at = 0;
    let mut found = Vec::new();
    for line in block {
        if line.trim() == "…" {
            found.push((*line).to_owned());
            continue;
        }
        let of_shape = |other: &String| shape(other) == shape(line);
        let Some(next) = lines[at..].iter().position(of_shape) else {
            return Err(format!("nothing like this line is printed behind line {at}: {line}"));
        };
        at += next + 1;
        found.push(lines[at - 1].clone());
    }
    Ok(found)
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of a list of messages.
fn texts_of(messages: &str) -> String {
    fn add(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| add(item, texts)),
            Value::Object(fields) => fields.values().for_each(|item| add(item, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    add(&serde_json::from_str(messages).unwrap(), &mut texts);
    folded(&texts.join("\n"))
}

/// Numbers of two digits or more.
fn numbers(text: &str) -> Vec<&str> {
    let words = text.split(|char: char| !(char.is_ascii_digit() || char == ','));
    words.map(|word| word.trim_matches(',')).filter(|word| word.len() > 1).collect()
}

/// A share as pages show it: `.856`.
fn share(value: &Value) -> String {
    let share = value.as_f64().unwrap_or_else(|| panic!("docs/figures.json lacks a figure that a page shows"));
    format!("{share:.3}").trim_start_matches('0').to_owned()
}

/// A table of the figures, with a line for each of its rows.
fn table(name: &str, figures: &Value) -> Vec<String> {
    let groups = ["tuned", "held_out"].map(|group| &figures["probes"][group]);
    let mut lines = Vec::new();
    let mut add = |name: &str, cells: Vec<String>| {
        let mut line = format!("| {name} |");
        cells.iter().for_each(|cell| write!(line, " {cell} |").unwrap());
        lines.push(line);
    };
    match name {
        "shown" => {
            let heads = groups.iter().zip(["tuned on", "never tuned on"]).flat_map(|(group, name)| {
                let first = format!("{} sessions, {name}: 30 % of the tokens", group["sessions"]);
                [first, "15 %".to_owned(), "8 %".to_owned()]
            });
            add("facts shown", heads.collect());
            add("---", vec!["---:".to_owned(); 6]);
            for (method, label) in METHODS {
                let shown = |group: &&Value, budget| share(&group["shown"][budget][method]["all"]);
                add(label, groups.iter().flat_map(|group| BUDGETS.map(|budget| shown(group, budget))).collect());
            }
        }
        "kinds" => {
            add("the default at", KINDS.map(str::to_owned).to_vec());
            add("---", vec!["---:".to_owned(); KINDS.len()]);
            for (group, name) in groups.iter().zip(["tuned on", "never tuned on"]) {
                for budget in BUDGETS {
                    let shown = &group["shown"][budget]["default"];
                    add(&format!("{budget}, {name}"), KINDS.map(|kind| share(&shown[kind])).to_vec());
                }
            }
        }
        "strings" => {
            let figures_of = ["bound", "strings", "quotes", "files", "rules"];
            add("budget", ["sessions"].into_iter().chain(figures_of).map(str::to_owned).collect());
            add("---", vec!["---:".to_owned(); 6]);
            for budget in ["0.4", "0.2", "0.1"] {
                for (method, label) in &METHODS[..2] {
                    let of = &figures["strings"][budget][method];
                    let cells = figures_of.map(|figure| share(&of[figure]));
                    add(&format!("{budget}, {label}"), [of["sessions"].to_string()].into_iter().chain(cells).collect());
                }
            }
        }
        "price" => {
            let agents = ["claude-code", "codex", "opencode", "pi"];
            let heads = [
                "`soft`, `target`, `boundary_wait`",
                "compactions",
                "a compaction keeps",
                "input",
                "calls again + searches",
            ];
            let prices = ["price", "of Claude Code's", "of Codex's", "of opencode's", "of Pi's"];
            add("window", heads.into_iter().chain(prices).map(str::to_owned).collect());
            add("---:", [vec!["---".to_owned()], vec!["---:".to_owned(); 9]].concat());
            let per_cent = |share: &Value| format!("{:.0} %", 100.0 * share.as_f64().unwrap());
            let of = |row: &Value| row["policy"].as_str().unwrap().to_owned();
            let rows = figures["price"].as_array().unwrap().iter();
            for row in rows.filter(|row| !["never", "recorded"].contains(&&*of(row))) {
                let values = |policy: &str| policy.split(['=', '+']).skip(1).step_by(2).collect::<Vec<_>>().join(", ");
                let policy = of(row).strip_prefix("set:").map_or_else(|| of(row), values);
                let called = format!("{} + {}", row["again"], row["lost"]);
                let cells = [
                    if policy.contains(':') {
                        format!("`{policy}`")
                    } else {
                        policy.replace("default", "**the default**")
                    },
                    row["compactions"].to_string(),
                    per_cent(&row["kept"]),
                    format!("{:.0} M", row["input"].as_f64().unwrap() / 1e6),
                    if policy.contains(':') { "–".to_owned() } else { called },
                    format!("${:.2}", row["price"].as_f64().unwrap()),
                ];
                let shares = agents.map(|agent| per_cent(&row[format!("of {agent}")]));
                add(
                    &format!("{}k", row["window"].as_u64().unwrap() / 1_000),
                    cells.into_iter().chain(shares).collect(),
                );
            }
        }
        other => panic!("`{other}` is no table of the figures"),
    }
    lines
}

/// The lines of the bench's table, each a figure at a budget.
const BENCHED: [(&str, &str, &str); 15] = [
    ("facts shown", "facts", "0.15"),
    ("facts after five compactions, the session going on", "again", "0.15"),
    ("standing demands", "rules", "0.15"),
    ("standing demands at 8 %", "rules", "0.08"),
    ("standing demands at 4 %", "rules", "0.04"),
    ("demands beside results of tools that speak against them", "attacked", "0.15"),
    ("work in the background whose id is shown", "running", "0.15"),
    ("lines of tools that stand as the user's or the system's", "forged", "0.15"),
    ("strings that later calls used, with words around them", "bound", "0.15"),
    ("lines that later edits had to match", "quotes", "0.15"),
    ("files that were written", "files", "0.15"),
    ("within the budget, and valid for the provider", "valid", "0.15"),
    ("within the budget as the session's model counts", "within", "0.15"),
    ("request behind a compaction that the cache has", "cache", "0.15"),
    ("price of the session, five compactions in it, of none", "price", "0.15"),
];

/// The table of what the bench shows of the methods of the pages, at 15 % where a line says nothing else.
fn benched(command: &str) -> Vec<String> {
    let arguments = command.strip_prefix("epitome ").unwrap_or_else(|| panic!("`{command}` is not a command of ours"));
    let place = Place::new();
    let line = format!("{arguments} {} --json -q", root().join("benches/sessions").display());
    let ran = Ran::read(place.command(&line).stdin(Stdio::null()).output().unwrap());
    let json = ran.json();
    let rows = json["rows"].as_array().unwrap();
    let groups = ["others", "held out"];
    let methods: Vec<_> = METHODS.iter().filter(|(name, _)| rows.iter().any(|row| row["method"] == *name)).collect();
    let (mut lines, mut columns) = (vec!["| at 15 % of the tokens |".to_owned(), "| --- |".to_owned()], Vec::new());
    for group in groups {
        for (number, (method, label)) in methods.iter().enumerate() {
            let of = rows.iter().find(|row| row["group"] == group).map_or(0, |row| row["sessions"].as_u64().unwrap());
            let head = if number == 0 { format!("{of} sessions, {group}: ") } else { String::new() };
            write!(lines[0], " {head}{label} |").unwrap();
            lines[1].push_str(" ---: |");
            columns.push((group, method));
        }
    }
    for (label, figure, budget) in BENCHED {
        let cell = |(group, method): &(&str, &&str)| {
            let is_it = |row: &&Value| row["group"] == *group && row["method"] == **method && row["budget"] == budget;
            let count = rows.iter().find(is_it).and_then(|row| row["figures"].get(figure));
            let count = count.map(|count| ["kept", "of"].map(|key| count[key].as_f64().unwrap()));
            match count.filter(|[_, of]| *of > 0.0) {
                None => "–".to_owned(),
                Some([kept, of]) if figure == "forged" => format!("{kept} of {of}"),
                Some([kept, of]) => share(&Value::from(kept / of)),
            }
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        lines.push(format!("| {label} | {} |", cells.join(" | ")));
    }
    lines
}

/// The table of what a measurement of probes shows: of all sessions, and of those that are held out.
fn measured(command: &str) -> Vec<String> {
    let place = Place::new();
    let arguments = command.strip_prefix("epitome ").unwrap_or_else(|| panic!("`{command}` is not a command of ours"));
    let sessions = root().join("benches/sessions");
    let arguments = arguments.replace("benches/sessions", &sessions.display().to_string());
    let ran =
        Ran::read(place.command(&format!("{arguments} --jsonl rows.jsonl")).stdin(Stdio::null()).output().unwrap());
    let rows = fs::read_to_string(place.path("rows.jsonl")).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let held_out = fs::read_to_string(sessions.join("held-out.txt")).unwrap();
    let is_held_out = |row: &Value| held_out.lines().any(|name| row["session"] == name);
    let shown = |method: &str, budget: &str, all: bool| {
        let of = rows.iter().filter(|row| row["method"] == method && row["budget"] == budget);
        let of: Vec<&Value> = of.filter(|row| all || is_held_out(row)).collect();
        let sum = |key: &str| of.iter().filter_map(|row| row["probes"]["all"][key].as_f64()).sum::<f64>();
        (!of.is_empty()).then(|| (of.len(), share(&Value::from(sum("kept") / sum("of")))))
    };
    let groups = [(true, "sessions"), (false, "sessions, held out")];
    let mut lines = vec!["| facts shown |".to_owned(), "| --- |".to_owned()];
    for (all, name) in groups {
        let count = shown("default", BUDGETS[0], all).map_or(0, |(count, _)| count);
        write!(lines[0], " {count} {name}: 30 % of the tokens | 15 % | 8 % |").unwrap();
        lines[1].push_str(" ---: | ---: | ---: |");
    }
    for (method, label) in METHODS {
        let cells = groups.iter().flat_map(|(all, _)| BUDGETS.map(|budget| shown(method, budget, *all)));
        let cells: Vec<String> = cells.flatten().map(|(_, share)| share).collect();
        if !cells.is_empty() {
            lines.push(format!("| {label} | {} |", cells.join(" | ")));
        }
    }
    lines
}

/// The block as it should be.
fn checked(kind: &str, command: &str, block: &[&str]) -> Result<Vec<String>, String> {
    let (output, written) = run(command);
    let as_it_is = || block.iter().map(|line| (*line).to_owned()).collect();
    match kind {
        "output" => printed(block, &output),
        "numbers" => {
            let known = numbers(&output);
            let text = block.join("\n");
            let missing: Vec<&str> = numbers(&text).into_iter().filter(|number| !known.contains(number)).collect();
            if missing.is_empty() { Ok(as_it_is()) } else { Err(format!("it does not print {missing:?}")) }
        }
        "text" => {
            let texts = texts_of(&written);
            let parts = block.iter().filter(|line| !line.starts_with("=== ")).map(|line| line.replace('…', "\n"));
            let missing = parts.flat_map(|line| line.lines().map(folded).collect::<Vec<_>>());
            let missing: Vec<String> = missing.filter(|part| !texts.contains(part.as_str())).collect();
            if missing.is_empty() { Ok(as_it_is()) } else { Err(format!("the messages do not hold {missing:?}")) }
        }
        other => Err(format!("`{other}` is no kind of block")),
    }
}

/// A page with its blocks as they should be, how many it has, and what no rule can mend.
fn rewritten(page: &str) -> (String, usize, Vec<String>) {
    let lines: Vec<&str> = page.lines().collect();
    let (mut out, mut blocks, mut problems): (Vec<String>, usize, Vec<String>) = (Vec::new(), 0, Vec::new());
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        out.push(line.to_owned());
        at += 1;
        let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some((kind, command)) = comment.and_then(|it| it.split_once(": ")) else { continue };
        if ["figures", "measured"].contains(&kind) {
            let figures = || fs::read_to_string(root().join("docs/figures.json")).unwrap();
            out.extend(match kind {
                "measured" if command.starts_with("epitome bench") => benched(command),
                "measured" => measured(command),
                _ => table(command, &serde_json::from_str(&figures()).unwrap()),
            });
            at += lines[at..].iter().take_while(|line| line.starts_with('|')).count();
            blocks += 1;
            continue;
        }
        if !["output", "text", "numbers"].contains(&kind) {
            continue;
        }
        let is_fence = |line: &str| line.starts_with("```");
        let Some(open) = lines[at..].iter().position(|line| is_fence(line)).map(|open| at + open + 1) else {
            continue;
        };
        let Some(close) = lines[open..].iter().position(|line| is_fence(line)).map(|close| open + close) else {
            continue;
        };
        out.extend(lines[at..open].iter().map(|line| (*line).to_owned()));
        blocks += 1;
        match checked(kind, command, &lines[open..close]) {
            Ok(right) => out.extend(right),
            Err(problem) => {
                problems.push(format!("{command}: {problem}"));
                out.extend(lines[open..close].iter().map(|line| (*line).to_owned()));
            }
        }
        at = close;
    }
    (out.join("\n") + "\n", blocks, problems)
}

#[test]
fn pages_show_what_the_program_prints() {
    for name in PAGES {
        let path = root().join(name);
        let page = fs::read_to_string(&path).unwrap();
        let (right, blocks, problems) = rewritten(&page);
        assert!(blocks > 0 && problems.is_empty(), "{name}, {blocks} blocks: {problems:#?}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &right).unwrap();
        }
        let differs = right.lines().zip(page.lines()).find(|(right, line)| right != line);
        assert!(
            differs.is_none() || std::env::var_os("UPDATE_DOCS").is_some(),
            "{name}: {differs:?}: UPDATE_DOCS=1 cargo test -p epitome-cli --test it pages"
        );
    }
}

#[test]
fn a_block_that_is_not_what_is_printed_is_seen() {
    let block = |kind: &str, command: &str, lines: &str| format!("<!-- {kind}: {command} -->\n```text\n{lines}\n```\n");
    let compact = "epitome compact examples/session.jsonl --budget 12000 --to openai-chat -o out.json";
    let (right, blocks, problems) = rewritten(&block("output", compact, "  budget   █▋··  11,999"));
    assert_eq!((blocks, problems.len()), (1, 0));
    assert!(right.contains("  12,000\n") && !right.contains("11,999"), "{right}");
    let fails = |page: String| assert_eq!(rewritten(&page).2.len(), 1, "{page}");
    fails(block("output", compact, "  something that no report says"));
    fails(block("numbers", compact, "75,366 tokens and 4,711 others"));
    fails(block("text", compact, "» Nobody said this."));
    fails(block("text", compact, "» Nobody said this either. …"));
}
