//! A column of sessions, compacted.

use epitome::Status;
use epitome_binding::{CompactOptions, Compacted, read_options};
use pyo3::prelude::*;
use serde_json::Value;

use super::column::Column;
use super::fields::{numbers, texts};
use super::rows::Rows;
use super::workers::each_row;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::json_text::Json;
use crate::parts::Parts;

/// What became of one session; its messages, or why they cannot fit.
#[derive(Debug)]
struct CompactedRow {
    messages: Result<String, String>,
    tokens: (u32, u32),
    status: Status,
    report: Option<String>,
}

/// Compacts every session of a column.
#[pyfunction]
#[pyo3(signature = (engine, column, *, options, report, threads))]
pub(super) fn compact_column(
    py: Python<'_>,
    engine: &Engine,
    column: &Bound<'_, PyAny>,
    options: Json,
    report: bool,
    threads: usize,
) -> PyResult<Column> {
    let parts = &engine.parts;
    // A mistake in the options is one of the call, not of every row.
    let options = parts.without_python(py, |parts| {
        let options: CompactOptions = read_options(&options.0)?;
        options.check(parts)?;
        Ok(options)
    })?;
    let rows = Rows::from_python(column, "column")?;
    let done = each_row(py, parts, threads, &rows, |_, bytes| row_of(parts, bytes, &options, report))?;
    let status = |row: &Option<Result<CompactedRow, String>>| match row {
        None => None,
        Some(Ok(row)) => Some(row.status.as_str()),
        Some(Err(_)) => Some("error"),
    };
    let infeasible = done.of(|row| row.messages.as_ref().err().filter(|_| row.status == Status::Infeasible));
    let errors: Vec<Option<&str>> =
        infeasible.zip(done.errors()).map(|(infeasible, error)| error.or(infeasible.map(String::as_str))).collect();
    let fields = vec![
        texts("messages", done.of(|row| row.messages.as_ref().ok()))?,
        numbers("tokens_before", done.of(|row| Some(row.tokens.0.into()))),
        numbers("tokens_after", done.of(|row| Some(row.tokens.1.into()))),
        texts("status", done.0.iter().map(status))?,
        texts("report", done.of(|row| row.report.as_ref()))?,
        texts("error", errors.into_iter())?,
    ];
    Column::new(fields, done.len())
}

fn row_of(parts: &Parts, bytes: Vec<u8>, options: &CompactOptions, with_report: bool) -> Result<CompactedRow, Failure> {
    let compacted = Compacted::new(parts, bytes, options, false)?;
    let report = &compacted.report;
    let messages = match Failure::of_report(report) {
        Some(failure) => Err(failure.to_string()),
        None => {
            let (bytes, _) = compacted.write()?;
            Ok(String::from_utf8(bytes).map_err(|error| Failure::Format(format!("not UTF-8: {error}")))?)
        }
    };
    let text = || -> Result<String, Failure> {
        let mut report = serde_json::to_value(report).map_err(Failure::other)?;
        drop_times(&mut report);
        Ok(report.to_string())
    };
    Ok(CompactedRow {
        messages,
        tokens: (report.tokens_before, report.tokens_after),
        status: report.status,
        report: with_report.then(text).transpose()?,
    })
}

/// Times differ from run to run: without them the same sessions give the same bytes, wherever they are worked on.
fn drop_times(report: &mut Value) {
    match report {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Number(_) if name.ends_with("_us") => *value = Value::from(0),
                    value => drop_times(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(drop_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
