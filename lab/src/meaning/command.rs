//! `meaning`: what becomes of a conversation, by method and budget.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use epitome::Session;
use epitome::formats::{ReadOptions, read};
use epitome::session::{Entry, Origin};
use epitome_eval::probes::{ProbedCase, folders};
use epitome_eval::{BudgetSpec, Case, CaseId, CaseOptions, KeptCount, Method, figure, methods};
use rayon::prelude::*;

use super::{Meaning, MeaningScores};

/// The name of the budget at which a view with an agent's own summary is compacted, and its share of the view.
const OWN_SUMMARY: (&str, f64) = ("own summary 0.6", 0.6);

/// What is measured.
#[derive(Debug, Args)]
pub struct MeaningArgs {
    /// Files of recorded sessions; with --probes folders of probes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Measure the sessions of probes
    #[arg(long)]
    probes: bool,
    /// The methods, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    methods: Vec<String>,
    /// The budgets, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "0.4,0.2,0.1")]
    budgets: Vec<BudgetSpec>,
    /// The least tokens of a session
    #[arg(long, default_value_t = 20_000)]
    min_tokens: u32,
}

/// A case with the names and the tokens of its budgets.
type BudgetedCase = (Case, Vec<(String, u32)>);

/// A case under one method at one budget.
#[derive(Debug)]
struct MeaningRow {
    budget: String,
    method: String,
    scores: MeaningScores,
}

/// Runs the command and prints a table in Markdown. The error says what is wrong.
pub fn run(args: &MeaningArgs) -> Result<()> {
    let methods = methods(&args.methods, &epitome::registry())?;
    let cases = if args.probes { probed(args)? } else { cut(args)? };
    if cases.is_empty() {
        bail!("there is no session of {} tokens or more: lower --min-tokens, or name others", args.min_tokens);
    }
    let of_cases: Vec<Result<Vec<MeaningRow>>> =
        cases.par_iter().map(|(case, budgets)| of_case(case, budgets, methods.iter().map(|it| &**it))).collect();
    let mut rows = Vec::new();
    for found in of_cases {
        rows.extend(found?);
    }
    print!("{}", table(&rows));
    Ok(())
}

fn of_case<'m>(
    case: &Case,
    budgets: &[(String, u32)],
    methods: impl Iterator<Item = &'m Method> + Clone,
) -> Result<Vec<MeaningRow>> {
    let meaning = Meaning::new(case.prefix.view())?;
    let mut rows = Vec::new();
    for (budget, tokens) in budgets {
        if budget == OWN_SUMMARY.0 && !meaning.has_own_summary() {
            continue;
        }
        for method in methods.clone() {
            let scores = match method.compact(case, *tokens).entries {
                Some(entries) => meaning.measure(&entries),
                None => meaning.measure(&[]).with_nothing_kept(),
            };
            rows.push(MeaningRow { budget: budget.clone(), method: method.name().to_owned(), scores });
        }
    }
    Ok(rows)
}

/// The cases of recorded sessions: each cut in two, and each as it stands at its end where that has a summary.
fn cut(args: &MeaningArgs) -> Result<Vec<BudgetedCase>> {
    let mut cases = Vec::new();
    for path in &args.paths {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let loaded = read(bytes, ReadOptions::default()).with_context(|| format!("cannot read {}", path.display()))?;
        for session in &loaded.sessions {
            let id = id(path, &session.name);
            let Some(case) = Case::new(id.clone(), loaded.format.as_str(), &session.session, &CaseOptions::default())?
            else {
                continue;
            };
            if case.session_tokens < args.min_tokens {
                continue;
            }
            let budgets = args.budgets.iter().map(|budget| (budget.to_string(), case.budget_tokens(*budget))).collect();
            cases.push((case, budgets));
            cases.extend(own_summary(id, &session.session)?);
        }
    }
    Ok(cases)
}

fn own_summary(id: CaseId, session: &Session) -> Result<Option<BudgetedCase>> {
    let is_summary = |entry: &Entry| entry.message.origin == Origin::Summary && !entry.message.plain_text().is_empty();
    if !session.view().iter().any(is_summary) {
        return Ok(None);
    }
    let case = Case::from_prefix(id, "", session.clone(), &[])?;
    let (name, share) = OWN_SUMMARY;
    let tokens = case.budget_tokens(BudgetSpec::Share(share));
    Ok(Some((case, vec![(name.to_owned(), tokens)])))
}

/// The probed sessions, each with its budgets and that of an agent's own summary.
fn probed(args: &MeaningArgs) -> Result<Vec<BudgetedCase>> {
    let mut cases = Vec::new();
    for file in folders(&args.paths)? {
        let probed = ProbedCase::read(&file)?;
        let (name, share) = OWN_SUMMARY;
        let own = (name.to_owned(), probed.case.budget_tokens(BudgetSpec::Share(share)));
        let budgets = args.budgets.iter().map(|budget| (budget.to_string(), probed.budget(*budget)));
        let budgets = budgets.chain([own]).collect();
        cases.push((probed.case, budgets));
    }
    Ok(cases)
}

fn id(path: &Path, session: &str) -> CaseId {
    CaseId { file: path.display().to_string(), session: session.to_owned(), cut_permille: 0, part: None }
}

/// Means of the cases' shares; lines out of place are those of all cases.
fn table(rows: &[MeaningRow]) -> String {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if !places.contains(&(&row.budget, &row.method)) {
            places.push((&row.budget, &row.method));
        }
    }
    let mut out = "| budget | method | typed | final | speakers | source | summary | out of place |\n\
                   |---|---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (budget, method) in places {
        let of: Vec<&MeaningScores> = rows
            .iter()
            .filter(|row| (row.budget.as_str(), row.method.as_str()) == (budget, method))
            .map(|row| &row.scores)
            .collect();
        let mean = |kept: fn(&MeaningScores) -> KeptCount| {
            let shares: Vec<f64> = of.iter().filter_map(|scores| kept(scores).share()).collect();
            figure((!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64))
        };
        let misplaced: Vec<u32> = of.iter().filter_map(|scores| scores.misplaced).collect();
        let cells = [
            format!("`{method}`"),
            mean(|it| it.typed),
            mean(|it| it.finals),
            mean(|it| it.speakers),
            mean(|it| it.sources),
            mean(|it| it.summary),
            format!("{} in {}", misplaced.iter().sum::<u32>(), misplaced.len()),
        ];
        out += &format!("| {budget} | {} |\n", cells.join(" | "));
    }
    out
}
