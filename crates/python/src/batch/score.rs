//! Policies measured on the sessions of a column, by the figures of the evaluation.

use std::sync::Arc;

use epitome_binding::{choose, format_of, load};
use epitome_eval::{BudgetSpec, CaseId, CaseOptions, Filter, Method, Metric, Plan, Row, Subject};
use pyo3::prelude::*;

use super::column::Column;
use super::fields::{FieldArray, lists, numbers, shares, structures, texts, truths};
use super::rows::Rows;
use super::workers::each_row;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};

/// The figures that a recorded session has, in the order of the columns. Those of probes need more than the session.
const FIGURES: [Metric; 6] =
    [Metric::BoundFrr, Metric::Frr, Metric::Quotes, Metric::Files, Metric::Rules, Metric::Fill];

/// Measures methods at budgets on every session of a column.
#[pyfunction]
#[pyo3(signature = (engine, column, *, methods, budgets, cut, reasoning, format, threads))]
#[allow(clippy::too_many_arguments)] // the arguments of one Python call, by their names
pub(super) fn score_column(
    py: Python<'_>,
    engine: &Engine,
    column: &Bound<'_, PyAny>,
    methods: Vec<String>,
    budgets: Vec<String>,
    cut: f64,
    reasoning: bool,
    format: Option<&str>,
    threads: usize,
) -> PyResult<Column> {
    let parts = &engine.parts;
    let plan = plan_of(&methods, &budgets, cut, reasoning).map_err(|failure| failure.raise(py, &parts.raised))?;
    if let Some(name) = format {
        format_of(name).map_err(|failure| failure.raise(py, &parts.raised))?;
    }
    let rows = Rows::from_python(column, "column")?;
    let row_of = |_, bytes: Vec<u8>| -> Result<(&'static str, Vec<Row>), Failure> {
        let loaded = load(bytes, format)?;
        let session = &loaded.sessions[choose(&loaded, None)?];
        let id = CaseId { file: String::new(), session: session.name.clone(), cut_permille: 0, part: None };
        let rows = plan.rows_of(&id, loaded.format.as_str(), &session.session).map_err(Failure::other)?;
        Ok((loaded.format.as_str(), rows))
    };
    let done = each_row(py, parts, threads, &rows, row_of)?;
    let measured: Vec<&Row> = done.of(|(_, rows)| Some(rows)).flatten().flatten().collect();
    let items = structures(measured_fields(&measured)?, measured.len())?;
    let fields = vec![
        texts("format", done.of(|(format, _)| Some(*format)))?,
        lists("rows", items, done.of(|(_, rows)| Some(rows.len())).map(Option::unwrap_or_default))?,
        texts("error", done.errors())?,
    ];
    Column::new(fields, done.len())
}

/// Returns the plan of the options; every mistake in them is one of the call.
fn plan_of(methods: &[String], budgets: &[String], cut: f64, with_reasoning: bool) -> Result<Plan, Failure> {
    let registry = epitome::registry();
    let parse = |spec: &String| Method::parse(spec, &registry).map(Arc::new);
    let methods: Vec<_> =
        methods.iter().map(parse).collect::<Result<_, _>>().map_err(|error| Failure::config(error.to_string()))?;
    let budget = |text: &String| text.parse::<BudgetSpec>().map_err(Failure::config);
    let budgets: Vec<_> = budgets.iter().map(budget).collect::<Result<_, _>>()?;
    if methods.is_empty() || budgets.is_empty() {
        return Err(Failure::config("`methods` and `budgets` need one entry each at least"));
    }
    if !(cut > 0.0 && cut < 1.0) {
        return Err(Failure::config(format!("`cut` is a share of a session's tokens above 0 and below 1, not {cut}")));
    }
    Ok(Plan {
        subject: Subject::Future,
        paths: Vec::new(),
        methods,
        budgets,
        cuts: vec![CaseOptions { cut, with_reasoning }],
        // What is too short to say anything is for the query to leave out.
        filter: Filter::NONE,
        sample: None,
        seed: 1,
    })
}

/// The fields of measured rows. The time that a compaction took is not among them: it differs from run to run.
fn measured_fields(rows: &[&Row]) -> PyResult<Vec<FieldArray>> {
    let count = |figure: fn(&Row) -> u32| rows.iter().map(move |row| Some(i64::from(figure(row))));
    let problem = |row: &Row| row.problem.clone().or_else(|| row.scores.violation.clone());
    let problems: Vec<Option<String>> = rows.iter().map(|row| problem(row)).collect();
    let mut fields = vec![
        texts("method", rows.iter().map(|row| Some(row.method.as_str())))?,
        texts("budget", rows.iter().map(|row| Some(row.budget.as_str())))?,
        texts("part", rows.iter().map(|row| row.case.part.as_deref()))?,
        numbers("prefix_tokens", count(|row| row.prefix_tokens)),
        numbers("future_calls", count(|row| row.future_calls)),
        numbers("budget_tokens", count(|row| row.budget_tokens)),
        numbers("tokens", count(|row| row.scores.tokens)),
        truths("usable", rows.iter().map(|row| Some(row.is_usable()))),
        texts("problem", problems.iter().map(Option::as_deref))?,
        numbers("cache_loss_tokens", count(|row| row.scores.cache_loss_tokens)),
    ];
    for figure in FIGURES {
        let name = figure.as_str().to_lowercase();
        fields.push(shares(&name, rows.iter().map(|row| figure.count(row).share())));
        fields.push(numbers(&format!("{name}_of"), rows.iter().map(|row| Some(i64::from(figure.count(row).of)))));
    }
    Ok(fields)
}
