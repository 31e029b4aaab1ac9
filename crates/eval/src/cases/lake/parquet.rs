//! Sessions in the rows of a Parquet file.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::Value;

use super::session_text;
use crate::EvalError;

/// The column that is read where none is named and there is one of that name.
const SESSIONS: &str = "messages";
/// The columns that name a session: the first of them that there is.
const NAMES: [&str; 4] = ["id", "session_id", "instance_id", "name"];

/// One row of a Parquet file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LakeRow {
    /// The session's name: that of the row, or its number, counted from 0.
    pub(crate) name: String,
    /// The session; `None` where there is none.
    pub(crate) session: Option<String>,
}

/// Visits the rows of a file in blocks of at most `block` rows, so that no more than these are in memory. `column` names
/// the column of the sessions; without it `messages` is read, or the only column that can be one.
///
/// The error says what of the file is wrong and what to do.
pub(crate) fn each_block(
    path: &Path,
    column: Option<&str>,
    block: usize,
    visit: &mut dyn FnMut(Vec<LakeRow>) -> Result<(), EvalError>,
) -> Result<(), EvalError> {
    let name = path.display().to_string();
    let wrong = |problem: String| EvalError::Lake { file: name.clone(), problem };
    let unreadable = |error: parquet::errors::ParquetError| wrong(format!("cannot be read as Parquet: {error}"));
    let file = File::open(path).map_err(|error| EvalError::Read { file: name.clone(), error })?;
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema();
    let sessions = sessions_of(schema, column).map_err(wrong)?;
    let names = NAMES.into_iter().find(|wanted| schema.get_fields().iter().any(|field| field.name() == *wanted));
    let wanted = schema.get_fields().iter().filter(|field| field.name() == sessions || Some(field.name()) == names);
    let projection = Type::group_type_builder(schema.name()).with_fields(wanted.cloned().collect()).build();
    let rows = RowIter::from_file(Some(projection.map_err(unreadable)?), &reader).map_err(unreadable)?;
    let mut read = Vec::with_capacity(block);
    for (number, row) in rows.enumerate() {
        read.push(lake_row(&row.map_err(unreadable)?, &sessions, number));
        if read.len() == block {
            visit(std::mem::take(&mut read))?;
        }
    }
    visit(read)
}

/// Returns the column of the sessions.
fn sessions_of(schema: &Type, asked: Option<&str>) -> Result<String, String> {
    let fields = schema.get_fields();
    let named = |name: &str| fields.iter().any(|field| field.name() == name);
    let all: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    if let Some(asked) = asked {
        let unknown = || format!("has no column `{asked}`: it has {}", all.join(", "));
        return named(asked).then(|| asked.to_owned()).ok_or_else(unknown);
    }
    if named(SESSIONS) {
        return Ok(SESSIONS.to_owned());
    }
    let is_name = |field: &Type| NAMES.contains(&field.name());
    let may_be = |field: &Type| field.is_group() || field.get_physical_type() == Physical::BYTE_ARRAY;
    let candidates: Vec<&str> =
        fields.iter().filter(|field| may_be(field) && !is_name(field)).map(|field| field.name()).collect();
    match candidates.as_slice() {
        [only] => Ok((*only).to_owned()),
        _ => Err(format!("has no column `{SESSIONS}`: name the column of the sessions, of {}", all.join(", "))),
    }
}

fn lake_row(row: &Row, sessions: &str, number: usize) -> LakeRow {
    let (mut name, mut session) = (None, None);
    for (column, field) in row.get_column_iter() {
        if column == sessions {
            session = match field {
                Field::Bytes(bytes) => Some(String::from_utf8_lossy(bytes.data()).into_owned()),
                field => session_text(field.to_json_value()),
            };
        } else {
            name = match field.to_json_value() {
                Value::Null => None,
                Value::String(name) => Some(name),
                value => Some(value.to_string()),
            };
        }
    }
    LakeRow { name: name.unwrap_or_else(|| number.to_string()), session }
}
