//! The sections of a file. One line declares each: its name, its table, and what template and reference say of it.

use std::collections::BTreeMap;

use epitome_strategy::{Field, SettingsTable, Value};

use crate::error::{Problem, suggestion};
use crate::live::{LiveSettings, TriggersTable};
use crate::named::{AgentTable, ChannelTable, ModelTable};
use crate::tables::{
    BudgetTable, CounterTable, EmbeddingsTable, LexiconTable, MarksTable, PinsTable, ProxyTable, QualityTable,
    SelectTable, SummaryTable,
};

/// A section, or the tables of one kind under names of the user's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
}

impl Section {
    /// The problem of a key that the table `name` of this section does not have.
    pub(crate) fn unknown_key(&self, name: &str, key: &str) -> Option<Problem> {
        let known = self.fields.iter().map(|field| field.name);
        if known.clone().any(|known| known == key) {
            return None;
        }
        let help = suggestion(key, known.clone(), || format!("there are {}", known.collect::<Vec<_>>().join(", ")));
        let section = self.name;
        Some(Problem::new(None, format!("`{key}` is not a key of [{section}.{name}]")).with_help(help))
    }
}

/// Makes [`Tables`] with its access by name, [`SECTIONS`] and [`NAMED`] of one list.
macro_rules! sections {
    (
        fixed { $($fixed:ident: $table:ty = $doc:literal;)* }
        named { $($named:ident: $entry:ty = $named_doc:literal;)* }
    ) => {
        /// The tables of a file: one for each section with fixed keys, several by name for each of the others.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Tables {
            $(pub(crate) $fixed: $table,)*
            $(pub(crate) $named: BTreeMap<String, $entry>,)*
        }

        /// The sections with fixed keys, in the order of the template.
        pub(crate) const SECTIONS: &[Section] =
            &[$(Section { name: stringify!($fixed), doc: $doc, fields: <$table>::FIELDS },)*];

        /// The sections that hold tables by names of the user's, in the order of the template.
        pub(crate) const NAMED: &[Section] =
            &[$(Section { name: stringify!($named), doc: $named_doc, fields: <$entry>::FIELDS },)*];

        impl Tables {
            /// Sets a key; for one of [`NAMED`] the key begins with the name of its table and a dot.
            pub(crate) fn set(&mut self, section: &str, key: &str, value: &Value) -> Result<(), String> {
                match section {
                    $(stringify!($fixed) => set(&mut self.$fixed, key, value),)*
                    $(stringify!($named) => set_named(&mut self.$named, key, value),)*
                    _ => Err("is not a key".to_owned()),
                }
            }

            /// The value of a key of one of [`SECTIONS`]; `None` for an unknown key.
            pub(crate) fn get(&self, section: &str, key: &str) -> Option<Value> {
                match section {
                    $(stringify!($fixed) => self.$fixed.get(key),)*
                    _ => None,
                }
            }

            /// Adds an empty table to one of [`NAMED`], unless it has one of that name.
            pub(crate) fn add(&mut self, section: &str, name: &str) {
                match section {
                    $(stringify!($named) => drop(self.$named.entry(name.to_owned()).or_default()),)*
                    _ => {}
                }
            }

            /// Removes a table of one of [`NAMED`]; whether it was there.
            pub(crate) fn remove(&mut self, section: &str, name: &str) -> bool {
                match section {
                    $(stringify!($named) => self.$named.remove(name).is_some(),)*
                    _ => false,
                }
            }

            /// Every key of the tables in [`NAMED`] with its value, spelt with section and name.
            pub(crate) fn named_values(&self) -> Vec<(String, Value)> {
                let mut values = Vec::new();
                $(self.$named.iter().for_each(|(name, table)| {
                    let key = |field: &Field| {
                        let key = format!("{}.{name}.{}", stringify!($named), field.name);
                        Some((key, table.get(field.name)?))
                    };
                    values.extend(<$entry>::FIELDS.iter().filter_map(key));
                });)*
                values
            }
        }
    };
}

sections! {
    fixed {
        budget: BudgetTable = "How much context there is, and when and how far to compact.";
        triggers: TriggersTable =
            "What starts a compaction beside the thresholds. All of these suggest one; `hard` alone forces it.";
        live: LiveSettings = "What a host that keeps sessions running does around a compaction.";
        counter: CounterTable = "How tokens are counted.";
        pins: PinsTable =
            "What stays verbatim, beside the system prompt, open calls and the newest user message, which always do.";
        marks: MarksTable = "What the texts say that stand for what left the context.";
        proxy: ProxyTable = "What the proxy of `epitome serve` does beside compacting.";
        select: SelectTable = "How the chain of strategies is chosen.";
        quality: QualityTable =
            "The least that a compaction must keep of what the session held, and what follows where it does not.";
        summary: SummaryTable = "Who writes the summaries that strategies ask for, and how long they may be.";
        embeddings: EmbeddingsTable = "What turns texts into vectors, for the strategies that go by meaning.";
        lexicon: LexiconTable =
            "Cue words beside those that ship, by what they tell. A word between two slashes is a regular expression.";
    }
    named {
        models: ModelTable =
            "What is known of a model, over what ships. The name is the beginning of the model's own.";
        channels: ChannelTable =
            "How a service with models is reached, under a name of yours. Keys stand in the environment or in a file of \
             their own, never here.";
        agents: AgentTable =
            "What one agent does differently, under a name of yours, for `--agent`. What is not set is as for all.";
    }
}

fn set(table: &mut impl SettingsTable, key: &str, value: &Value) -> Result<(), String> {
    table.set(key, value).map_err(|error| error.problem)
}

/// Sets a value of one of several tables of a kind; `name` is the table's name and the key.
fn set_named<T: SettingsTable>(tables: &mut BTreeMap<String, T>, name: &str, value: &Value) -> Result<(), String> {
    let (table, key) = name.rsplit_once('.').ok_or("takes a table of settings with a name of its own")?;
    set(tables.entry(table.to_owned()).or_default(), key, value)
}
