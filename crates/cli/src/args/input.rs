//! Which session is read, and how.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use epitome::formats::Format;

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
    /// Refuse a file with damaged lines; without it they are left out with a warning
    #[arg(long)]
    pub(crate) strict: bool,
    /// Read the session as the model saw it last, or its full history
    #[arg(long, value_enum, default_value_t = ViewArg::Compacted)]
    pub(crate) view: ViewArg,
    /// Whether the work of an agent's helper is a session; no option of the command line.
    #[arg(skip)]
    pub(crate) side_chains: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// With the compactions that the recording holds
    Compacted,
    /// Every message, without summaries
    Full,
}

/// Which recorded session to look back at.
#[derive(Debug, Args)]
pub(crate) struct RecordedSessionArgs {
    /// The session's file: one that epitome keeps a session in, or one of an agent that records its compactions (Claude Code,
    /// Codex, Pi); `-` is standard input
    pub(crate) file: PathBuf,
    /// The file's format, where it is an agent's; recognised from the content without it. The help of `convert` lists all
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// One session of a file of several: its number from 0, or its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// Whether the work of an agent's helper is a session; no option of the command line.
    #[arg(skip)]
    pub(crate) side_chains: bool,
}

impl RecordedSessionArgs {
    /// The arguments for a file that is read as an agent's.
    pub(crate) fn input(&self) -> InputArgs {
        InputArgs {
            file: self.file.clone(),
            from: self.from,
            session: self.session.clone(),
            strict: false,
            view: ViewArg::Compacted,
            side_chains: self.side_chains,
        }
    }
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
