//! Services that fail now and then: a summarizer, an embedder, and a strategy that needs vectors.

use crate::hostile::Chaos;
use epitome_strategy::{
    EmbedError, Embedder, Embeddings, Goal, Lossiness, Meta, ModelUsage, Plan, PlanError, RequiredServices, Strategy,
    SummarizeError, Summarizer, Summary, SummaryTask, View, async_trait,
};
use epitome_testkit::FakeEmbedder;

/// The message of [`FickleEmbedder`]'s panics.
pub(super) const EMBEDDER_PANIC: &str = "no idea";

/// A summarizer that now and then fails, writes nothing or writes too much.
#[derive(Debug, Clone, Copy)]
pub struct FickleSummarizer;

#[async_trait]
impl Summarizer for FickleSummarizer {
    fn kind(&self) -> &str {
        "fickle"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let failed = || SummarizeError::new("not today", true);
        let summary = |text: String| Summary {
            text,
            usage: ModelUsage { answers: 1, input_tokens: 1, output_tokens: 1, ..ModelUsage::default() }.into(),
            ..Summary::default()
        };
        match task.request.max_tokens % 4 {
            0 => Err(failed()),
            1 => Ok(summary(String::new())),
            2 => Ok(summary("far too long ".repeat(2_000))),
            _ => Ok(summary("what was said".to_owned())),
        }
    }
}

/// An embedder that now and then fails, panics or answers nonsense.
#[derive(Debug, Clone, Copy)]
pub struct FickleEmbedder;

#[async_trait]
impl Embedder for FickleEmbedder {
    fn name(&self) -> &str {
        "fickle"
    }

    fn dimensions(&self) -> usize {
        FakeEmbedder.dimensions()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        match texts.iter().map(|text| text.len()).sum::<usize>() % 6 {
            0 => Err(EmbedError { message: "not today".to_owned(), retryable: true }),
            #[expect(clippy::panic, reason = "what this embedder is for")]
            1 => panic!("{EMBEDDER_PANIC}"),
            2 => Ok(Embeddings::default()),
            3 => Ok(Embeddings::new(1, vec![f32::NAN; texts.len()])),
            _ => FakeEmbedder.embed(texts).await,
        }
    }
}

/// Plans like [`Chaos`], but only with vectors; it panics with vectors that break the engine's promise.
#[derive(Debug)]
pub struct VectorChaos(pub Chaos);

impl Strategy for VectorChaos {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "chaos-with-vectors",
            summary: "plans at random where it has vectors",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: true, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let vectors = view.vectors().map_err(|reason| PlanError(reason.to_owned()))?;
        assert_eq!(vectors.units.len(), view.units().len(), "a vector for each unit");
        assert_eq!(vectors.focus.is_some(), goal.focus.is_some(), "a vector for the question");
        assert!(vectors.units.values().iter().all(|value| value.is_finite()), "vectors of numbers");
        self.0.plan(view, goal)
    }
}
