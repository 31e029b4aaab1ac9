//! Continues an earlier run: the inputs of each row, and which rows can be reused.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use epitome::strategy::lock;
use serde::{Deserialize, Serialize};

use crate::case::CaseId;
use crate::row::Row;

/// The version of the figures. It is raised with every change of a figure's definition, so that rows of an earlier run
/// are measured again.
const METRICS: u32 = 3;

/// The inputs of a row. A row of an earlier run is reused only where all of them are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// A digest of the session file's bytes.
    pub file: String,
    /// A digest of the method: its name, its effective configuration with the bytes of its file, the time of an outside
    /// one.
    pub method: String,
    /// How the case was made: the kind of measurement, the cut, reasoning, the budget in tokens.
    pub case: String,
    /// The version of the figures, and of the engine.
    pub version: String,
}

impl Basis {
    /// Returns the version of this build's rows.
    pub(crate) fn version() -> String {
        format!("{METRICS}/{}", env!("CARGO_PKG_VERSION"))
    }
}

/// Returns the first 64 bits of a content hash: enough to notice a change.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// How many rows of the earlier run were reused, and how many were not, by the first reason that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RowReuse {
    /// Reused as they are.
    pub reused: u32,
    /// Not among the earlier rows.
    pub missing: u32,
    /// Earlier rows without a record of their inputs.
    pub untold: u32,
    /// Earlier rows of another version of the figures or of the engine.
    pub version: u32,
    /// Earlier rows of a session file with other content.
    pub file: u32,
    /// Earlier rows of a case that was made in another way.
    pub case: u32,
    /// Earlier rows of a method with another definition.
    pub method: u32,
}

impl RowReuse {
    /// Rows of the earlier run that were measured again.
    pub fn changed(&self) -> u32 {
        self.untold + self.version + self.file + self.case + self.method
    }

    fn count(&mut self, old: &Row, basis: &Basis) -> bool {
        let place = match &old.basis {
            None => &mut self.untold,
            Some(old) if old.version != basis.version => &mut self.version,
            Some(old) if old.file != basis.file => &mut self.file,
            Some(old) if old.case != basis.case => &mut self.case,
            Some(old) if old.method != basis.method => &mut self.method,
            Some(_) => &mut self.reused,
        };
        *place += 1;
        old.basis.as_ref() == Some(basis)
    }
}

impl fmt::Display for RowReuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = |count: u32| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
        write!(formatter, "{} reused, {} measured", rows(self.reused), rows(self.missing + self.changed()))?;
        let reasons = [
            (self.missing, "not among the earlier ones"),
            (self.file, "whose session file changed"),
            (self.method, "whose method changed"),
            (self.case, "whose budget, cut or reasoning changed"),
            (self.version, "of another version"),
            (self.untold, "that do not tell what they were computed from"),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, reason)| format!("{count} {reason}"))
            .collect();
        if reasons.is_empty() { Ok(()) } else { write!(formatter, ": {}", reasons.join(", ")) }
    }
}

/// What identifies a row.
type Key<'a> = (&'a CaseId, &'a str, &'a str);

/// The rows of an earlier run, with the count of their reuse.
#[derive(Debug, Default)]
pub(crate) struct EarlierRows<'a> {
    rows: HashMap<Key<'a>, &'a Row>,
    resumed: Mutex<RowReuse>,
}

impl<'a> EarlierRows<'a> {
    /// Of several rows of the same case, method and budget the last one counts: it was written last.
    pub(crate) fn new(rows: &'a [Row]) -> Self {
        let rows = rows.iter().map(|row| ((&row.case, row.budget.as_str(), row.method.as_str()), row));
        Self { rows: rows.collect(), resumed: Mutex::default() }
    }

    /// Returns the row of an earlier run, where its inputs equal `basis`.
    pub(crate) fn row(&self, case: &CaseId, budget: &str, method: &str, basis: &Basis) -> Option<&'a Row> {
        let mut resumed = lock(&self.resumed);
        let Some(row) = self.rows.get(&(case, budget, method)) else {
            resumed.missing += 1;
            return None;
        };
        resumed.count(row, basis).then_some(*row)
    }

    /// Returns the count of their reuse.
    pub(crate) fn resumed(self) -> RowReuse {
        self.resumed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
