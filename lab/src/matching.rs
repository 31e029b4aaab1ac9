//! `matching`: which lines of recorded sessions their later edits had to match.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use epitome::strategy::{Language, View};
use epitome::tokens::ExactCounter;
use epitome_eval::{Case, CaseId, CaseOptions};
use epitome_reading::{Source, SummaryForm, match_features};
use serde_json::json;

use crate::refetch::command::sessions_of;

/// Shares of a session's tokens at which it is cut: what is behind a cut says what had to be matched.
const CUTS: [f64; 6] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// Tokens of the shortest session: in a shorter one everything is new.
const LEAST_TOKENS: u32 = 10_000;
/// The fewest lines that later edits had to match: fewer say nothing of the others.
const LEAST_MATCHED: usize = 3;

/// The sessions that are looked at.
#[derive(Debug, Args)]
pub struct MatchingArgs {
    /// Files of recorded sessions
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

/// Prints a line of JSON for each cut of a session behind which edits had something to match: the file, and of each line of a
/// tool its share of what had to be matched, then its features, in the order of `epitome_reading::MatchFeatures`. What stands in several lines is shared by them.
pub fn run(args: &MatchingArgs) -> Result<()> {
    for path in &args.paths {
        let file = path.to_string_lossy();
        for session in sessions_of(path)? {
            for cut in CUTS {
                let id =
                    CaseId { file: file.clone().into_owned(), session: String::new(), cut_permille: 0, part: None };
                let options = CaseOptions { cut, ..CaseOptions::default() };
                let Some(case) = Case::new(id, "", &session, &options)? else { continue };
                if case.session_tokens >= LEAST_TOKENS && case.quoted_lines().len() >= LEAST_MATCHED {
                    let lines = lines_of(&case);
                    println!("{}", json!({ "file": file, "cut": cut, "lines": lines }));
                }
            }
        }
    }
    Ok(())
}

/// Returns for each line of a tool its share of what had to be matched, then its features. Linear in the session.
fn lines_of(case: &Case) -> Vec<Vec<f32>> {
    let messages: Vec<_> = case.prefix.view().iter().map(|entry| entry.message.clone()).collect();
    View::read_messages_of(Some(&case.prefix), &messages, &ExactCounter::O200kBase, Language::English, |view| {
        let source = Source::read(view, |_| SummaryForm::default());
        let rows = match_features(&source);
        let mut places: HashMap<&str, Vec<usize>> =
            case.quoted_lines().iter().map(|line| (line.trim(), Vec::new())).collect();
        for (at, (line, _)) in rows.iter().enumerate() {
            if let Some(places) = places.get_mut(source.lines[*line as usize].text().trim()) {
                places.push(at);
            }
        }
        let mut shares = vec![0.0_f32; rows.len()];
        for places in places.values() {
            places.iter().for_each(|at| shares[*at] += 1.0 / places.len() as f32);
        }
        rows.iter().zip(shares).map(|((_, row), share)| [&[share], row.as_slice()].concat()).collect()
    })
}
