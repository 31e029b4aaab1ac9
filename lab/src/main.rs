//! The laboratory's command.

#![allow(clippy::print_stdout, clippy::print_stderr)] // what its commands have to say

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand};
use epitome_eval::{BudgetSpec, Group, Method, Subject, methods};
use epitome_lab::again::{Again, Steps};
use epitome_lab::{blind, boundaries, markdown, matching, meaning, plan, probes, refetch, search};

#[derive(Debug, Parser)]
#[command(name = "epitome-lab", about = "What only the project's own measurements need.")]
struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write the sessions of a set as requests of OpenAI chat, which `epitome eval` reads
    Convert(SetArgs),
    /// Write the sessions of LoCoMo or LongMemEval with the evidence of their questions as folders of probes, for
    /// `epitome eval --what probes`
    Evidence(SetArgs),
    /// Let people or a model answer the questions of probes from contexts alone
    #[command(subcommand)]
    Blind(blind::command::BlindCommand),
    /// Replay sessions with an agent that calls tools again for what a compaction took
    Refetch(refetch::command::RefetchArgs),
    /// Show where the pieces of work of sessions end
    Boundaries(boundaries::BoundariesArgs),
    /// Show which lines of sessions their later edits had to match, and what is known of each: what tools/matching fits on
    Matching(matching::MatchingArgs),
    /// Show what becomes of what was said: whether it is there, in its order, under its speaker
    Meaning(meaning::command::MeaningArgs),
    /// Show what passages of a search answer, alone and beside every method's context
    Search(search::SearchArgs),
    /// Measure methods beside other compactors, and print the tables in Markdown
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
struct SetArgs {
    /// A file of a set
    file: PathBuf,
    /// The folder that is written to
    #[arg(short, long)]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// Files and folders of recorded sessions; with --probes folders of probes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Measure probes
    #[arg(long)]
    probes: bool,
    /// The methods, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    methods: Vec<String>,
    /// Compact to each budget also in N compactions one after the other, such as 3,10: default, presets and config:FILE
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=100))]
    generations: Vec<u32>,
    /// The same through these budgets, such as 0.6,0.35,0.15; the last one is the final budget
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["generations", "budgets"])]
    through: Vec<BudgetSpec>,
    /// Write each result of several compactions as OpenAI chat, and read it back before the next
    #[arg(long)]
    piped: bool,
    /// The budgets, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "0.4,0.2,0.1")]
    budgets: Vec<BudgetSpec>,
    /// The method that all others are compared with
    #[arg(long, default_value = "baseline:newest")]
    against: String,
    /// The seed of the intervals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    match run(&Command::parse().what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(what: &What) -> Result<()> {
    match what {
        What::Convert(args) => wrote(probes::convert(&args.file, &args.output)?),
        What::Evidence(args) => wrote(probes::evidence(&args.file, &args.output)?),
        What::Blind(command) => blind::command::run(command),
        What::Refetch(args) => refetch::command::run(args),
        What::Boundaries(args) => boundaries::run(args),
        What::Matching(args) => matching::run(args),
        What::Meaning(args) => meaning::command::run(args),
        What::Search(args) => search::run(args),
        What::Compare(args) => compare(args),
    }
}

fn wrote(sessions: usize) -> Result<()> {
    if sessions == 0 {
        bail!("there is no session of that kind in it");
    }
    eprintln!("{sessions} sessions written");
    Ok(())
}

fn compare(args: &CompareArgs) -> Result<()> {
    let mut all = methods(&args.methods, &epitome::registry())?;
    all.extend(again(args)?);
    let others: Vec<String> = all.iter().map(|method| method.name().to_owned()).collect();
    let pairs: Vec<(String, String)> =
        others.into_iter().filter(|name| *name != args.against).map(|name| (name, args.against.clone())).collect();
    let subject = if args.probes { Subject::Probes } else { Subject::Future };
    let budgets = args.through.last().map_or(args.budgets.clone(), |last| vec![*last]);
    let run = plan::plan(subject, &args.paths, all, &budgets, args.seed).run(&|_, _, _| {})?;
    if run.cases == 0 {
        bail!("none of {} sessions fits: name longer ones", run.sessions);
    }
    println!("{}", markdown::markdown(&[Group::new("all", &run.rows, &pairs, args.seed)]));
    Ok(())
}

/// The methods that compact several times.
fn again(args: &CompareArgs) -> Result<Vec<Arc<Method>>> {
    let mut steps: Vec<Steps> = args.generations.iter().map(|count| Steps::Equal(*count)).collect();
    if !args.through.is_empty() {
        steps.push(Steps::Through(args.through.clone()));
    }
    let mut methods = Vec::new();
    for (name, steps) in args.methods.iter().flat_map(|name| steps.iter().map(move |steps| (name, steps))) {
        let again = Again::new(name, steps.clone(), args.piped, &epitome::registry())?;
        methods.push(Arc::new(Method::other(&again.name(name), move |case, budget| again.compact(case, budget))));
    }
    Ok(methods)
}
