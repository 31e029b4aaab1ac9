//! Statements, what they are given and what they answer.

use std::borrow::Cow;
use std::sync::Arc;

use epitome_session::MessageId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::tenant::Tenant;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Bool(bool),
    Text(String),
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<u64> for Value {
    fn from(integer: u64) -> Self {
        Self::Integer(i64::try_from(integer).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(integer: u32) -> Self {
        Self::Integer(integer.into())
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        // PostgreSQL has no place for this character. JSON never holds it, and names must not.
        Self::Text(if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text })
    }
}

impl From<&MessageId> for Value {
    /// A message's id as a column: what can be indexed is not endless.
    fn from(id: &MessageId) -> Self {
        const LONGEST: usize = 256;
        let id = id.as_str();
        if id.len() <= LONGEST {
            return Self::from(id);
        }
        let end = id.floor_char_boundary(LONGEST - 33);
        let hash = blake3::hash(id.as_bytes()).to_hex();
        Self::from(format!("{}#{}", &id[..end], &hash[..32]))
    }
}

impl<T> From<Option<T>> for Value
where
    Value: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// A statement of SQL with its values, `?1` and so on.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: Cow<'static, str>,
    pub(super) values: Vec<Value>,
    /// The number of rows that it must change: otherwise the whole write is undone.
    pub(super) expect: Option<u64>,
}

impl Statement {
    pub(super) fn new(sql: &'static str) -> Self {
        Self { sql: Cow::Borrowed(sql), values: Vec::new(), expect: None }
    }

    /// One whose first values are a tenant and the id or the name of something that it has.
    pub(super) fn for_row(sql: &'static str, tenant: &Tenant, id: &str) -> Self {
        Self::new(sql).with(tenant.as_str()).with(id)
    }

    /// One that was put together for these values.
    pub(super) fn composed(sql: String) -> Self {
        Self { sql: Cow::Owned(sql), values: Vec::new(), expect: None }
    }

    /// The same with its next value.
    pub(super) fn with(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// The same where it must change one row.
    pub(super) fn expect_one(mut self) -> Self {
        self.expect = Some(1);
        self
    }

    /// Whether the statement returns rows.
    pub(super) fn is_query(&self) -> bool {
        self.sql.starts_with("SELECT") || self.sql.starts_with("WITH")
    }
}

/// The result of a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    pub(super) changed: u64,
}

impl Outcome {
    /// The first row, where there must be one.
    pub(super) fn first(&self) -> Result<Reader<'_>, StoreError> {
        self.rows.first().map(Row::read).ok_or_else(unexpected_error)
    }
}

/// A row of an answer.
#[derive(Debug, Clone)]
pub(super) struct Row(pub(super) Vec<Value>);

impl Row {
    pub(super) fn read(&self) -> Reader<'_> {
        Reader(self.0.iter())
    }
}

/// Reads the columns of a row in their order.
#[derive(Debug)]
pub(super) struct Reader<'a>(std::slice::Iter<'a, Value>);

impl<'a> Reader<'a> {
    pub(super) fn optional_integer(&mut self) -> Result<Option<i64>, StoreError> {
        match self.0.next() {
            Some(Value::Integer(integer)) => Ok(Some(*integer)),
            Some(Value::Null) => Ok(None),
            Some(Value::Bool(_) | Value::Text(_)) | None => Err(unexpected_error()),
        }
    }

    pub(super) fn integer(&mut self) -> Result<i64, StoreError> {
        self.optional_integer()?.ok_or_else(unexpected_error)
    }

    pub(super) fn bool(&mut self) -> Result<bool, StoreError> {
        match self.0.next() {
            Some(Value::Bool(bool)) => Ok(*bool),
            Some(Value::Integer(integer)) => Ok(*integer != 0),
            Some(Value::Null | Value::Text(_)) | None => Err(unexpected_error()),
        }
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<&'a str>, StoreError> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            Some(Value::Bool(_) | Value::Integer(_)) | None => Err(unexpected_error()),
        }
    }

    pub(super) fn text(&mut self) -> Result<&'a str, StoreError> {
        self.optional_text()?.ok_or_else(unexpected_error)
    }

    pub(super) fn name(&mut self) -> Result<Arc<str>, StoreError> {
        Ok(Arc::from(self.text()?))
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self, of: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(self.text()?).map_err(|source| StoreError::Json { of, source })
    }
}

fn unexpected_error() -> StoreError {
    StoreError::Database { doing: "reading the database", source: "a column is not what its table says".into() }
}

/// Something as the JSON that is stored of it.
pub(super) fn json(of: &'static str, value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|source| StoreError::Json { of, source })
}
