//! The table of strategies that ship with epitome.

use epitome_strategy::{Registration, Registry, RegistryError};

/// Every strategy that ships, one line each: a new one is its crate, a dependency in this crate's manifest and a line here.
fn registrations() -> Vec<Registration> {
    vec![
        Registration::of::<epitome_superseded_reads::SupersededReads>(),
        Registration::of::<epitome_diff_truncation::DiffTruncation>(),
        Registration::of::<epitome_tool_results::ToolResults>(),
        Registration::of::<epitome_tool_chains::ToolChains>(),
        Registration::of::<epitome_message_truncation::MessageTruncation>(),
        Registration::of::<epitome_hierarchical::Hierarchical>(),
        Registration::of::<epitome_time_decay::TimeDecay>(),
        Registration::of::<epitome_qa_pairs::QaPairs>(),
        Registration::of::<epitome_key_events::KeyEvents>(),
        Registration::of::<epitome_importance::Importance>(),
        Registration::of::<epitome_handoff::Handoff>(),
        Registration::of::<epitome_transcript::Transcript>(),
        Registration::of::<epitome_structured_extraction::StructuredExtraction>(),
        Registration::of::<epitome_vector_retrieval::VectorRetrieval>(),
        Registration::of::<epitome_semantic_clustering::SemanticClustering>(),
        Registration::of::<epitome_topic_segments::TopicSegments>(),
        Registration::of::<epitome_incremental_summary::IncrementalSummary>(),
        Registration::of::<epitome_summary::Summary>(),
        Registration::of::<epitome_sliding_window::SlidingWindow>(),
    ]
}

/// A registry of every strategy that ships. A host adds its own with [`Registry::register`].
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry).unwrap_or_else(|error| unreachable!("a test makes sure that no id stands twice: {error}"));
    registry
}

/// Adds every strategy that ships to `registry`. Errors when one of their ids is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registrations().into_iter().try_for_each(|registration| registry.register(registration))
}

#[cfg(test)]
mod tests;
