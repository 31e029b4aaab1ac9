//! Columns of sessions, in Arrow's form in and out: `epitome_context.batch`.
//!
//! A column is any object with `__arrow_c_array__` or `__arrow_c_stream__` (the Arrow PyCapsule interface), so that neither
//! side needs the other's library. Each row is a session by itself: one that cannot be read gives a row that says so.

mod column;
mod compact;
mod fields;
mod inspect;
mod rows;
mod score;
mod value;
mod workers;

use pyo3::prelude::*;

/// Puts the functions of columns into the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<column::Column>()?;
    module.add_function(wrap_pyfunction!(column::text_column, module)?)?;
    module.add_function(wrap_pyfunction!(compact::compact_column, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::inspect_column, module)?)?;
    module.add_function(wrap_pyfunction!(score::score_column, module)?)
}
