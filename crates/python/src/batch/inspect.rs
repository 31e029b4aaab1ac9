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
    let done = each_row(py, parts, threads, &rows, |_, bytes| contents_of(parts, bytes, format))?;
    let number = |figure: fn(&Inspection) -> usize| done.of(move |(contents, _)| i64::try_from(figure(contents)).ok());
    let fields = vec![
        texts("format", done.of(|(it, _)| Some(it.format)))?,
        texts("task", done.of(|(it, _)| Some(it.contents.task.kind.as_str())))?,
        numbers("tokens", number(|it| it.contents.tokens as usize)),
        numbers("tool_definition_tokens", number(|it| it.contents.tool_definition_tokens as usize)),
        numbers("messages", number(|it| it.messages.len())),
        numbers("rounds", number(|it| it.contents.rounds)),
        numbers("calls", number(|it| it.contents.calls)),
        numbers("compactions", number(|it| it.compactions.len())),
        texts("contents", done.of(|(_, json)| Some(json)))?,
        texts("error", done.errors())?,
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
