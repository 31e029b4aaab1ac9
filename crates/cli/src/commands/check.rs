//! `epitome check`: tokens, share, urgency.

use std::process::ExitCode;

use epitome::Session;
use epitome::context::{Fullness, ReportedUsage, tool_definition_tokens};
use epitome::engine::Urgency;
use epitome::session::Trigger;
use epitome::strategy::Value;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::counter::counter_of;
use crate::failure::{CommandResult, Failure};
use crate::render::bar::bar;
use crate::render::style::{BAD, FAINT, GOOD, STRONG, WARN};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{number, percent, width};
use crate::{configuration, input, terminal};

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct CheckOutput<'a> {
    session: &'a str,
    #[serde(flatten)]
    fullness: Fullness,
    /// Tokens of the messages, as they are counted here.
    counted_tokens: u32,
    /// What the provider counted for the newest request; null where the recording does not say.
    usage: Option<ReportedUsage>,
    /// Whether the threshold is that of `[triggers] tokens`.
    #[serde(skip)]
    is_by_tokens: bool,
}

pub(crate) fn run(args: &CheckArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    let mut config = configuration::read_for_agent(&args.configuration, &registry)?;
    let mut set = |option: &str, key: &str, value: Value| {
        config.set(key, &value).map_err(|problem| Failure::usage_text(format!("{option} {problem}")))
    };
    if let Some(model) = &args.model {
        set("--model", "budget.model", model.as_str().into())?;
    }
    if let Some(window) = args.window {
        set("--window", "budget.window", window.into())?;
    }
    let runtime = configuration::build_without_model(config, &registry)?;
    let loaded = input::load(&args.input, quiet)?;
    let chosen: Vec<usize> = if args.all {
        (0..loaded.sessions.len()).collect()
    } else {
        vec![input::choose(&loaded, &args.input, ", or check all with --all")?]
    };
    let check = |index: &usize| {
        let loaded = &loaded.sessions[*index];
        let session = input::select_view(&loaded.session, args.input.view);
        checked(&loaded.name, &session, &runtime)
    };
    let all: Vec<CheckOutput<'_>> = chosen.iter().map(check).collect();
    if args.json {
        let mut text = if args.all { serde_json::to_string_pretty(&all)? } else { one_json(&all)? };
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        let text = if let [one] = all.as_slice() { page(one) } else { list(&all) };
        terminal::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn one_json(all: &[CheckOutput<'_>]) -> Result<String, serde_json::Error> {
    all.first().map(serde_json::to_string_pretty).unwrap_or_else(|| Ok(String::new()))
}

fn checked<'a>(name: &'a str, session: &Session, runtime: &epitome::Runtime) -> CheckOutput<'a> {
    let counter = counter_of(runtime, session);
    let engine = epitome::engine_with_counter(runtime, counter);
    let mut budget = runtime.budget.clone();
    budget.tool_definitions = tool_definition_tokens(&engine, session);
    let (tokens, triggers) = (engine.ledger(session).total(), &runtime.triggers);
    CheckOutput {
        session: name,
        is_by_tokens: triggers.tokens > 0 && triggers.tokens < budget.soft.tokens(budget.usable()),
        counted_tokens: tokens,
        usage: ReportedUsage::read(session),
        fullness: Fullness::measure_reported(&engine, session, tokens, &budget, triggers),
    }
}

fn words(urgency: Urgency) -> (&'static str, anstyle::Style) {
    match urgency {
        Urgency::None => ("no need to compact", GOOD),
        Urgency::Soft => ("compaction suggested", WARN),
        Urgency::Hard => ("compaction due", BAD),
    }
}

/// The threshold that calls for a compaction, in words.
fn due_label(one: &CheckOutput<'_>) -> &'static str {
    match one.fullness.check.trigger {
        None if one.fullness.check.urgency == Urgency::None => "nothing",
        None => "nothing yet: too little came since the last compaction",
        Some(Trigger::Soft) if one.is_by_tokens => "[triggers] tokens",
        Some(Trigger::Soft) => "the soft threshold",
        Some(Trigger::Hard) => "the hard threshold",
        Some(Trigger::RemainingShare) => "[triggers] remaining_share: too little is left of the window",
        Some(Trigger::Rounds) => "[triggers] rounds since the last compaction",
        Some(Trigger::Marker) => "[triggers] marker: the model asked for it",
        Some(Trigger::Manual | Trigger::Overflow | Trigger::Arrival | Trigger::Clearing | Trigger::Recorded) => {
            "the host"
        }
    }
}

fn page(one: &CheckOutput<'_>) -> String {
    let (word, style) = words(one.fullness.check.urgency);
    let check = &one.fullness.check;
    let drawn = bar(check.current_tokens.into(), check.usable_tokens.into(), 40, style);
    let share = percent(check.current_tokens.into(), check.usable_tokens.into());
    let tools = if one.fullness.tool_definition_tokens > 0 {
        format!(" - {} tool definitions", number(one.fullness.tool_definition_tokens))
    } else {
        String::new()
    };
    let (counted, counter) = (number(one.counted_tokens), &one.fullness.counter);
    let by = if check.current_tokens > one.counted_tokens {
        format!("counted by the provider, {counted} by {counter}")
    } else {
        format!("by {counter}")
    };
    format!(
        "{style}{STRONG}{word}{STRONG:#}{style:#}\n  {drawn}  {share}\n\
         \x20 {FAINT}tokens{FAINT:#}     {}  {FAINT}{by}{FAINT:#}\n\
         \x20 {FAINT}usable{FAINT:#}     {}  {FAINT}window {} - reserve {}{tools}{FAINT:#}\n\
         \x20 {FAINT}threshold{FAINT:#}  {}\n\
         \x20 {FAINT}trigger{FAINT:#}    {}\n",
        number(check.current_tokens),
        number(check.usable_tokens),
        number(one.fullness.window_tokens),
        number(one.fullness.reserve_output_tokens),
        check.threshold_tokens.map_or_else(|| "off".to_owned(), number),
        due_label(one),
    )
}

fn list(all: &[CheckOutput<'_>]) -> String {
    let setting = [Column::Flexible, Column::Right, Column::Right, Column::Left, Column::Flexible];
    let mut table = Table::new(&setting, &["session", "tokens", "share", "", "trigger"]);
    for one in all {
        let (word, style) = words(one.fullness.check.urgency);
        table.row([
            one.session.into(),
            number(one.fullness.check.current_tokens).into(),
            percent(one.fullness.check.current_tokens.into(), one.fullness.check.usable_tokens.into()).into(),
            Cell::styled(word, style),
            due_label(one).into(),
        ]);
    }
    table.render(width())
}
