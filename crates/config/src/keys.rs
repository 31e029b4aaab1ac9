//! Every key of the file, for reading, suggestions, the template and the reference.

use epitome_strategy::{Field, SettingsTable};

use crate::tables::{BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, PinsTable, SelectTable, SummaryTable};

/// A section with fixed keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
}

/// The sections with fixed keys, in the order of the template.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        name: "budget",
        doc: "How much context there is, and when and how far to compact.",
        fields: BudgetTable::FIELDS,
    },
    Section { name: "counter", doc: "How tokens are counted.", fields: CounterTable::FIELDS },
    Section {
        name: "pins",
        doc: "What stays verbatim, beside the system prompt, open calls and the newest user message, which always do.",
        fields: PinsTable::FIELDS,
    },
    Section { name: "select", doc: "How the chain of strategies is chosen.", fields: SelectTable::FIELDS },
    Section {
        name: "summary",
        doc: "Who writes the summaries that strategies ask for, and how long they may be.",
        fields: SummaryTable::FIELDS,
    },
    Section {
        name: "embeddings",
        doc: "What turns texts into vectors, for the strategies that go by meaning.",
        fields: EmbeddingsTable::FIELDS,
    },
    Section {
        name: "lexicon",
        doc: "Cue words beside those that ship, by what they tell. A word between two slashes is a regular expression.",
        fields: LexiconTable::FIELDS,
    },
];

/// Everything that may stand at the top level of a file.
pub(crate) const TOP_LEVEL: &[&str] =
    &["preset", "budget", "counter", "pins", "select", "summary", "embeddings", "lexicon", "chains", "strategies"];

/// A second name of a key, which other tools use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alias {
    /// The second name, accepted in `[budget]`.
    pub(crate) name: &'static str,
    /// The key that it stands for.
    pub(crate) key: &'static str,
}

/// The second names. Both of a pair in one file are refused.
pub(crate) const ALIASES: &[Alias] = &[
    Alias { name: "soft_threshold_tokens", key: "budget.soft" },
    Alias { name: "hard_threshold_tokens", key: "budget.hard" },
    Alias { name: "reserve_tokens", key: "budget.reserve_output" },
    Alias { name: "keep_recent_messages", key: "strategies.sliding-window.window" },
    Alias { name: "summary_max_tokens", key: "summary.max_tokens" },
];

/// A key with its declaration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The section.
    pub section: &'static str,
    /// Type, default, bounds, unit and documentation.
    pub field: &'static Field,
}

/// Every key of the sections with fixed keys, in the order of the template.
pub fn keys() -> impl Iterator<Item = Key> {
    SECTIONS.iter().flat_map(|section| section.fields.iter().map(|field| Key { section: section.name, field }))
}
