//! Every key of the file, for reading, suggestions, the template and the reference.

use epitome_strategy::{Field, SettingsTable};

use crate::error::{Problem, suggestion};
use crate::live::{LiveTable, TriggersTable};
use crate::named::{AgentTable, ChannelTable, ModelTable};
use crate::tables::{
    BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, MarksTable, PinsTable, ProxyTable, QualityTable,
    SelectTable, SummaryTable,
};

/// A section with fixed keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
}

impl Section {
    /// What is wrong with a key that the table `name` of this section does not have.
    pub(crate) fn unknown_key(&self, name: &str, key: &str) -> Option<Problem> {
        let known = self.fields.iter().map(|field| field.name);
        if known.clone().any(|known| known == key) {
            return None;
        }
        let help = match suggestion(key, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
        };
        let section = self.name;
        Some(Problem::new(None, format!("`{key}` is no key of [{section}.{name}]")).with_help(help))
    }
}

/// The sections with fixed keys, in the order of the template.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        name: "budget",
        doc: "How much context there is, and when and how far to compact.",
        fields: BudgetTable::FIELDS,
    },
    Section {
        name: "triggers",
        doc: "What starts a compaction beside the thresholds. All of these suggest one; `hard` alone forces it.",
        fields: TriggersTable::FIELDS,
    },
    Section {
        name: "live",
        doc: "What a host that keeps sessions running does around a compaction.",
        fields: LiveTable::FIELDS,
    },
    Section { name: "counter", doc: "How tokens are counted.", fields: CounterTable::FIELDS },
    Section {
        name: "pins",
        doc: "What stays verbatim, beside the system prompt, open calls and the newest user message, which always do.",
        fields: PinsTable::FIELDS,
    },
    Section {
        name: "marks",
        doc: "What the texts say that stand for what left the context.",
        fields: MarksTable::FIELDS,
    },
    Section {
        name: "proxy",
        doc: "What the proxy of `epitome serve` does beside compacting.",
        fields: ProxyTable::FIELDS,
    },
    Section { name: "select", doc: "How the chain of strategies is chosen.", fields: SelectTable::FIELDS },
    Section {
        name: "quality",
        doc: "The least that a compaction must keep of what the session held, and what follows where it does not.",
        fields: QualityTable::FIELDS,
    },
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
pub(crate) const TOP_LEVEL: &[&str] = &[
    "preset",
    "budget",
    "triggers",
    "live",
    "counter",
    "pins",
    "marks",
    "proxy",
    "select",
    "quality",
    "summary",
    "embeddings",
    "lexicon",
    "chains",
    "strategies",
    "models",
    "channels",
    "agents",
];

/// The sections that hold tables by names of the user's, in the order of the template.
pub(crate) const NAMED: &[Section] = &[
    Section {
        name: "models",
        doc: "What is known of a model, over what ships. The name is the beginning of the model's own.",
        fields: ModelTable::FIELDS,
    },
    Section {
        name: "channels",
        doc: "How a service with models is reached, under a name of yours. Keys stand in the environment or in a file of \
              their own, never here.",
        fields: ChannelTable::FIELDS,
    },
    Section {
        name: "agents",
        doc: "What one agent does differently, under a name of yours, for `--agent`. What is not set is as for all.",
        fields: AgentTable::FIELDS,
    },
];

/// A second name of a key, which other tools use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alias {
    /// The second name, accepted in `[budget]`.
    pub(crate) name: &'static str,
    /// The key that it stands for.
    pub(crate) key: &'static str,
    /// What it takes.
    pub(crate) value: AliasValue,
}

/// What a second name takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AliasValue {
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// `true` for a model, `false` for the rules.
    UseLlm,
}

/// The second names. Both of a pair in one file are refused.
pub(crate) const ALIASES: &[Alias] = &[
    Alias { name: "soft_threshold_tokens", key: "budget.soft", value: AliasValue::Integer },
    Alias { name: "hard_threshold_tokens", key: "budget.hard", value: AliasValue::Integer },
    Alias { name: "reserve_tokens", key: "budget.reserve_output", value: AliasValue::Integer },
    Alias { name: "keep_recent_messages", key: "pins.keep_recent", value: AliasValue::Integer },
    Alias { name: "summary_max_tokens", key: "summary.max_tokens", value: AliasValue::Integer },
    Alias { name: "memory_flush_enabled", key: "live.memory_flush", value: AliasValue::Flag },
    Alias { name: "use_llm", key: "summary.summarizer", value: AliasValue::UseLlm },
    Alias { name: "llm_fallback_to_rules", key: "summary.fall_back_to_rules", value: AliasValue::Flag },
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

/// Every key of the sections that hold tables by names of the user's: those of a model, a channel, an agent.
pub fn named_keys() -> impl Iterator<Item = Key> {
    NAMED.iter().flat_map(|section| section.fields.iter().map(|field| Key { section: section.name, field }))
}

/// The second names that `[budget]` takes, each with the key that it stands for.
pub fn second_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALIASES.iter().map(|alias| (alias.name, alias.key))
}
