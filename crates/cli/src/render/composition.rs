//! The composition of a session for a person.

use std::fmt::Write;

use epitome::context::{RoundSize, UnitSize};
use epitome::session::UnitKind;

use crate::composition::{InspectOutput, SessionComposition};

use crate::render::bar::bar;
use crate::render::style::{FAINT, NAME, STRONG};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{bytes, heading, labelled, number, percent, plural};

/// Tools listed.
const TOOLS: usize = 12;

/// Rounds listed: the newest.
const ROUNDS: usize = 24;

/// Sessions listed.
const SESSIONS: usize = 30;

/// Columns of a bar.
const BAR: usize = 24;

/// The page of one session, in at most `width` columns.
pub(crate) fn page(
    name: &str,
    inspected: &InspectOutput<'_>,
    composition: &SessionComposition,
    width: usize,
) -> String {
    let mut out = String::new();
    head(&mut out, name, inspected, composition);
    task(&mut out, composition, width);
    roles(&mut out, composition, width);
    tools(&mut out, composition, width);
    largest(&mut out, composition, width);
    timeline(&mut out, composition, width);
    usage(&mut out, composition);
    out
}

/// The sessions of a file of several.
pub(crate) fn overview(name: &str, inspected: &InspectOutput<'_>, width: usize) -> String {
    let sessions = &inspected.sessions;
    let tokens: u64 = sessions.iter().map(|session| u64::from(session.sizes.tokens)).sum();
    let mut out = format!(
        "{STRONG}{name}{STRONG:#}  {FAINT}{}, {}{FAINT:#}\n  {} of {} tokens in all; --session N|ID shows one\n\n",
        inspected.format,
        bytes(inspected.bytes),
        plural(sessions.len(), "session"),
        number(tokens),
    );
    let setting = [Column::Right, Column::Flexible, Column::Right, Column::Right];
    let mut table = Table::new(&setting, &["n", "session", "messages", "tokens"]);
    for (index, session) in sessions.iter().take(SESSIONS).enumerate() {
        table.row([
            Cell::styled(index.to_string(), FAINT),
            session.id.into(),
            number(session.sizes.messages as u64).into(),
            number(session.sizes.tokens).into(),
        ]);
    }
    out.push_str(&table.render(width));
    if sessions.len() > SESSIONS {
        let _ = writeln!(out, "  {FAINT}… and {} more; --json lists all{FAINT:#}", sessions.len() - SESSIONS);
    }
    out
}

fn head(out: &mut String, name: &str, inspected: &InspectOutput<'_>, composition: &SessionComposition) {
    let id = composition.id.as_deref().map(|id| format!(", session {id}")).unwrap_or_default();
    let size = bytes(inspected.bytes);
    let _ = writeln!(out, "{STRONG}{name}{STRONG:#}  {FAINT}{}{id}, {size}{FAINT:#}", inspected.format);
    let _ = write!(
        out,
        "  {STRONG}{}{STRONG:#} tokens in {}, {}",
        number(composition.contents.tokens),
        plural(composition.messages, "message"),
        plural(composition.contents.rounds, "round"),
    );
    if composition.log_messages != composition.messages {
        let _ = write!(out, " {FAINT}(recorded: {}){FAINT:#}", plural(composition.log_messages, "message"));
    }
    let _ = writeln!(out, " {FAINT}by {}{FAINT:#}", composition.contents.counter);
    if !composition.compactions.is_empty() {
        let _ =
            writeln!(out, "  {}; `epitome history` lists them", plural(composition.compactions.len(), "compaction"));
    }
    if composition.contents.tool_definition_tokens > 0 {
        let _ = writeln!(
            out,
            "  tool definitions take another {} tokens",
            number(composition.contents.tool_definition_tokens)
        );
    }
}

fn task(out: &mut String, composition: &SessionComposition, width: usize) {
    let verdict = &composition.contents.task;
    heading(out, "Task");
    let _ = writeln!(out, "  {NAME}{}{NAME:#}, confidence {:.2}", verdict.kind, verdict.confidence);
    for evidence in &verdict.evidence {
        labelled(out, "", 2, evidence, width);
    }
    labelled(out, "next chain", 12, &composition.chain, width);
}

fn roles(out: &mut String, composition: &SessionComposition, width: usize) {
    let whole = composition.contents.tokens.into();
    heading(out, "Tokens by role");
    // The bar has style codes of its own, so it comes after the table's rows.
    let mut table = Table::new(&[Column::Left, Column::Right, Column::Right, Column::Right], &[]);
    for share in &composition.roles {
        table.row([
            Cell::styled(share.role, NAME),
            number(share.tokens).into(),
            percent(share.tokens.into(), whole).into(),
            plural(share.messages, "message").into(),
        ]);
    }
    let rows = table.render(width);
    for (row, share) in rows.lines().zip(&composition.roles) {
        let _ = writeln!(out, "{row}  {}", bar(share.tokens.into(), whole, BAR, NAME));
    }
}

fn tools(out: &mut String, composition: &SessionComposition, width: usize) {
    if composition.tools.is_empty() {
        return;
    }
    let whole = composition.contents.tokens.into();
    heading(out, "Tokens by tool");
    let setting = [Column::Flexible, Column::Right, Column::Right, Column::Right, Column::Right];
    let mut table = Table::new(&setting, &["tool", "calls", "in calls", "in results", "share"]);
    for share in composition.tools.iter().take(TOOLS) {
        table.row([
            Cell::styled(share.tool.clone(), NAME),
            number(share.calls as u64).into(),
            number(share.call_tokens).into(),
            number(share.result_tokens).into(),
            percent(share.tokens().into(), whole).into(),
        ]);
    }
    out.push_str(&table.render(width));
    if composition.tools.len() > TOOLS {
        let _ = writeln!(out, "  {FAINT}… and {} more{FAINT:#}", plural(composition.tools.len() - TOOLS, "tool"));
    }
}

fn largest(out: &mut String, composition: &SessionComposition, width: usize) {
    let whole = composition.contents.tokens.into();
    heading(out, "Largest units");
    let setting = [Column::Right, Column::Right, Column::Right, Column::Right, Column::Flexible, Column::Flexible];
    let mut table = Table::new(&setting, &["message", "tokens", "share", "round", "unit", "first words"]);
    for unit in &composition.largest_units {
        let numbers = unit.number.map(|first| format!("#{first}"));
        table.row([
            Cell::styled(numbers.unwrap_or_else(|| "–".to_owned()), FAINT),
            number(unit.tokens).into(),
            percent(unit.tokens.into(), whole).into(),
            unit.round.to_string().into(),
            Cell::styled(unit_name(unit), NAME),
            unit.words.clone().into(),
        ]);
    }
    out.push_str(&table.render(width));
}

fn unit_name(unit: &UnitSize) -> String {
    let kind = match unit.kind {
        UnitKind::System => "system",
        UnitKind::User => "user",
        UnitKind::Injected => "injected",
        UnitKind::Step => "step",
        UnitKind::Summary => "summary",
        UnitKind::Orphan => "orphan",
    };
    let tools: Vec<&str> = unit.tools.iter().map(|(tool, _)| tool.as_str()).collect();
    if tools.is_empty() { kind.to_owned() } else { format!("{kind}: {}", tools.join(", ")) }
}

fn timeline(out: &mut String, composition: &SessionComposition, width: usize) {
    heading(out, "Timeline");
    let left_out = composition.timeline.len().saturating_sub(ROUNDS);
    if left_out > 0 {
        let _ = writeln!(out, "  {FAINT}{} before these; --json has all{FAINT:#}", plural(left_out, "round"));
    }
    let setting = [Column::Right, Column::Right, Column::Right, Column::Flexible, Column::Flexible];
    let mut table = Table::new(&setting, &["round", "tokens", "messages", "tools", "user"]);
    for round in &composition.timeline[left_out..] {
        table.row([
            Cell::styled(round.round.to_string(), FAINT),
            number(round.tokens).into(),
            number(round.messages as u64).into(),
            Cell::styled(tools_called(round), NAME),
            round.words.clone().into(),
        ]);
    }
    out.push_str(&table.render(width));
}

/// The tools of a round, the most called first.
fn tools_called(round: &RoundSize) -> String {
    let mut words: Vec<String> = round
        .tools
        .iter()
        .take(4)
        .map(|(tool, count)| if *count == 1 { tool.clone() } else { format!("{tool} ×{count}") })
        .collect();
    if round.tools.len() > words.len() {
        words.push(format!("+{}", round.tools.len() - words.len()));
    }
    words.join(" ")
}

fn usage(out: &mut String, composition: &SessionComposition) {
    let Some(usage) = &composition.usage else { return };
    heading(out, "Reported by the provider");
    let _ = writeln!(
        out,
        "  {}, {} input tokens, {} of them from the prompt cache; {} output tokens; largest request {} tokens",
        plural(usage.requests, "request"),
        number(usage.input),
        percent(usage.cache_read, usage.input),
        number(usage.output),
        number(usage.largest_input),
    );
}
