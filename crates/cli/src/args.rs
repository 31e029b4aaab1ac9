//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use epitome::engine::Mode;
use epitome::formats::Format;
use epitome::strategy::TaskKind;

/// Fits an agent's session into a token budget.
///
/// A session in any agent's format goes in; one that the provider accepts, at or under the budget, comes out, with a
/// reason for everything that left.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print no report and no warnings, only what was asked for
    #[arg(short, long, global = true, display_order = 1000)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a session into a budget
    Compact(CompactArgs),
    /// Tell whether a session should be compacted
    Check(CheckArgs),
    /// Show what a session is made of
    Inspect(InspectArgs),
    /// Write a session in another format
    Convert(ConvertArgs),
    /// List the compactions of a session, with what each did and what left
    History(HistoryArgs),
    /// Write a session without one of its compactions, or what a handle stands for
    Restore(RestoreArgs),
    /// Find what was said, in the context or out of it, in a session, a folder or a store
    Search(crate::commands::search::SearchArgs),
    /// List the strategies, or show the page of one
    Strategies(StrategiesArgs),
    /// Hold methods against each other on recorded sessions
    Eval(EvalArgs),
    /// Replay recorded sessions turn by turn, and tell what they cost
    Replay(ReplayArgs),
    /// Search for chains and settings that do better than the defaults
    Tune(TuneArgs),
    /// Run the service: compactions over HTTP, and a proxy in front of a provider
    Serve(crate::commands::serve::ServeArgs),
    /// Serve what was said in a session as tools for its model (Model Context Protocol)
    Mcp(crate::commands::mcp::McpArgs),
    /// Write a commented configuration file
    Init(InitArgs),
    /// Write completions for a shell
    Completions(CompletionsArgs),
}

/// Which session to read, and how.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The session's file, plain or gzipped; `-` is standard input
    pub(crate) file: PathBuf,
    /// The file's format; recognised from the content without it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true,
          long_help = every_format())]
    pub(crate) from: Option<Format>,
    /// One session of a file of several: its number from 0, or its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// Refuse damaged lines instead of passing over them with a warning
    #[arg(long)]
    pub(crate) strict: bool,
    /// Start from what the model saw last, or from the full history
    #[arg(long, value_enum, default_value_t = ViewArg::Compacted)]
    pub(crate) view: ViewArg,
    /// What is not asked of the person.
    #[arg(skip)]
    pub(crate) reading: Reading,
}

/// How a command reads its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// The command's option that names the format.
    pub(crate) format_option: &'static str,
    /// Whether what a helper of an agent did is a session.
    pub(crate) side_chains: bool,
}

impl Default for Reading {
    /// As nearly all commands do.
    fn default() -> Self {
        Self { format_option: "--from", side_chains: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// With the compactions that the recording holds
    Compacted,
    /// Every message ever said, no summary
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Tokens that the messages may take, such as 32000 or 32k, or a share of what they take now, such as 30%; without it,
    /// the target and the hard threshold of --config
    #[arg(short, long, value_name = "TOKENS", value_parser = budget, allow_hyphen_values = true,
          required_unless_present = "config")]
    pub(crate) budget: Option<BudgetArg>,
    /// Strategies in the order in which they are asked, or the name of one of the configuration's chains
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', conflicts_with = "task")]
    pub(crate) chain: Option<Vec<String>>,
    /// The kind of task, where you know it better than the detector
    #[arg(long, value_name = "KIND", value_parser = task_parser())]
    pub(crate) task: Option<TaskKind>,
    /// How the chain is chosen [default: adaptive, or the configuration's]
    #[arg(long, value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format to write; the input's where that can be written, else openai-chat
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Option<Format>,
    /// What to keep in focus; the newest user message without it
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Who writes summaries [default: rules, or the configuration's]
    #[arg(long, value_parser = summarizer_parser())]
    pub(crate) summarizer: Option<String>,
    /// The agent whose settings count, one of the configuration's [agents]
    #[arg(long, value_name = "NAME", requires = "config")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Show what would be done and write no session
    #[arg(long, conflicts_with = "output")]
    pub(crate) preview: bool,
    /// With --preview: the report as JSON on standard output
    #[arg(long, requires = "preview")]
    pub(crate) json: bool,
    /// Where the session goes [default: standard output]; a name that ends in .gz is compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Allow -o to replace the input by what no longer holds all of it
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Where the report goes as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Compact every session of a file of several, each to the budget; writes JSON lines
    #[arg(long, conflicts_with = "session")]
    pub(crate) all: bool,
}

/// Which model writes summaries. Each of these means --summarizer llm, where no summarizer is named.
#[derive(Debug, Args)]
#[command(next_help_heading = "Summaries by a model (--summarizer llm)")]
pub(crate) struct ModelArgs {
    /// The channel to the model, one of the configuration's [channels]
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with = "model_url")]
    pub(crate) channel: Option<String>,
    /// The model, as the service calls it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The service's address, such as http://localhost:11434/v1, for a model that no configuration names
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) model_url: Option<String>,
    /// What the service at --model-url speaks
    #[arg(long, requires = "model_url", value_parser = kind_parser(), default_value = "openai")]
    pub(crate) model_kind: String,
    /// Tokens that a request to the model and its answer may take together [default: what is known of the model, or 32768]
    #[arg(long, value_name = "TOKENS", requires = "model_url", value_parser = tokens)]
    pub(crate) model_window: Option<u32>,
    /// The environment variable with the key of the service at --model-url; without it the service gets none
    #[arg(long, value_name = "VAR", requires = "model_url")]
    pub(crate) key_variable: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The model's context window, such as 200000 or 200k [default: 200000, or the configuration's]
    #[arg(long, value_name = "TOKENS", value_parser = tokens, allow_hyphen_values = true)]
    pub(crate) window: Option<u32>,
    /// The model that the session is for: its window and reserve, as far as --window does not say it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The agent whose settings count, one of the configuration's [agents]
    #[arg(long, value_name = "NAME", requires = "config")]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Check every session of a file of several
    #[arg(long, conflicts_with = "session")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Format,
    /// Where the session goes [default: standard output]; a name that ends in .gz is compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Allow -o to replace the input by what no longer holds all of it
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Convert every session of a file of several; writes JSON lines
    #[arg(long, conflicts_with = "session")]
    pub(crate) all: bool,
}

/// Which recorded session to look back at.
#[derive(Debug, Args)]
pub(crate) struct KeptArgs {
    /// The session's file: one that epitome keeps a session in, or one of an agent that records its compactions (Claude Code,
    /// Codex, Pi); `-` is standard input
    pub(crate) file: PathBuf,
    /// The file's format, where it is an agent's; recognised from the content without it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// One session of a file of several: its number from 0, or its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// What is not asked of the person.
    #[arg(skip)]
    pub(crate) reading: Reading,
}

impl KeptArgs {
    /// The same for a file that is read as an agent's.
    pub(crate) fn input(&self) -> InputArgs {
        InputArgs {
            file: self.file.clone(),
            from: self.from,
            session: self.session.clone(),
            strict: false,
            view: ViewArg::Compacted,
            reading: self.reading,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
    /// The compaction to take back, by its number in the history [default: the newest in force]
    #[arg(long, value_name = "N", conflicts_with = "handle")]
    pub(crate) epoch: Option<u32>,
    /// What left under this handle, as marks, summaries and found passages name it, or the message of this number, and
    /// nothing else: a text as it was, messages as a request
    #[arg(long, value_name = "HANDLE|N")]
    pub(crate) handle: Option<String>,
    /// The format to write; the file's own where that can be written, else openai-chat
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Option<Format>,
    /// Where it goes [default: standard output]; a name that ends in .gz is compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Allow -o to replace the input by what no longer holds all of it
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// The strategy to show
    pub(crate) name: Option<String>,
    /// The configuration file, for the strategies of your own that it names
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Files of recorded sessions, and folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What is measured: default, tournament, a preset, a chain's or strategy's name, chain:a+b+c,
    /// set:KEY=VALUE+KEY=VALUE for the default with other settings, config:FILE,
    /// baseline:newest|tail|cleared|identifiers, or command:… for an outside method, which reads
    /// {"messages": […], "budget_tokens": N} and writes {"messages": […]}. The baselines are always measured
    #[arg(short, long, value_name = "A,B,C", value_delimiter = ',', default_value = "default")]
    pub(crate) methods: Vec<String>,
    /// Budgets: shares of what stands before the cut, such as 0.4, or tokens, such as 8k
    /// [default: 0.4,0.2,0.1, and 0.3,0.15,0.08 for probes]
    #[arg(short, long, value_name = "X,Y,Z", value_delimiter = ',')]
    pub(crate) budgets: Vec<epitome_eval::BudgetSpec>,
    /// What is measured against what: the future of cut sessions, folders of probes, the summaries that agents recorded,
    /// or the evidence that questions about chats need
    #[arg(long, value_enum, default_value_t = WhatArg::Future)]
    pub(crate) what: WhatArg,
    /// Questions of each chat that are asked with the question as focus
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) questions: usize,
    /// With --what probes: show what N passages of a search for each question answer, alone and beside every method's
    /// context
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) search: Option<u16>,
    /// Compact to each budget also in N compactions one after the other, such as 3,10, and show every figure beside that of
    /// one; sessions keep their log
    #[arg(long, value_name = "N,M", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) generations: Vec<u32>,
    /// The same through these budgets, such as 0.6,0.35,0.15; the last one is the final budget
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', conflicts_with_all = ["generations", "budgets"])]
    pub(crate) through: Vec<epitome_eval::BudgetSpec>,
    /// With --generations or --through: write each result as OpenAI chat and read it back before the next compaction
    #[arg(long)]
    pub(crate) piped: bool,
    /// An outside method as command:… is one, but whole: commas in it are its own. Can be given several times
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// How long an outside method may take for one case at one budget
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub(crate) command_timeout: Duration,
    /// Two methods whose paired differences are shown, or one that all others are held against; without it each method is
    /// held against baseline:identifiers, with --by, --markdown and --html against every baseline
    #[arg(long, value_name = "A[,B]")]
    pub(crate) compare: Option<String>,
    /// Show the tables once more for each kind of task, format or repository, with 95 % intervals
    #[arg(long, value_enum)]
    pub(crate) by: Option<ByArg>,
    /// Where sessions are cut: shares of their tokens
    #[arg(long, value_name = "SHARES", value_delimiter = ',', default_value = "0.5", value_parser = share)]
    pub(crate) cut: Vec<f64>,
    /// Tokens that a session has at least, such as 20k
    #[arg(long, value_name = "TOKENS", default_value = "20k", value_parser = tokens_or_none)]
    pub(crate) min_tokens: u32,
    /// Tool calls behind the cut, at least
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_calls: u32,
    /// Strings that later calls needed, at least
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_needed: u32,
    /// Only sessions of this kind of task, by the labels
    #[arg(long, value_name = "KIND", value_parser = task_parser())]
    pub(crate) task: Option<TaskKind>,
    /// Only sessions of this format
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Only sessions whose file, name or file/name fits this pattern of `*` and `?`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// A Markdown table with the columns `file` and `type`: the kinds of task; for probes also `repo`, the repository of
    /// each folder
    /// [default: MANIFEST.md in or beside the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Draw this many sessions
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// The seed of the sample and of the bootstrap
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Leave recorded reasoning in the sessions
    #[arg(long)]
    pub(crate) reasoning: bool,
    /// With --what probes: write every method's contexts, shuffled and without names, with their questions into a new
    /// folder for readers; the graders' sheet and the key go beside it
    #[arg(long, value_name = "DIR", conflicts_with = "grades")]
    pub(crate) export: Option<PathBuf>,
    /// With --what probes: a sheet of grades for an export (columns context, question, grade, grader); can be given several
    /// times
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) grades: Vec<PathBuf>,
    /// The key that --export wrote
    #[arg(long, value_name = "FILE", requires = "grades")]
    pub(crate) key: Option<PathBuf>,
    /// With --what probes: let the model of this channel of --config answer from each context, and grade the answers
    #[arg(long, value_name = "CHANNEL", requires = "config", conflicts_with = "grades")]
    pub(crate) judge: Option<String>,
    /// The judging model, where the channel has several
    #[arg(long, value_name = "NAME", requires = "judge")]
    pub(crate) judge_model: Option<String>,
    /// The configuration file with the channel of --judge
    #[arg(long, value_name = "FILE", requires = "judge")]
    pub(crate) config: Option<PathBuf>,
    /// Where every case goes as JSON lines, each as soon as it is measured
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Go on where an earlier run stopped: rows in the file of --jsonl that were computed from the same session, method,
    /// budget and version are not measured again
    #[arg(long, requires = "jsonl")]
    pub(crate) resume: bool,
    /// Where the report goes as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the tables with their 95 % intervals in Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// The kind of task, by the labels
    Kind,
    /// The recording's format
    Format,
    /// The repository that a probed session worked in
    Repository,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhatArg {
    /// Sessions are cut; what the agent did next shows what it needed
    #[value(alias = "cases")]
    Future,
    /// Folders of sessions up to a cut, with questions whose facts the result must show
    Probes,
    /// Sessions are cut where the agent compacted; its summary stands beside the methods at the same size
    Recorded,
    /// Chats with questions whose evidence is recorded
    Evidence,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Files of recorded sessions, and folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Policies side by side: default, tournament, a preset, chain:a+b+c, config:FILE. `never` and `recorded`, the
    /// compactions that the recording holds, are always replayed
    #[arg(short, long, value_name = "A,B,C", value_delimiter = ',', default_value = "default")]
    pub(crate) policies: Vec<String>,
    /// The model's context window, over that of the configurations [default: 200000, or theirs]
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(crate) window: Option<u32>,
    /// The model whose prices count
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet-5")]
    pub(crate) model: String,
    /// A price table in TOML; its models are added to those that ship, or replace them
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Tokens that a session has at least, such as 20k
    #[arg(long, value_name = "TOKENS", default_value = "0", value_parser = tokens_or_none)]
    pub(crate) min_tokens: u32,
    /// Only sessions of this format
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Only sessions whose file, name or file/name fits this pattern of `*` and `?`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
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
    /// Budgets: shares of what stands before the cut, such as 0.4, or tokens, such as 8k
    #[arg(short, long, value_name = "X,Y,Z", value_delimiter = ',', default_value = "0.4,0.2,0.1")]
    pub(crate) budgets: Vec<epitome_eval::BudgetSpec>,
    /// What counts how much: bound, quotes, files, rules
    #[arg(long, value_name = "NAME=WEIGHT,…", default_value = "bound=0.5,quotes=0.2,files=0.15,rules=0.15")]
    pub(crate) weights: epitome_eval::tune::Weights,
    /// Candidates that are measured at most, those measured on part of the sessions included
    #[arg(long, value_name = "N", default_value_t = 120)]
    pub(crate) trials: usize,
    /// The seed of the split, of what is drawn and of the bootstrap
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Tokens that a session has at least, such as 20k
    #[arg(long, value_name = "TOKENS", default_value = "20k", value_parser = tokens_or_none)]
    pub(crate) min_tokens: u32,
    /// Tool calls behind the cut, at least
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_calls: u32,
    /// Strings that later calls needed, at least
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_needed: u32,
    /// Where measurements go as JSON lines; what the file holds already is not measured again
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Where the configuration goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where the file goes; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "epitome.toml")]
    pub(crate) output: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the crate of a strategy of your own instead: lower-case words with hyphens, such as my-strategy
    #[arg(long, value_name = "NAME", conflicts_with_all = ["output", "force"])]
    pub(crate) strategy: Option<String>,
    /// The crate's folder [default: the strategy's name]
    #[arg(long, value_name = "DIR", requires = "strategy")]
    pub(crate) dir: Option<PathBuf>,
    /// A checkout of epitome, for the crate to depend on by its path
    #[arg(long, value_name = "PATH", requires = "strategy")]
    pub(crate) epitome: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

pub(crate) fn format_parser(filter: fn(Format) -> bool) -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL
        .iter()
        .filter(move |(format, ..)| filter(*format))
        .map(|(_, name, about)| clap::builder::PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

fn every_format() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|(_, name, _)| *name).collect();
    format!("The file's format; recognised from the content without it. One of {}", names.join(", "))
}

fn task_parser() -> impl TypedValueParser<Value = TaskKind> {
    PossibleValuesParser::new(TaskKind::ALL.map(TaskKind::as_str)).try_map(|name| name.parse::<TaskKind>())
}

fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    let modes = epitome::config::SelectMode::ALL;
    PossibleValuesParser::new(modes.iter().map(|(name, _)| *name))
        .try_map(|name| modes.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode).ok_or("no such mode"))
}

/// What the messages of a session may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BudgetArg {
    /// So many tokens.
    Tokens(u32),
    /// A share of what they take now, above 0 and at most 1.
    Share(f64),
}

impl BudgetArg {
    /// In tokens, for messages that take `now`; 1 at least.
    pub(crate) fn of(self, now: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => ((f64::from(now) * share) as u32).max(1),
        }
    }
}

fn budget(text: &str) -> Result<BudgetArg, String> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        let wrong = "takes a whole number of tokens, such as 32000 or 32k, or a share of the session, such as 30%";
        return tokens(text).map(BudgetArg::Tokens).map_err(|problem| match problem.starts_with("takes a whole") {
            true => wrong.to_owned(),
            false => problem,
        });
    };
    let percent = percent.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let share = percent.map(|percent| BudgetArg::Share(percent / 100.0));
    share.ok_or_else(|| "takes a share above 0 and up to 100 %, such as 30%".to_owned())
}

/// A number of tokens, 1 or more, with an optional `k` or `m`.
fn tokens(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.trim().to_ascii_lowercase() {
        lower if lower.ends_with('k') => (lower.trim_end_matches('k').to_owned(), 1_000),
        lower if lower.ends_with('m') => (lower.trim_end_matches('m').to_owned(), 1_000_000),
        lower => (lower, 1),
    };
    let digits = digits.replace(['_', ','], "");
    let wrong = || "takes a whole number of tokens, such as 32000 or 32k".to_owned();
    if digits.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok()) {
        return Err("takes 1 token or more".to_owned());
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match number.map(u32::try_from) {
        Some(Ok(0)) => Err("takes 1 token or more".to_owned()),
        Some(Ok(tokens)) => Ok(tokens),
        Some(Err(_)) | None => Err(format!("is more than the {} tokens that can be counted", u32::MAX)),
    }
}

/// A number of tokens that may be 0.
fn tokens_or_none(text: &str) -> Result<u32, String> {
    if text.trim() == "0" { Ok(0) } else { tokens(text) }
}

/// A share between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "takes a share between 0 and 1, such as 0.5".to_owned())
}

/// A time above 0, and not above a day.
fn seconds(text: &str) -> Result<Duration, String> {
    const DAY: f64 = 86_400.0;
    let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= DAY);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "takes seconds above 0, 86400 at most, such as 30".to_owned())
}

fn summarizer_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(epitome::config::SummarizerChoice::ALL.iter().map(|(name, _)| *name))
}

fn kind_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(epitome::config::ChannelKindName::ALL.iter().map(|(name, _)| *name))
}
