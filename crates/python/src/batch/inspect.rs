//! What the sessions of a column are made of.

use epitome_binding::{Inspection, choose, format_of, load};
use pyo3::prelude::*;

use super::column::Column;
use super::fields::{numbers, texts};
use super::rows::Rows;
use super::workers::each_row;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};
use crate::parts::Parts;

/// What one session is made of. A row that is null stays empty.
#[derive(Debug, Default)]
struct InspectedRow {
    contents: Option<(Inspection, String)>,
    error: Option<String>,
}

impl InspectedRow {
    fn from_error(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

/// Inspects every session of a column.
#[pyfunction]
#[pyo3(signature = (engine, column, *, format, threads))]
pub(super) fn inspect_column(
    py: Python<'_>,
    engine: &Engine,
    column: &Bound<'_, PyAny>,
    format: Option<&str>,
    threads: usize,
) -> PyResult<Column> {
    let parts = &engine.parts;
    if let Some(name) = format {
        format_of(name).map_err(|failure| failure.raise(py, &parts.raised))?;
    }
    let rows = Rows::from_python(column, "column")?;
    let work = |row: usize| match rows.session(row).map(|bytes| contents_of(parts, bytes, format)) {
        None => InspectedRow::default(),
        Some(Ok(contents)) => InspectedRow { contents: Some(contents), error: None },
        Some(Err(failure)) => InspectedRow::from_error(failure.to_string()),
    };
    let done = each_row(py, parts, threads, rows.len(), work, InspectedRow::from_error)?;
    let of = |figure: fn(&Inspection) -> usize| {
        done.iter().map(move |row| row.contents.as_ref().map(|(contents, _)| figure(contents) as i64))
    };
    let text = |figure: fn(&Inspection) -> &'static str| {
        done.iter().map(move |row| row.contents.as_ref().map(|(contents, _)| figure(contents))).collect::<Vec<_>>()
    };
    let fields = vec![
        texts("format", text(|it| it.format).into_iter())?,
        texts("task", text(|it| it.contents.task.kind.as_str()).into_iter())?,
        numbers("tokens", of(|it| it.contents.tokens as usize)),
        numbers("tool_definition_tokens", of(|it| it.contents.tool_definition_tokens as usize)),
        numbers("messages", of(|it| it.messages.len())),
        numbers("rounds", of(|it| it.contents.rounds)),
        numbers("calls", of(|it| it.contents.calls)),
        numbers("compactions", of(|it| it.compactions.len())),
        texts("contents", done.iter().map(|row| row.contents.as_ref().map(|(_, json)| json.as_str())))?,
        texts("error", done.iter().map(|row| row.error.as_deref()))?,
    ];
    Column::new(fields, done.len())
}

fn contents_of(parts: &Parts, bytes: Vec<u8>, format: Option<&str>) -> Result<(Inspection, String), Failure> {
    let loaded = load(bytes, format)?;
    let index = choose(&loaded, None)?;
    let inspection = Inspection::measure(parts, &loaded.sessions[index].session, loaded.format);
    let json = serde_json::to_string(&inspection).map_err(Failure::other)?;
    Ok((inspection, json))
}
