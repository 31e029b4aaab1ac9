//! Whether the contexts of a column show the facts of probes.

use epitome_binding::{format_of, load};
use epitome_eval::probes::{Probe, ProbeKind, ProbeScores, ProbeSet};
use epitome_eval::shown_probes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::column::Column;
use super::fields::{lists_of_texts, numbers, shares, texts};
use super::rows::Rows;
use super::workers::each_row;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};

/// The probes of all rows, or of each row.
enum GivenProbes {
    All(Vec<Probe>),
    Each(Rows),
}

impl GivenProbes {
    fn from_python(given: &Bound<'_, PyAny>, rows: usize) -> PyResult<Result<Self, Failure>> {
        if let Ok(json) = given.cast::<PyBytes>() {
            return Ok(probes_of(json.as_bytes()).map(Self::All));
        }
        let each = Rows::from_python(given, "probes")?;
        Ok(if each.len() == rows {
            Ok(Self::Each(each))
        } else {
            Err(Failure::config(format!(
                "`probes` has {} rows, and the column has {rows}; give one for each",
                each.len()
            )))
        })
    }

    fn of_row(&self, row: usize) -> Result<std::borrow::Cow<'_, [Probe]>, Failure> {
        match self {
            Self::All(probes) => Ok(probes.into()),
            Self::Each(rows) => match rows.session(row) {
                Some(json) => Ok(probes_of(&json)?.into()),
                None => Err(Failure::config("`probes` is null in this row")),
            },
        }
    }
}

fn probes_of(json: &[u8]) -> Result<Vec<Probe>, Failure> {
    let set = ProbeSet::parse(&String::from_utf8_lossy(json), "probes");
    set.map(|set| set.probes).map_err(|error| Failure::config(error.to_string()))
}

/// Asks the probes of every context of a column.
#[pyfunction]
#[pyo3(signature = (engine, column, probes, *, format, threads))]
pub(super) fn probe_column(
    py: Python<'_>,
    engine: &Engine,
    column: &Bound<'_, PyAny>,
    probes: &Bound<'_, PyAny>,
    format: Option<&str>,
    threads: usize,
) -> PyResult<Column> {
    let parts = &engine.parts;
    if let Some(name) = format {
        format_of(name).map_err(|failure| failure.raise(py, &parts.raised))?;
    }
    let rows = Rows::from_python(column, "column")?;
    let probes = GivenProbes::from_python(probes, rows.len())?.map_err(|failure| failure.raise(py, &parts.raised))?;
    let row_of = |row: usize, bytes: Vec<u8>| -> Result<(ProbeScores, Vec<String>), Failure> {
        let asked = probes.of_row(row)?;
        let shown = shown_probes(&asked, &load(bytes, format)?).map_err(Failure::Format)?;
        let missing = asked.iter().zip(&shown).filter(|(_, shown)| !**shown).map(|(probe, _)| probe.id.clone());
        let missing = missing.collect();
        Ok((ProbeScores::count(&asked, &shown), missing))
    };
    let done = each_row(py, parts, threads, &rows, row_of)?;
    let mut fields = vec![
        shares("probes", done.of(|(scores, _)| scores.all.share())),
        numbers("probes_of", done.of(|(scores, _)| Some(scores.all.of.into()))),
    ];
    for kind in ProbeKind::ALL {
        let name = kind.as_str();
        fields.push(shares(name, done.of(|(scores, _)| scores.count_of(kind).share())));
        fields.push(numbers(&format!("{name}_of"), done.of(|(scores, _)| Some(scores.count_of(kind).of.into()))));
    }
    fields.push(lists_of_texts("missing", done.of(|(_, missing)| Some(missing.as_slice()))));
    fields.push(texts("error", done.errors())?);
    Column::new(fields, done.len())
}
