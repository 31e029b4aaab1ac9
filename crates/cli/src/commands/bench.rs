//! `epitome bench`: everything that is measured of a method, on the sessions of the repository or on others of their form.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use epitome_eval::accounts_sheet;
use epitome_eval::bench::{Bench, BenchRun, bench_report, bench_sheets};

use crate::args::BenchArgs;
use crate::commands::eval::sheet;
use crate::commands::measure::{ARROWS, failure, legend_lines, measured_methods, prices};
use crate::failure::{CommandResult, Failure};
use crate::output::Target;
use crate::render::style::{FAINT, STRONG};
use crate::terminal;

/// The folder in the repository.
const SESSIONS: &str = "benches/sessions";

pub(crate) fn run(args: &BenchArgs, quiet: bool) -> CommandResult {
    let html = args.html.as_deref().map(|path| Target::new(Some(path), None)).transpose()?;
    let folder = folder(args)?;
    let prices = prices(args.prices.as_deref())?;
    let methods = measured_methods(&args.methods, &args.commands, &args.model)?;
    let newest = "baseline:newest".to_owned();
    let ours = methods.iter().map(|method| method.name()).filter(|name| !name.starts_with("baseline:"));
    let pairs: Vec<(String, String)> = ours.map(|name| (name.to_owned(), newest.clone())).collect();
    let progress = |done: usize, of: usize| {
        if !quiet {
            terminal::progress(done, of);
        }
    };
    let run = Bench { folder, methods, prices }.run(&progress).map_err(failure)?;
    if let Some(target) = &html {
        target.write(bench_report(&run, &pairs, 1).as_bytes())?;
    }
    if args.json {
        let mut text =
            serde_json::to_string_pretty(&serde_json::json!({ "rows": run.rows, "accounts": run.accounts }))?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        terminal::print(&page(&run))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder that is measured: the one that is named, or that of the repository in which the command runs.
fn folder(args: &BenchArgs) -> Result<PathBuf, Failure> {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from(SESSIONS));
    if folder.is_dir() {
        return Ok(folder);
    }
    let failure = Failure::usage_text(format!("there is no folder {}", folder.display()));
    Err(failure.with_help(match args.folder {
        Some(_) => "name a folder of probed sessions".to_owned(),
        None => {
            format!("run it in a checkout of the repository, which has {SESSIONS}, or name a folder of probed sessions")
        }
    }))
}

fn page(run: &BenchRun) -> String {
    let mut text = format!(
        "{FAINT}What a context shows is an upper bound on what a model remembers, not an accuracy. Shares are over everything \
         that was counted.{FAINT:#}\n"
    );
    for table in bench_sheets(&run.rows).into_iter().chain(accounts_sheet(&run.accounts)) {
        let _ = write!(text, "\n{STRONG}{}{STRONG:#}\n{}", table.name, sheet(&table.sheet));
        text.push_str(&legend_lines(&table.legend));
    }
    let _ = writeln!(text, "\n{FAINT}{ARROWS}{FAINT:#}");
    text
}
