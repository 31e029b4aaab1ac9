//! The arguments of `search`.

use std::path::PathBuf;

use clap::Args;
use epitome::formats::Format;
use epitome::recall::{Query, Source};

use super::input::format_parser;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The session's file, plain or gzipped, in any format; a folder for all sessions in it; `-` is standard input
    pub(crate) file: PathBuf,
    /// The words to find: a question, and names that the text is likely to use
    #[arg(required_unless_present_any = ["source", "newest", "also"])]
    pub(crate) words: Vec<String>,
    /// One more query, whose scores are added; can be given several times
    #[arg(long, value_name = "WORDS")]
    pub(crate) also: Vec<String>,
    /// Whose words to search: user, assistant, tool (calls and what they printed), file (of these, what names a file)
    /// [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) source: Vec<Source>,
    /// Order good matches by age, newest first; without words, show the newest passages. For one session
    #[arg(long)]
    pub(crate) newest: bool,
    /// Passages, at most; up to 100
    #[arg(long, value_name = "N", default_value_t = Query::default().limit)]
    pub(crate) limit: usize,
    /// Characters of all passages together, at most; up to 200,000
    #[arg(long, value_name = "N", default_value_t = Query::default().characters)]
    pub(crate) characters: usize,
    /// The page of passages, from 1 to 20
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// The file's format; recognised from the content without it. The help of `convert` lists all
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// One session of a file of several, by its number from 0 or its id [default: all of them]
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
