//! The work that was done: files, commands, other calls, and the errors that they met.

use std::collections::HashMap;

use epitome_strategy::commands::{first_error, results, script_of, telling_line};
use epitome_strategy::session::heading::is_missing_result;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{BlockRef, Call, ToolOutput, View};
use serde_json::Value;

use super::collector::Collector;
use super::commands::{Run, commands};
use super::files::files;
use super::lines::{SummarySection, clip};

/// Collects lines about every call. Linear in the messages.
pub(crate) fn collect(view: &View<'_>, collector: &mut Collector) {
    let facts = view.facts();
    let outputs: HashMap<BlockRef, &ToolOutput<'_>> =
        facts.outputs().iter().map(|output| (output.at, output)).collect();
    let output_of = |call: &Call<'_>| call.output.and_then(|at| outputs.get(&at)).copied();
    files(facts, collector);
    let mut runs: Vec<Run> = Vec::new();
    for call in facts.calls() {
        let output = output_of(call);
        match call.kind {
            ToolKind::Shell => {
                runs.extend(Run::from_call(call, output));
                lasting(call, output, collector);
            }
            ToolKind::Plan => {}
            ToolKind::Read | ToolKind::Edit | ToolKind::Write => {
                if let Some(output) = output.filter(|output| output.is_error && !is_missing_result(output.text)) {
                    let error = first_error(output.text).and_then(|line| clip(line, 200));
                    if let Some(error) = error {
                        collector.lines.add(
                            SummarySection::Errors,
                            format!("{}: {error}", call.name),
                            1.5,
                            call.at.message,
                        );
                    }
                }
            }
            ToolKind::Search => other_call(call, output, 1.5, collector),
            ToolKind::Web | ToolKind::Delegate | ToolKind::Lookup | ToolKind::Other => {
                other_call(call, output, 3.0, collector);
            }
        }
    }
    commands(&runs, collector);
}

/// The lasting result of a script, such as a commit, which must not be made a second time.
fn lasting(call: &Call<'_>, output: Option<&ToolOutput<'_>>, collector: &mut Collector) {
    let (Some(script), Some(output)) = (script_of(call), output) else { return };
    for line in results(&script, output.text) {
        if let Some(text) = clip(line, 200) {
            collector.lines.add(
                SummarySection::Actions,
                text,
                6.5 + collector.recency(call.at.message),
                call.at.message,
            );
        }
    }
}

/// A call of a tool that is neither about files nor a shell: what it was given, and the first line of the answer.
fn other_call(call: &Call<'_>, output: Option<&ToolOutput<'_>>, value: f32, collector: &mut Collector) {
    let given = brief_arguments(call);
    let answer = output.and_then(|output| {
        let line = if output.is_error { first_error(output.text) } else { telling_line(output.text) };
        clip(line?, 160)
    });
    let failed = if output.is_some_and(|output| output.is_error && !is_missing_result(output.text)) {
        collector.language.pick(" failed", " 失败")
    } else {
        ""
    };
    let given = given.map_or(String::new(), |given| format!(" {given}"));
    let answer = answer.map_or(String::new(), |answer| format!(" → {answer}"));
    let text = format!("{}{given}{failed}{answer}", call.name);
    collector.lines.add(SummarySection::Actions, text, value + collector.recency(call.at.message), call.at.message);
}

/// A call's arguments, short: `key=value` words of those that are short enough to quote.
fn brief_arguments(call: &Call<'_>) -> Option<String> {
    let Some(Value::Object(fields)) = call.json() else {
        return clip(call.arguments, 120).filter(|text| text != "{}");
    };
    let mut words: Vec<String> = Vec::new();
    for (key, value) in &fields {
        let shown = match value {
            Value::String(text) => clip(text, 100),
            Value::Null | Value::Bool(false) => None,
            other => Some(other.to_string()).filter(|text| text.len() <= 100),
        };
        if let Some(shown) = shown {
            words.push(format!("{key}={shown}"));
        }
        if words.iter().map(String::len).sum::<usize>() > 160 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}
