//! Every key of the file, for suggestions and for hosts, and the second names that some have.

use epitome_strategy::Field;

use crate::sections::{NAMED, SECTIONS, Section};

/// All keys that the top level of a file may have, in the order of the template.
pub(crate) fn top_level() -> impl Iterator<Item = &'static str> + Clone {
    let names = |sections: &'static [Section]| sections.iter().map(|section| section.name);
    ["preset"].into_iter().chain(names(SECTIONS)).chain(["chains", "strategies"]).chain(names(NAMED))
}

/// A second name of a key, which other tools use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alias {
    /// The second name, accepted in `[budget]`.
    pub(crate) name: &'static str,
    /// The key that it is another name of.
    pub(crate) key: &'static str,
    /// The value that it takes.
    pub(crate) value: AliasValue,
}

/// The value of a second name.
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

/// The second names that `[budget]` takes, each with its key.
pub fn second_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALIASES.iter().map(|alias| (alias.name, alias.key))
}
