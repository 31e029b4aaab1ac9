//! `epitome check`: tokens, share, urgency.

use std::process::ExitCode;

use epitome::Session;
use epitome::context::{Fullness, ReportedUsage};
use epitome::engine::Urgency;
use epitome::formats::{RecordedModel, recorded_model};
use epitome::session::Trigger;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::failure::CommandResult;
use crate::render::bar::bar;
use crate::render::context::window_words;
use crate::render::style::{BAD, FAINT, GOOD, STRONG, Style, WARN};
use crate::render::text::{number, percent};
use crate::session::input;
use crate::terminal;
use crate::window::{Window, WindowSource};

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
    /// What the window is known by.
    window: &'a WindowSource,
    /// Whether the threshold is that of `[triggers] tokens`.
    #[serde(skip)]
    is_by_tokens: bool,
}

pub(crate) fn run(args: &CheckArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    // A wrong configuration is told before the session is read.
    Window::new(&args.window, &RecordedModel::default(), &registry)?;
    let loaded = input::load(&args.input, quiet)?;
    let window = Window::new(&args.window, &recorded_model(loaded.format, &loaded.bytes), &registry)?;
    let loaded = &loaded.sessions[input::choose(&loaded, &args.input)?];
    let session = input::select_view(&loaded.session, args.input.view);
    let checked = measure(&loaded.name, &session, &window);
    if args.json {
        terminal::print_json(&checked)?;
    } else {
        terminal::print(&page(&checked))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure<'a>(name: &'a str, session: &Session, window: &'a Window) -> CheckOutput<'a> {
    let (engine, budget) = window.engine(session);
    let (ledger, triggers) = (engine.ledger(session), &window.runtime.triggers);
    CheckOutput {
        session: name,
        is_by_tokens: triggers.tokens > 0 && triggers.tokens < budget.soft.tokens(budget.usable()),
        counted_tokens: ledger.total(),
        usage: ReportedUsage::read(session),
        window: &window.source,
        fullness: window.fullness(&ledger, session, ledger.total(), &budget),
    }
}

fn words(urgency: Urgency) -> (&'static str, Style) {
    match urgency {
        Urgency::None => ("no need to compact", GOOD),
        Urgency::Soft => ("compaction suggested", WARN),
        Urgency::Hard => ("compaction due", BAD),
    }
}

/// The threshold, or the limit, that calls for a compaction, in words.
fn due_label(one: &CheckOutput<'_>) -> String {
    if let Some(over) = &one.fullness.check.over {
        return over.clone();
    }
    let label = match one.fullness.check.trigger {
        None if one.fullness.check.urgency == Urgency::None => "nothing",
        None if one.fullness.check.waits => "nothing yet: a piece of work is under way",
        None => "nothing yet: too little came since the last compaction",
        Some(Trigger::Soft) if one.is_by_tokens => "[triggers] tokens",
        Some(Trigger::Soft) => "the soft threshold",
        Some(Trigger::Hard) => "the hard threshold",
        Some(Trigger::RemainingShare) => "[triggers] remaining_share: too little is left of the window",
        Some(Trigger::Rounds) => "[triggers] rounds since the last compaction",
        Some(Trigger::Marker) => "[triggers] marker: the model asked for it",
        Some(
            Trigger::Manual
            | Trigger::Overflow
            | Trigger::Arrival
            | Trigger::Clearing
            | Trigger::Recorded
            | Trigger::TakenBack
            | Trigger::Kept,
        ) => "the host",
    };
    label.to_owned()
}

fn page(one: &CheckOutput<'_>) -> String {
    let (word, style) = words(one.fullness.check.urgency);
    let check = &one.fullness.check;
    let drawn = bar(check.current_tokens.into(), check.usable_tokens.into(), 40, style);
    let share = percent(check.current_tokens.into(), check.usable_tokens.into());
    let (counted, counter) = (number(one.counted_tokens), &one.fullness.counter);
    let by = if check.current_tokens > one.counted_tokens {
        format!("counted by the provider, {counted} by {counter}")
    } else {
        format!("by {counter}")
    };
    let window = window_words(&one.fullness, one.window);
    format!(
        "{style}{STRONG}{word}{STRONG:#}{style:#}\n  {drawn}  {share}\n\
         \x20 {FAINT}tokens{FAINT:#}     {}  {FAINT}{by}{FAINT:#}\n\
         \x20 {FAINT}usable{FAINT:#}     {}  {FAINT}{window}{FAINT:#}\n\
         \x20 {FAINT}threshold{FAINT:#}  {}\n\
         \x20 {FAINT}trigger{FAINT:#}    {}\n",
        number(check.current_tokens),
        number(check.usable_tokens),
        check.threshold_tokens.map_or_else(|| "off".to_owned(), number),
        due_label(one),
    )
}
