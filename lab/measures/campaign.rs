//! Plays a range of hostile sessions through the engine and keeps a record, so that a campaign of a million can be stopped
//! and gone on with:
//!
//! ```sh
//! cargo run -p epitome-benches --bin campaign -- campaign.jsonl 0..1000000
//! ```
//!
//! The record has one line for each batch of seeds that is done: which, how many sessions and compactions, and the first
//! seed that broke each law. A batch that is in the record is not played again. Without a range it only sums up.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use epitome_harness::play::{Game, play, quietly};
use serde_json::{Value, json};

/// Seeds of a line of the record.
const BATCH: u64 = 250;
/// Compactions of each session.
const GENERATIONS: usize = 10;

const USAGE: &str = "usage: campaign RECORD [FROM..TO [PART/PARTS]]\n\
    FROM..TO   the seeds to play, such as 0..1000000; without them the record is summed up\n\
    PART/PARTS every PARTS-th batch from the PART-th on, for several processes with a record each, such as 1/2";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("campaign: {problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Whether no law was broken.
fn run(arguments: &[String]) -> Result<bool, String> {
    let (record, seeds, part) = match arguments {
        [record] => (record, None, (1, 1)),
        [record, seeds] => (record, Some(range(seeds)?), (1, 1)),
        [record, seeds, part] => (record, Some(range(seeds)?), share(part)?),
        _ => return Err("a record is needed, and at most a range and a part".to_owned()),
    };
    let trouble = |error: std::io::Error| format!("{record}: {error}");
    if let Some(seeds) = seeds {
        let done: HashSet<u64> = lines(record)?.iter().filter_map(|line| line["from"].as_u64()).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(record).map_err(trouble)?;
        // What a stopped process wrote by half is cut off: the next line must not continue it.
        let text = std::fs::read(record).map_err(trouble)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(trouble)?;
        let batches = seeds.clone().step_by(BATCH as usize).enumerate();
        for (_, from) in batches.filter(|(index, from)| index % part.1 == part.0 - 1 && !done.contains(from)) {
            let line = batch(from..(from + BATCH).min(seeds.end));
            writeln!(file, "{line}").map_err(trouble)?;
        }
    }
    Ok(sum_up(&lines(record)?))
}

/// `FROM..TO`, which starts and ends a batch: else a batch could be in the record by half.
fn range(text: &str) -> Result<Range<u64>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let (from, to): (u64, u64) = ends.ok_or_else(|| format!("`{text}` is not a range of seeds"))?;
    if from >= to || !from.is_multiple_of(BATCH) || !to.is_multiple_of(BATCH) {
        return Err(format!("`{text}`: a range goes up, from and to a multiple of {BATCH}"));
    }
    Ok(from..to)
}

fn share(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    numbers.filter(|(part, parts)| (1..=*parts).contains(part)).ok_or_else(|| format!("`{text}` is not a part"))
}

/// The lines of a record; of one that a stopped process did not write to its end nothing counts.
fn lines(record: &str) -> Result<Vec<Value>, String> {
    let file = match File::open(record) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{record}: {error}")),
    };
    let lines: Result<Vec<String>, _> = BufReader::new(file).lines().collect();
    let lines = lines.map_err(|error| format!("{record}: {error}"))?;
    let mut values = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str::<Value>(line) {
            Ok(value) if value["generations"] == GENERATIONS && value["from"].is_u64() => values.push(value),
            Err(_) if index + 1 == lines.len() => {}
            _ => return Err(format!("{record}:{}: is not a line of a campaign of this kind", index + 1)),
        }
    }
    Ok(values)
}

/// Plays a batch; its line.
fn batch(seeds: Range<u64>) -> Value {
    let game = Game { generations: GENERATIONS, undoes: true, ..Game::default() };
    let started = Instant::now();
    let (mut compactions, mut made, mut undone, mut edits, mut refused) = (0, 0, 0, 0, 0);
    let mut broken: BTreeMap<&str, String> = BTreeMap::new();
    for seed in seeds.clone() {
        let Ok(played) = catch_unwind(AssertUnwindSafe(|| quietly(|| play(seed, &game)))) else {
            broken.entry("panic").or_insert_with(|| format!("seed {seed}: the engine panicked"));
            continue;
        };
        compactions += played.reports.len();
        made += played.reports.iter().filter(|report| report.status.is_compaction()).count();
        undone += played.undone;
        let steps = played.reports.iter().flat_map(|report| &report.steps);
        for step in steps {
            edits += u64::from(step.edits);
            refused += u64::from(step.refused);
        }
        for law in &played.broken {
            broken.entry(law.law).or_insert_with(|| format!("seed {seed}: {law}"));
        }
    }
    json!({
        "from": seeds.start, "to": seeds.end, "generations": GENERATIONS, "sessions": seeds.end - seeds.start,
        "compactions": compactions, "made": made, "undone": undone, "edits": edits, "refused": refused,
        "seconds": started.elapsed().as_secs(), "broken": broken,
    })
}

/// Prints what a record holds in all; whether no law was broken.
fn sum_up(lines: &[Value]) -> bool {
    let sum = |key: &str| lines.iter().filter_map(|line| line[key].as_u64()).sum::<u64>();
    let first = lines.iter().filter_map(|line| line["from"].as_u64()).min().unwrap_or(0);
    let last = lines.iter().filter_map(|line| line["to"].as_u64()).max().unwrap_or(0);
    println!("sessions      {} (seeds {first}..{last})", sum("sessions"));
    println!("asked         {} compactions, {GENERATIONS} of each session", sum("compactions"));
    println!("made          {}, of which {} were undone again", sum("made"), sum("undone"));
    println!("edits         {} applied, {} refused by a guard", sum("edits"), sum("refused"));
    println!("time          {} s of one core", sum("seconds"));
    let broken: Vec<&Value> =
        lines.iter().filter_map(|line| line["broken"].as_object()).flat_map(serde_json::Map::values).collect();
    println!("laws broken   {}", broken.len());
    for line in &broken {
        println!("  {}", line.as_str().unwrap_or_default());
    }
    broken.is_empty()
}
