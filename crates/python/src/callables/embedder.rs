//! An embedder written in Python.

use std::sync::Arc;

use epitome::strategy::{EmbedError, Embedder, Embeddings, async_trait};
use pyo3::prelude::*;

use super::pending_exceptions::{PendingExceptions, with_python};

/// Asks a callable for vectors.
#[derive(Debug)]
pub(crate) struct PythonEmbedder {
    /// Vectors of one name can be compared.
    pub(crate) name: String,
    /// What is asked.
    pub(crate) call: Py<PyAny>,
    /// Keeps what the callable raises.
    pub(crate) raised: Arc<PendingExceptions>,
}

impl PythonEmbedder {
    fn ask(&self, texts: &[&str]) -> Result<Embeddings, String> {
        let rows =
            with_python(&self.raised, |py| self.call.bind(py).call1((texts.to_vec(),))?.extract::<Vec<Vec<f32>>>())?;
        let dimensions = rows.first().map_or(0, Vec::len);
        if rows.len() != texts.len() {
            return Err(format!("gave {} vectors for {} texts", rows.len(), texts.len()));
        }
        if let Some(other) = rows.iter().position(|row| row.len() != dimensions) {
            let found = rows[other].len();
            return Err(format!(
                "gave vectors of different lengths: the first has {dimensions}, number {other} {found}"
            ));
        }
        Ok(Embeddings::new(dimensions, rows.iter().flat_map(|row| unit_vector(row)).collect()))
    }
}

/// The vector in its direction of the length 1; one of zeros stays.
fn unit_vector(row: &[f32]) -> impl Iterator<Item = f32> {
    let length = row.iter().map(|number| number * number).sum::<f32>().sqrt();
    let scale = if length > 0.0 { length } else { 1.0 };
    row.iter().map(move |number| number / scale)
}

#[async_trait]
impl Embedder for PythonEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        0 // only the first answer tells
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let problem = |problem| EmbedError { message: format!("the embedder {problem}"), retryable: false };
        self.ask(texts).map_err(problem)
    }
}
