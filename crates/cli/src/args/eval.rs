//! The arguments of the commands that measure: `eval`, `bench`, `replay` and `tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use epitome::formats::Format;
use epitome::strategy::TaskKind;

use super::compact::ServiceArgs;
use super::input::format_parser;
use super::values::{name_parser, tokens};

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Files of recorded sessions, and folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The methods to measure: default, tournament, a preset, a chain's or strategy's name, chain:a+b+c,
    /// set:KEY=VALUE+KEY=VALUE for the default with other settings, config:FILE, or
    /// baseline:newest|tail|cleared|identifiers. The baselines are always measured
    #[arg(short, long, value_name = "A,B,C", value_delimiter = ',', default_value = "default")]
    pub(crate) methods: Vec<String>,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    /// A price table in TOML for what models take for summaries; its models are added to those that ship, or replace them
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Budgets: shares of the tokens before the cut, such as 40% or 0.4, or tokens, such as 8k
    /// [default: 0.4,0.2,0.1, and 0.3,0.15,0.08 for probes]
    #[arg(short, long, value_name = "X,Y,Z", value_delimiter = ',')]
    pub(crate) budgets: Vec<epitome_eval::BudgetSpec>,
    /// The measurement: the future of cut sessions, folders of probes, or the summaries that agents recorded
    #[arg(long, value_enum, default_value_t = SubjectArg::Future)]
    pub(crate) what: SubjectArg,
    /// Two methods whose paired differences are shown, or one that all others are compared with; without it the first method
    /// that is named is what the others are compared with, or baseline:identifiers where it is the only one; with --by and
    /// --html each is compared with every baseline too
    #[arg(long, value_name = "A[,B]")]
    pub(crate) compare: Option<String>,
    /// Show the tables once more for each kind of task, format or repository, with 95 % intervals
    #[arg(long, value_enum)]
    pub(crate) by: Option<GroupingArg>,
    /// The places where sessions are cut, as shares of their tokens
    #[arg(long, value_name = "SHARES", value_delimiter = ',', default_value = "0.5", value_parser = share)]
    pub(crate) cut: Vec<f64>,
    #[command(flatten)]
    pub(crate) least: MinimumSizeArgs,
    /// Only sessions of this kind of task, by the detector
    #[arg(long, value_name = "KIND", value_parser = name_parser::<TaskKind>())]
    pub(crate) task: Option<TaskKind>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Draw this many sessions
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// The seed of the sample and of the bootstrap
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Leave recorded reasoning in the sessions
    #[arg(long)]
    pub(crate) reasoning: bool,
    /// Name every file and session that was left out, with the reason
    #[arg(long)]
    pub(crate) left_out: bool,
    /// The file for every case, as JSON lines, each as soon as it is measured
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,
    /// The file for the report, as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    // The last: what follows would stand under its heading.
    #[command(flatten)]
    pub(crate) model: MeasuredModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// A folder of probed sessions, those in its held-out.txt apart [default: benches/sessions]
    pub(crate) folder: Option<PathBuf>,
    /// The methods to measure, as `eval` has them. The baselines are always measured
    #[arg(short, long, value_name = "A,B,C", value_delimiter = ',', default_value = "default")]
    pub(crate) methods: Vec<String>,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    /// A price table in TOML for what models take for summaries; its models are added to those that ship, or replace them
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// The file for the report, as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the counts as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: MeasuredModelArgs,
}

/// A model that is measured beside the methods: it summarises the older part of a session, and the newest messages stay.
#[derive(Debug, Args)]
#[command(next_help_heading = "A model that summarises the older part, as most runtimes have it, beside the methods")]
pub(crate) struct MeasuredModelArgs {
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// A folder that keeps the model's answers from run to run, so that a run can be taken up again
    #[arg(long, value_name = "FOLDER", requires = "model_url")]
    pub(crate) model_cache: Option<PathBuf>,
}

/// Other compactors, run beside the methods.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs {
    /// Another compactor: a shell command that reads {"messages": […], "budget_tokens": N}, messages as OpenAI chat takes them,
    /// and writes {"messages": […]}; tables call it NAME. Can be repeated
    #[arg(long = "command", value_name = "NAME=COMMAND", value_parser = compactor)]
    pub(crate) compactors: Vec<Compactor>,
    /// The most seconds of such a command for one session at one budget
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) command_timeout: u64,
}

/// A compactor that is a command.
#[derive(Debug, Clone)]
pub(crate) struct Compactor {
    pub(crate) name: String,
    pub(crate) command: String,
}

fn compactor(text: &str) -> Result<Compactor, String> {
    let (name, command) = text.split_once('=').unwrap_or_default();
    let is_name = |char: char| char.is_ascii_alphanumeric() || "-_. ".contains(char);
    if name.trim().is_empty() || command.trim().is_empty() || !name.chars().all(is_name) {
        return Err(
            "takes a name of letters, digits, `-`, `_`, `.` and a command, such as trim='python3 trim.py'".to_owned()
        );
    }
    Ok(Compactor { name: name.trim().to_owned(), command: command.to_owned() })
}

/// The least size of a session that is measured.
#[derive(Debug, Args)]
pub(crate) struct MinimumSizeArgs {
    /// The least tokens of a session, such as 20k
    #[arg(long, value_name = "TOKENS", default_value = "20k", value_parser = tokens_or_none)]
    pub(crate) min_tokens: u32,
    /// The least tool calls behind the cut
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_calls: u32,
    /// The least strings that later calls needed
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_needed: u32,
}

/// The recorded sessions that are taken.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only sessions of this format
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Only sessions whose file, name or file/name fits this pattern of `*` and `?`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupingArg {
    /// The kind of task, by the detector
    Kind,
    /// The recording's format
    Format,
    /// The repository that a probed session worked in
    Repository,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubjectArg {
    /// Sessions are cut; the calls behind the cut show what the agent needed
    #[value(alias = "cases")]
    Future,
    /// Folders of sessions up to a cut, with questions whose facts the result must show
    Probes,
    /// Sessions are cut where the agent compacted; its summary is measured beside the methods at the same size
    Recorded,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Files of recorded sessions, and folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Policies side by side: default, tournament, a preset, set:KEY=VALUE+KEY=VALUE, chain:a+b+c, config:FILE, own:AGENT (the
    /// compaction that claude-code, codex, opencode or pi comes with). `never` and `recorded`, the compactions that the
    /// recording holds, are always replayed
    #[arg(short, long, value_name = "A,B,C", value_delimiter = ',', default_value = "default")]
    pub(crate) policies: Vec<String>,
    /// The model's context window, over that of the configurations [default: 200000, or theirs]
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(crate) window: Option<u32>,
    /// The model whose prices are used
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet-5")]
    pub(crate) model: String,
    /// A price table in TOML; its models are added to those that ship, or replace them
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// The least tokens of a session, such as 20k
    #[arg(long, value_name = "TOKENS", default_value = "0", value_parser = tokens_or_none)]
    pub(crate) min_tokens: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Sessions whose timeline is shown [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) timeline: Option<usize>,
    /// Print JSON lines: every session under every policy with its turns, then the totals
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Files and folders of recorded sessions to search on; without --verify half of them are kept for verifying
    #[arg(required = true)]
    pub(crate) train: Vec<PathBuf>,
    /// Files and folders of recorded sessions to verify on
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) verify: Vec<PathBuf>,
    /// Strategies that chains are made of [default: all that need no model]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) strategies: Vec<String>,
    /// Settings that are tried, such as transcript.tail_share [default: none]
    #[arg(long, value_name = "A.X,B.Y", value_delimiter = ',')]
    pub(crate) settings: Vec<String>,
    /// Budgets: shares of the tokens before the cut, such as 40% or 0.4, or tokens, such as 8k
    #[arg(short, long, value_name = "X,Y,Z", value_delimiter = ',', default_value = "0.4,0.2,0.1")]
    pub(crate) budgets: Vec<epitome_eval::BudgetSpec>,
    /// The weights of the figures: bound, quotes, files, rules
    #[arg(long, value_name = "NAME=WEIGHT,…", default_value = "bound=0.5,quotes=0.2,files=0.15,rules=0.15")]
    pub(crate) weights: epitome_eval::tune::Weights,
    /// The most candidates that are measured, on all sessions or on part of them
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = trials)]
    pub(crate) trials: usize,
    /// The seed of the split, of the candidates drawn and of the bootstrap
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) least: MinimumSizeArgs,
    /// Name every file and session that was left out, with the reason
    #[arg(long)]
    pub(crate) left_out: bool,
    /// The file for the configuration [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// A number of tokens that may be 0.
fn tokens_or_none(text: &str) -> Result<u32, String> {
    if text.trim() == "0" { Ok(0) } else { tokens(text) }
}

/// How many candidates are measured: without one there is nothing to advise.
fn trials(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "takes a whole number, 1 or more, such as 120".to_owned())
}

/// A share above 0 and below the whole.
fn share(text: &str) -> Result<f64, String> {
    let part = epitome::amount::share(text)?;
    if part < 1.0 { Ok(part) } else { Err("takes a share below 100 %, such as 50% or 0.5".to_owned()) }
}
