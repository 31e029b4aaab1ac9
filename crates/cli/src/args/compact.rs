//! The arguments of `compact`.

use std::path::PathBuf;

use clap::Args;
use epitome::config::SummarizerChoice;
use epitome::engine::{Mode, Threshold};
use epitome::formats::Format;
use epitome::providers::chat::ChannelKind;
use epitome::session::MessageRange;
use epitome::strategy::TaskKind;

use super::config::ConfigArgs;
use super::input::{InputArgs, format_parser};
use super::output::OutputArgs;
use super::values::{name_parser, tokens, tokens_or_share};

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Tokens that the messages may take, such as 32000 or 32k, or a share of what they take now, such as 30% or 0.3; without
    /// it, the target and the hard threshold of --config; with --drop and neither of them, nothing else is done
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens_or_share, allow_hyphen_values = true,
          required_unless_present_any = ["config", "drop"])]
    pub(crate) budget: Option<Threshold>,
    /// Strategies in the order in which they are asked, or the name of one of the configuration's chains
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', conflicts_with = "task")]
    pub(crate) chain: Option<Vec<String>>,
    /// The kind of task, in place of the detector's answer
    #[arg(long, value_name = "KIND", value_parser = name_parser::<TaskKind>())]
    pub(crate) task: Option<TaskKind>,
    /// How the chain is chosen: that of the detected kind (adaptive), the one of all kinds that keeps most (tournament), or the
    /// one that --chain or the configuration names (fixed) [default: adaptive, or the configuration's]
    #[arg(long, value_parser = name_parser::<Mode>())]
    pub(crate) mode: Option<Mode>,
    #[command(flatten)]
    pub(crate) configuration: ConfigArgs,
    /// The format to write [default: the input's where that can be written, else openai-chat]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_writable))]
    pub(crate) to: Option<Format>,
    /// The question or text that matters most now [default: the newest user message]
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Messages that stay whole, each call with its results: '#37', '#40-#52', '..#36', '#53..', by their numbers in `epitome
    /// inspect` and `epitome search`
    #[arg(long, value_name = "MESSAGES", value_delimiter = ',')]
    pub(crate) keep: Vec<MessageRange>,
    /// Messages that leave before anything else does, each call with its results: as for --keep. What must stay is left out of
    /// a range
    #[arg(long, value_name = "MESSAGES", value_delimiter = ',')]
    pub(crate) drop: Vec<MessageRange>,
    /// Who writes summaries [default: rules, or the configuration's]
    #[arg(long, value_parser = name_parser::<SummarizerChoice>())]
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// Show the compaction without writing a session
    #[arg(long, conflicts_with = "output")]
    pub(crate) preview: bool,
    /// With --preview: the report as JSON on standard output
    #[arg(long, requires = "preview")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) target: OutputArgs,
    /// The file for the report, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    // The last: what follows would stand under its heading.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

impl CompactArgs {
    /// What is asked for a session that is read so, and compacted for the format `to`: all else is the configuration's.
    #[cfg(feature = "service")]
    pub(crate) fn new(input: InputArgs, to: Format, budget: Option<Threshold>, configuration: ConfigArgs) -> Self {
        Self {
            input,
            budget,
            configuration,
            to: Some(to),
            chain: None,
            task: None,
            mode: None,
            focus: None,
            keep: Vec::new(),
            drop: Vec::new(),
            summarizer: None,
            preview: false,
            json: false,
            target: OutputArgs { output: None, force: false },
            report: None,
            model: ModelArgs {
                channel: None,
                service: ServiceArgs {
                    model: None,
                    model_url: None,
                    model_kind: ChannelKind::OpenAi,
                    model_window: None,
                    key_variable: None,
                },
            },
        }
    }
}

/// Which model writes summaries. Each of these means --summarizer llm, where no summarizer is named.
#[derive(Debug, Args)]
#[command(next_help_heading = "Summaries by a model (--summarizer llm)")]
pub(crate) struct ModelArgs {
    /// The channel to the model, one of the configuration's [channels]
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with = "model_url")]
    pub(crate) channel: Option<String>,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
}

/// A model and its service.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    /// The model's name at the service
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The service's address, such as http://localhost:11434/v1, for a model that no configuration names
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) model_url: Option<String>,
    /// The API of the service at --model-url
    #[arg(long, requires = "model_url", value_parser = name_parser::<ChannelKind>(), default_value = "openai")]
    pub(crate) model_kind: ChannelKind,
    /// Tokens that a request to the model and its answer may take together [default: what is known of the model, or 32768]
    #[arg(long, value_name = "TOKENS", requires = "model_url", value_parser = tokens)]
    pub(crate) model_window: Option<u32>,
    /// The environment variable with the key of that service; without it the service gets none
    #[arg(long, value_name = "VAR", requires = "model_url")]
    pub(crate) key_variable: Option<String>,
}
