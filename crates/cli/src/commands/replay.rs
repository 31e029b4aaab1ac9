//! `epitome replay`: recorded sessions turn by turn under policies, and what they cost.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use epitome::engine::Status;
use epitome_eval::Filter;
use epitome_eval::replay::{Model, ReplayEpoch, ReplayPlan, ReplayRun, ReplayedSession, Total, policies, totals};
use serde::Serialize;

use crate::args::ReplayArgs;
use crate::commands::measure::{failure, fewer, none_fits, prices};
use crate::failure::{CommandResult, Failure};
use crate::render::bar::bar;
use crate::render::style::{BAD, FAINT, GOOD, STRONG, WARN};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{columns, duration, number, percent, plural, width};
use crate::terminal;

/// Columns that the totals take with readable names beside them.
const FIGURES: usize = 130;
/// Columns of a bar of the timeline.
const BAR: usize = 24;

/// A line that `--json` prints.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ReplayLine<'a> {
    Session(&'a ReplayedSession),
    Total {
        model: &'a str,
        window: u32,
        #[serde(flatten)]
        total: &'a Total,
    },
}

pub(crate) fn run(args: &ReplayArgs, quiet: bool) -> CommandResult {
    let plan = plan(args)?;
    let progress = |done: usize, of: usize| {
        if !quiet {
            terminal::progress(done, of);
        }
    };
    let run = plan.run(&progress).map_err(failure)?;
    if run.rows.is_empty() {
        let failure = none_fits(run.sessions, &args.paths, &BTreeSet::new());
        return Err(failure.with_help(fewer(&plan.filter)));
    }
    let totals = totals(&run.rows, &plan.model.price);
    if args.json {
        let mut lines = Vec::new();
        let sessions = run.rows.iter().map(ReplayLine::Session);
        let (model, window) = (plan.model.name.as_str(), plan.model.budget.window);
        for line in sessions.chain(totals.iter().map(|total| ReplayLine::Total { model, window, total })) {
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
        }
        terminal::standard(&lines)?;
    } else {
        terminal::print(&page(&run, &totals, &plan, args.timeline))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &ReplayArgs) -> Result<ReplayPlan, Failure> {
    let prices = prices(args.prices.as_deref())?;
    let price = prices.price(&args.model).map_err(|error| failure(error.into()))?.clone();
    let mut config = epitome::Config::default();
    if let Some(window) = args.window {
        config
            .set("budget.window", &window.into())
            .map_err(|problem| Failure::usage_text(format!("--window {problem}")))?;
    }
    Ok(ReplayPlan {
        paths: args.paths.clone(),
        policies: policies(&args.policies, args.window, &epitome::registry()).map_err(failure)?,
        model: Model { name: args.model.clone(), price, prices, budget: config.budget() },
        filter: Filter {
            min_tokens: args.min_tokens,
            format: args.filter.format.map(|format| format.as_str().to_owned()),
            only: args.filter.only.clone(),
            ..Filter::NONE
        },
    })
}

/// Dollars with the digits that say something.
fn dollars(money: f64) -> String {
    if money == 0.0 {
        "$0".to_owned()
    } else if money < 0.1 {
        format!("${money:.4}")
    } else {
        format!("${money:.2}")
    }
}

fn page(run: &ReplayRun, totals: &[Total], plan: &ReplayPlan, timeline: Option<usize>) -> String {
    let model = &plan.model;
    let note = "The messages are those of the recording:\nwhat an agent would have done differently is not known.";
    let sessions: Vec<&[ReplayedSession]> =
        run.rows.chunk_by(|a, b| (&a.file, &a.session) == (&b.file, &b.session)).collect();
    let mut text = format!(
        "{STRONG}{}{STRONG:#} {FAINT}of {} read; {} at a window of {}. {note}{FAINT:#}\n",
        plural(sessions.len(), "session"),
        number(run.sessions as u64),
        model.name,
        number(model.budget.window),
    );
    let shown = timeline.unwrap_or(10);
    for rows in sessions.iter().take(shown) {
        text.push_str(&session(rows));
    }
    if sessions.len() > shown {
        let _ =
            writeln!(text, "\n{FAINT}… and {} more: --timeline N{FAINT:#}", number((sessions.len() - shown) as u64));
    }
    text.push_str(&table(totals));
    text
}

/// The timeline of a session: a line for each policy, and one for each compaction.
fn session(rows: &[ReplayedSession]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!(
        "\n{STRONG}{}{STRONG:#} {} {FAINT}{} tokens, {}{FAINT:#}\n",
        first.file,
        if first.session == first.file { "" } else { first.session.as_str() },
        number(first.session_tokens),
        plural(first.turns.len(), "turn"),
    );
    let peak = |row: &ReplayedSession| row.turns.iter().map(|turn| turn.spent.input).max().unwrap_or(0);
    let most = rows.iter().map(peak).max().unwrap_or(0);
    let names = rows.iter().map(|row| columns(&row.policy)).fold(24, usize::max);
    for row in rows {
        let money: f64 = row.turns.iter().map(|turn| turn.money).sum::<f64>()
            + row.epochs.iter().map(|epoch| epoch.summary_money).sum::<f64>();
        let impossible = row.turns.iter().filter(|turn| turn.impossible).count();
        let (style, over) = match impossible {
            0 => (GOOD, String::new()),
            count => (BAD, format!("  {BAD}{} over the window{BAD:#}", plural(count, "turn"))),
        };
        let _ = writeln!(
            text,
            "  {:<names$} {}  {:>9}  peak {:>9}{over}",
            row.policy,
            bar(peak(row), most, BAR, style),
            dollars(money),
            number(peak(row)),
        );
        for epoch in &row.epochs {
            text.push_str(&timeline(epoch, most));
        }
    }
    text
}

fn timeline(epoch: &ReplayEpoch, most: u64) -> String {
    let summary =
        if epoch.summary_money > 0.0 { format!(", summary {}", dollars(epoch.summary_money)) } else { String::new() };
    let trigger = format!("{:?}", epoch.trigger).to_lowercase();
    let what = match epoch.status {
        Status::Compacted | Status::NearEmpty => format!(
            "{} → {} ({}), cache loss {}{summary}",
            number(epoch.tokens_before),
            number(epoch.tokens_after),
            percent(epoch.tokens_after, epoch.tokens_before),
            number(epoch.cache_loss_tokens),
        ),
        Status::NoChange => format!("{}: nothing could leave", number(epoch.tokens_before)),
        Status::Infeasible => format!("{}: what must stay does not fit", number(epoch.tokens_before)),
        Status::RolledBack => format!("{}: no chain kept enough, rolled back", number(epoch.tokens_before)),
    };
    let style = if epoch.status == Status::Compacted { FAINT } else { WARN };
    let drawn = bar(epoch.tokens_after, most, BAR, style);
    format!("    {FAINT}turn {:>5} {trigger:<11}{FAINT:#} {drawn}  {what}\n", epoch.turn)
}

fn table(totals: &[Total]) -> String {
    // Policies differ in the ends of their names.
    let mut setting = vec![Column::Left];
    setting.extend([Column::Right; 12]);
    let headings = [
        "policy",
        "sessions",
        "turns",
        "over",
        "epochs",
        "kept",
        "input",
        "cached",
        "written",
        "output",
        "summaries",
        "money",
        "of never",
    ];
    let mut table = Table::new(&setting, &headings);
    let tokens = |count: u64| if count < 10_000 { number(count) } else { format!("{}k", number(count / 1_000)) };
    for total in totals {
        let flagged = |count: u32| if count == 0 { Cell::from("0") } else { Cell::styled(number(count), BAD) };
        let share = total.against_never.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        let style = if total.against_never.is_some_and(|share| share < 1.0) { GOOD } else { FAINT };
        let failed = if total.failed_epochs > 0 { format!(" +{} failed", total.failed_epochs) } else { String::new() };
        table.row([
            total.policy.clone().into(),
            number(total.sessions).into(),
            number(total.turns).into(),
            flagged(total.impossible_turns),
            (number(total.epochs) + &failed).into(),
            total.kept_share.map_or_else(|| "–".to_owned(), |kept| format!("{:.0} %", kept * 100.0)).into(),
            tokens(total.spent.input).into(),
            percent(total.spent.cached, total.spent.input).into(),
            tokens(total.spent.cache_writes).into(),
            tokens(total.spent.output).into(),
            dollars(total.summary_money).into(),
            Cell::styled(dollars(total.money), STRONG),
            Cell::styled(share, style),
        ]);
    }
    let mut text = format!("\n{STRONG}totals{STRONG:#}\n{}", table.render(width().max(FIGURES)));
    for total in totals.iter().filter(|total| total.waited_micros > 0) {
        let _ = writeln!(
            text,
            "  {FAINT}{}: waited {} for {}{FAINT:#}",
            total.policy,
            duration(Duration::from_micros(total.waited_micros)),
            plural((total.epochs + total.failed_epochs) as usize, "compaction"),
        );
    }
    for total in totals.iter().filter(|total| total.impossible_turns > 0) {
        let _ = writeln!(
            text,
            "  {FAINT}{}: {} over the window, which no provider would have taken, make up {} of its {}{FAINT:#}",
            total.policy,
            plural(total.impossible_turns as usize, "turn"),
            dollars(total.impossible_money),
            dollars(total.money),
        );
    }
    text
}
