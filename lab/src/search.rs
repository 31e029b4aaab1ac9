//! `search`: probes with a search allowed, whose results for each question stand beside a method's context.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use epitome::Session;
use epitome::recall::{Index, Query};
use epitome_eval::probes::{Probe, ProbeKind, ProbeScores, ProbedCase, context_text, folders, messages_of, recall};
use epitome_eval::{BudgetSpec, KeptCount, figure};
use rayon::prelude::*;

use crate::plan::probe_plan;

/// The most characters of each passage. Source: the default of a search.
const CHARACTERS: usize = 1_500;

/// What is measured.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Folders of probes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Passages that a search may show for each question
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=100))]
    passages: u16,
    /// The methods, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    methods: Vec<String>,
    /// The budgets, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "0.3,0.15,0.08")]
    budgets: Vec<BudgetSpec>,
}

/// The scores of sessions, by budget and by what was asked.
type Found = BTreeMap<(usize, usize), (String, String, Vec<ProbeScores>)>;

/// Runs the command and prints a table in Markdown. The error says what is wrong.
pub fn run(args: &SearchArgs) -> Result<()> {
    print!("{}", table(&measure(args)?));
    Ok(())
}

fn measure(args: &SearchArgs) -> Result<Found> {
    let plan = probe_plan(&args.paths, &args.methods, &args.budgets, 1)?;
    let mut probed = Vec::new();
    for file in folders(&args.paths)? {
        probed.push(ProbedCase::read(&file)?);
    }
    if probed.is_empty() {
        bail!("there is no folder of probes in it");
    }
    let of_case = |probed: &ProbedCase| {
        let (case, probes) = (&probed.case, &probed.folder.set.probes);
        let hits = hits(&case.prefix, probes, args.passages.into());
        let mut rows = Vec::new();
        for budget in &plan.budgets {
            let tokens = probed.budget(*budget);
            rows.push((budget.to_string(), "search".to_owned(), score(probes, &hits, "")));
            for method in &plan.methods {
                let shown = method.compact(case, tokens).entries.and_then(|entries| {
                    let scores = case.score(&entries, tokens);
                    let is_sound = !scores.over_budget && scores.violation.is_none();
                    messages_of(&entries, case.prefix.tools.as_deref()).ok().filter(|_| is_sound)
                });
                // What is over its budget or invalid answers nothing, and passages beside it do not count either.
                let of = |hits: &[String]| match &shown {
                    Some(messages) => score(probes, hits, &context_text(messages)),
                    None => ProbeScores::count(probes, &vec![false; probes.len()]),
                };
                rows.push((budget.to_string(), method.name().to_owned(), of(&vec![String::new(); probes.len()])));
                rows.push((budget.to_string(), format!("{} +search", method.name()), of(&hits)));
            }
        }
        rows
    };
    let of_cases: Vec<_> = probed.par_iter().map(of_case).collect();
    let mut found = Found::new();
    for rows in of_cases {
        let per_budget = rows.len() / plan.budgets.len();
        for (place, (budget, method, scores)) in rows.into_iter().enumerate() {
            let key = (place / per_budget, place % per_budget);
            found.entry(key).or_insert_with(|| (budget, method, Vec::new())).2.push(scores);
        }
    }
    Ok(found)
}

/// What a search shows for each probe: its question word for word, the first page of this many passages.
fn hits(session: &Session, probes: &[Probe], passages: usize) -> Vec<String> {
    let index = Index::build(session);
    let limits = Query { limit: passages, characters: passages.saturating_mul(CHARACTERS), ..Query::default() };
    let text = |probe: &Probe| {
        let question = probe.question.chars().take(Query::MOST_QUERY_CHARACTERS).collect();
        // A question without a word in it finds nothing.
        let page = index.search(&Query { words: vec![question], ..limits.clone() }).unwrap_or_default();
        page.passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n")
    };
    probes.iter().map(text).collect()
}

/// How many probes a context and what was found for each can answer together.
fn score(probes: &[Probe], hits: &[String], context: &str) -> ProbeScores {
    let with = |(probe, found): (&Probe, &String)| {
        recall(std::slice::from_ref(probe), &[context, found].join("\n")).contains(&true)
    };
    let shown: Vec<bool> = probes.iter().zip(hits).map(with).collect();
    ProbeScores::count(probes, &shown)
}

/// Means of the sessions' shares, of all probes and of those of each kind.
fn table(found: &Found) -> String {
    let kinds = ProbeKind::ALL.map(ProbeKind::as_str);
    let mut out =
        format!("| budget | method | probes | {} |\n|---|---|---:|---:|---:|---:|---:|---:|\n", kinds.join(" | "));
    for (budget, method, scores) in found.values() {
        let mean = |of: &dyn Fn(&ProbeScores) -> KeptCount| {
            let shares: Vec<f64> = scores.iter().filter_map(|scores| of(scores).share()).collect();
            figure((!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64))
        };
        let kinds = ProbeKind::ALL.map(|kind| mean(&|scores| scores.count_of(kind)));
        out += &format!("| {budget} | `{method}` | {} | {} |\n", mean(&|scores| scores.all), kinds.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_search_answers_what_the_context_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut messages = vec![json!({"role": "user", "content": "Build the release."})];
        for number in 0..80 {
            let fact = if number == 3 { " Unit 61 did not link because its symbol is missing." } else { "" };
            messages.push(json!({"role": "assistant", "content": format!("Part {number} is built.{fact} ").repeat(8)}));
            messages.push(json!({"role": "user", "content": "Go on with the next one."}));
        }
        let probe = json!([{"id": "q", "kind": "why", "question": "Which unit did not link?", "answer": "61",
                            "facts": [["unit 61"], ["symbol is missing"]]}]);
        let write = |name: &str, value: &Value| std::fs::write(folder.path().join(name), value.to_string()).unwrap();
        write("prefix.json", &json!({ "messages": messages }));
        write("probes.json", &probe);
        let args = SearchArgs {
            paths: vec![folder.path().to_owned()],
            passages: 1,
            methods: vec!["baseline:newest".to_owned()],
            budgets: vec![BudgetSpec::Share(0.08)],
        };
        let table = table(&measure(&args).unwrap());
        for line in ["`search` | 1.000", "`baseline:newest` | .000", "`baseline:newest +search` | 1.000"] {
            assert!(table.contains(&format!("| 0.08 | {line}")), "{line} in {table}");
        }
    }
}
