//! Vectors from a service with OpenAI's endpoint, which most services and local servers have too.

use std::sync::OnceLock;

use epitome_strategy::{EmbedError, Embedder, Embeddings, async_trait};
use serde_json::{Value, json};

use crate::http::{ApiKey, HttpClient, HttpError, HttpSettings, RetryPolicy};

use super::{OpenAiSettings, beginning, normalize};

/// Asks an OpenAI-compatible `/embeddings` endpoint, some texts at a time. Works under any executor.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    client: HttpClient,
    settings: OpenAiSettings,
    name: String,
    dimensions: OnceLock<usize>,
}

impl OpenAiEmbedder {
    /// The embedder of `settings`; asks nothing yet.
    ///
    /// # Errors
    ///
    /// The key's variable is not set, or the address cannot be called.
    pub fn new(settings: &OpenAiSettings) -> Result<Self, HttpError> {
        let key = settings.key_variable.as_deref().map(ApiKey::from_environment).transpose()?;
        let retry = RetryPolicy { tries: settings.tries, ..RetryPolicy::default() };
        let (timeout, called) = (settings.timeout, settings.called.clone());
        let reached = HttpSettings { key, timeout, retry, called, ..HttpSettings::new(&settings.base_url) };
        let client = HttpClient::new(reached)?;
        // The same model has the same vectors for certain at one address only.
        let mut name = format!("openai:{}@{}", settings.model, client.base_url());
        if let Some(dimensions) = settings.dimensions {
            name.push_str(&format!("/{dimensions}"));
        }
        let dimensions = settings.dimensions.map(OnceLock::from).unwrap_or_default();
        Ok(Self { client, settings: settings.clone(), name, dimensions })
    }

    async fn vectors_of(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut body = json!({ "model": self.settings.model, "input": texts, "encoding_format": "float" });
        if let Some(dimensions) = self.settings.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let answer = self.client.post("/embeddings", &body).await;
        let answer =
            answer.map_err(|error| EmbedError { retryable: error.is_retryable(), message: error.to_string() })?;
        let wrong = |problem: String| EmbedError {
            message: format!(
                "`{}` answered something that is not a list of vectors: {problem}",
                self.client.url_for_people("")
            ),
            retryable: false,
        };
        let vectors = read(&answer, texts.len()).map_err(&wrong)?;
        let given = vectors.first().map_or(0, Vec::len);
        let expected = *self.dimensions.get_or_init(|| given);
        match vectors.iter().find(|vector| vector.len() != expected) {
            Some(vector) => Err(wrong(format!("{} numbers in a vector where {expected} were expected", vector.len()))),
            None => Ok(vectors),
        }
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or(0)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        // Services refuse empty texts.
        let asked: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].trim().is_empty()).collect();
        let mut found = Vec::with_capacity(asked.len());
        for batch in asked.chunks(self.settings.batch_size.max(1)) {
            let batch: Vec<&str> = batch.iter().map(|at| beginning(texts[*at], self.settings.max_text_bytes)).collect();
            found.extend(self.vectors_of(&batch).await?);
        }
        let dimensions = self.dimensions().max(1);
        let mut values = vec![0.0; texts.len() * dimensions];
        for (at, vector) in asked.into_iter().zip(found) {
            values[at * dimensions..(at + 1) * dimensions].copy_from_slice(&vector);
        }
        Ok(Embeddings::new(dimensions, values))
    }
}

/// The vectors of an answer to `n_texts` texts, in the texts' order, each of length 1.
fn read(answer: &Value, n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let data = answer.get("data").and_then(Value::as_array).ok_or("it has no list `data`")?;
    if data.len() != n_texts {
        return Err(format!("{} vectors for {n_texts} texts", data.len()));
    }
    let mut vectors = vec![Vec::new(); n_texts];
    for (position, item) in data.iter().enumerate() {
        // Some servers leave the index out; then the order is the texts'.
        let index = match item.get("index") {
            None | Some(Value::Null) => Some(position),
            Some(index) => index.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        let place = index.and_then(|index| vectors.get_mut(index)).filter(|place| place.is_empty());
        let place = place.ok_or_else(|| format!("`index` of vector {position} is wrong or there twice"))?;
        *place = numbers(item).ok_or_else(|| format!("vector {position} is not a list of numbers"))?;
        normalize(place);
    }
    Ok(vectors)
}

fn numbers(item: &Value) -> Option<Vec<f32>> {
    let numbers = item.get("embedding")?.as_array()?;
    let numbers: Option<Vec<f32>> =
        numbers.iter().map(|number| Some(number.as_f64()? as f32).filter(|number| number.is_finite())).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let check = |answer: Value, n_texts: usize, expect: Result<Vec<Vec<f32>>, &str>| {
            let read = read(&answer, n_texts);
            assert_eq!(read, expect.map_err(str::to_owned), "{answer}");
        };
        let vector = |index: u64, numbers: Value| json!({ "index": index, "embedding": numbers });
        let swapped = json!({ "data": [vector(1, json!([0, 2])), vector(0, json!([3, 4]))] });
        check(swapped, 2, Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
        check(json!({ "data": [{ "embedding": [0, 0] }] }), 1, Ok(vec![vec![0.0, 0.0]]));
        check(json!({ "data": [] }), 0, Ok(Vec::new()));
        check(json!({ "data": [] }), 1, Err("0 vectors for 1 texts"));
        check(json!({ "error": "x" }), 1, Err("it has no list `data`"));
        let twice = json!({ "data": [vector(0, json!([1])), vector(0, json!([1]))] });
        check(twice, 2, Err("`index` of vector 1 is wrong or there twice"));
        check(json!({ "data": [vector(7, json!([1]))] }), 1, Err("`index` of vector 0 is wrong or there twice"));
        for numbers in [json!([]), json!(["1"]), json!([1e300]), json!("AAAA"), json!(null)] {
            check(json!({ "data": [vector(0, numbers)] }), 1, Err("vector 0 is not a list of numbers"));
        }
    }
}
