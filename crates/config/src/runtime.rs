//! From configuration to running parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_engine::{Budget, Chain, Chains, Engine, MinQuality, Mode, Pins, SelectSettings, SignalDetector, Triggers};
use epitome_providers::chat::ChatModel;
use epitome_strategy::{Registry, Strategy, Summarizer, TaskKind, TokenCounter, Tokens, Value};
use epitome_tokens::{BY_MODEL, CounterError, ModelCounter};
use serde_json::Map;

use crate::check::{of_one, unknown_strategy};
use crate::config::Config;
use crate::embeddings;
use crate::error::{ConfigErrors, Problem};
use crate::lexicon;
use crate::live::LiveSettings;
use crate::models::{ModelLimits, Models, UnknownModel};
use crate::summarizer::{self, OnProgress, SummaryModel, Writer};
use crate::thresholds::fit_to_window;
use crate::values::{CompactionBy, SummarizerChoice};

/// The strategy that clears old results below the thresholds.
const CLEARING: &str = "tool-results";

/// Characters that the model's texts in old rounds keep where they are cleared below the thresholds: those of the design
/// with two layers.
const CLEARED_TEXT_CHARS: u32 = 200;

/// The suffix of a chain for later compactions.
const LATER: &str = "-later";

/// The running parts that a configuration describes.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// The budget; the tool definitions of a session are not counted in yet.
    pub budget: Budget,
    /// The model that `[budget] model` names.
    pub model: Option<String>,
    /// The triggers of a compaction beside the budget's thresholds.
    pub triggers: Triggers,
    /// The settings for a host that keeps sessions running.
    pub live: LiveSettings,
    /// The strategy that clears old results below the thresholds, where `[live] clear_tokens` asks for it:
    /// `tool-results` with its settings, but for old results alone.
    pub clearing: Option<Arc<dyn Strategy>>,
    /// The token counter: that of the configuration, or one that stands for each session's own.
    pub counter: Arc<dyn TokenCounter>,
    /// The engine with that counter and without a summarizer; [`engine`](Self::engine) returns it complete.
    pub base_engine: Engine,
    /// Whether the proxy gives the model tools to look up removed text.
    pub proxy_recall: bool,
    /// Who makes the compactions that clients of the proxy ask their provider for.
    pub proxy_compaction: CompactionBy,
    /// The way to choose the chain.
    pub mode: Mode,
    /// The chain of `mode = "fixed"`.
    pub fixed: Option<Chain>,
    /// The writer of summaries, see [`make_summarizer`](Self::make_summarizer).
    pub summarizer: SummarizerChoice,
    /// Whether hand-offs are prepared in the background, where a host can.
    pub background: bool,
    /// The agent that these are the parts of, where it is one of `[agents]`.
    pub agent: Option<String>,
    /// The configuration that it was built from.
    config: Arc<Config>,
    writer: Writer,
    models: Models,
    /// The reserve for an answer, where something sets it beside the model.
    configured_reserve: Option<Tokens>,
    /// Every chain by name, those of the kinds of task included.
    named: BTreeMap<String, Chain>,
    /// Every strategy with its settings.
    strategies: BTreeMap<&'static str, Chain>,
}

impl Config {
    /// From here on, the errors of services that this configuration builds name the channel, and neither its address nor
    /// where its key lies: for hosts whose users are not their operators.
    pub fn hide_addresses(&mut self) {
        self.hides_addresses = true;
    }

    /// A model's answers that are kept (`[summary] cache`) count with what they took when they were given: what is compared is
    /// what a compaction takes, whoever asked for it before.
    pub fn count_known_answers(&mut self) {
        self.counts_known_answers = true;
    }

    /// The host has conversations in which their own model can be asked for summaries: `summarizer = "llm"` needs no channel
    /// then.
    pub fn has_conversations(&mut self) {
        self.has_conversations = true;
    }

    /// Builds what the configuration describes, for all agents or for the one that it is of. Every problem at once; for a configuration that [`parse`](Self::parse)
    /// gave for the same registry only what this machine lacks for the embedder and for the model that writes summaries: a
    /// file, a key, a feature of the build. Asks no service.
    pub fn build(&self, registry: &Registry) -> Result<Runtime, ConfigErrors> {
        ConfigErrors::check(of_one(self, registry))?;
        let registry = &self.registry(registry);
        let model = Some(self.tables.budget.model.as_str()).filter(|model| !model.is_empty());
        let counter = counter_of(&self.tables.counter.name.0, model).map_err(|error| {
            ConfigErrors::from_problems(vec![Problem::new(self.sources.place("counter.name"), error.to_string())])
        })?;
        let (embedder, writer) = match (embeddings::embedder(self), summarizer::writer(self)) {
            (Ok(embedder), Ok(writer)) => (embedder, writer),
            (embedder, writer) => {
                let problems = embedder.err().into_iter().chain(writer.err().into_iter().flatten());
                return Err(ConfigErrors::from_problems(problems.collect()));
            }
        };
        let lexicon = lexicon::lexicon(self).map_err(|problem| ConfigErrors::from_problems(vec![problem]))?;
        let (mut strategies, unset) = (BTreeMap::new(), BTreeMap::new());
        for registration in registry.iter() {
            let id = registration.meta.id;
            // Settings that a strategy refuses were refused above.
            if let Ok(strategy) = registration.build(self.strategies.get(id).unwrap_or(&unset)) {
                strategies.insert(id, Chain(vec![strategy]));
            }
        }
        let clearing = self.tables.live.clear_tokens.0.and_then(|_| self.clearing(registry));
        let chain_of = |ids: &[String]| {
            Chain(ids.iter().filter_map(|id| strategies.get(id.as_str())).flat_map(|one| one.0.clone()).collect())
        };
        let named: BTreeMap<String, Chain> =
            self.chains.keys().filter_map(|name| Some((name.clone(), chain_of(&self.chain(name)?)))).collect();
        let table = &self.tables;
        let mode = table.select.mode;
        let base_engine = Engine {
            embedder,
            lexicon,
            without_summary: table.summary.on_failure,
            summary_role: table.summary.role,
            max_summary_tokens: Some(table.summary.max_tokens).filter(|tokens| *tokens > 0),
            handles: table.marks.handles,
            redact_secrets: table.marks.redact_secrets,
            chains: chains(&named),
            select: SelectSettings {
                agreeing_verdicts: table.select.agreeing_verdicts,
                min_confidence: table.select.min_confidence,
                later_from: table.select.later_from,
            },
            quality: MinQuality {
                typed: table.quality.min_typed,
                instructions: table.quality.min_instructions,
                conclusions: table.quality.min_conclusions,
                summaries: table.quality.min_summaries,
                strings: table.quality.min_strings,
                files: table.quality.min_files,
                on_loss: table.quality.on_loss,
            },
            pins: Pins {
                original_task: table.pins.original_task,
                last_rounds: table.pins.last_rounds,
                keep_recent: table.pins.keep_recent,
                protected_tools: table.pins.protected_tools.clone(),
                markers: table.pins.markers.clone(),
            },
            refill: true,
            tells_state: true,
            ..Engine::new(Arc::clone(&counter), Arc::new(SignalDetector))
        };
        Ok(Runtime {
            budget: self.budget(),
            model: model.map(str::to_owned),
            triggers: Triggers::from(&table.triggers),
            clearing,
            live: table.live.clone(),
            counter,
            base_engine,
            proxy_recall: table.proxy.recall,
            proxy_compaction: table.proxy.compaction,
            mode,
            fixed: (mode == Mode::Fixed).then(|| named.get(&table.select.chain).cloned()).flatten(),
            summarizer: self.summarizer(),
            background: table.summary.background,
            agent: self.agent().map(str::to_owned),
            config: Arc::new(self.clone()),
            writer,
            models: self.models(),
            configured_reserve: self.configured_reserve(),
            named,
            strategies,
        })
    }
}

/// The counter that a configuration names, for sessions that go on with `model`.
fn counter_of(name: &str, model: Option<&str>) -> Result<Arc<dyn TokenCounter>, CounterError> {
    match name {
        BY_MODEL => Ok(Arc::new(ModelCounter::new(model)?)),
        name => epitome_tokens::by_name(name),
    }
}

impl Config {
    /// The strategy of the first layer. Where the file does not say how long, texts of old rounds are cut to
    /// [`CLEARED_TEXT_CHARS`].
    fn clearing(&self, registry: &Registry) -> Option<Arc<dyn Strategy>> {
        let registration = registry.get(CLEARING).ok()?;
        let mut settings = self.strategies.get(CLEARING).cloned().unwrap_or_default();
        settings.entry("max_text_chars".to_owned()).or_insert_with(|| CLEARED_TEXT_CHARS.into());
        settings.insert("tail_share".to_owned(), 0.0.into());
        settings.insert("cut_newer".to_owned(), false.into());
        registration.build(&settings).ok()
    }
}

impl Runtime {
    /// The runtime with the settings of one call over it: see [`Config::for_call`]. Asks no service.
    ///
    /// # Errors
    ///
    /// What a call may not set, or what is wrong with it.
    pub fn for_call(&self, settings: &Map<String, Value>, registry: &Registry) -> Result<Self, ConfigErrors> {
        self.config.for_call(settings, registry)?.build(registry)
    }

    /// The chain of that name, or the chain of the strategies listed; names of chains come first, as far as there is
    /// only one name. The error says which name is wrong and what there is.
    pub fn chain(&self, names: &[String], registry: &Registry) -> Result<Chain, String> {
        if let [name] = names
            && let Some(chain) = self.named.get(name)
        {
            return Ok(chain.clone());
        }
        let mut chain = Chain::default();
        for (index, name) in names.iter().enumerate() {
            match self.strategies.get(name.as_str()) {
                Some(_) if names[..index].contains(name) => return Err(format!("`{name}` is in the chain twice")),
                Some(one) => chain.0.extend(one.0.iter().cloned()),
                None => {
                    let problem = unknown_strategy(name, registry);
                    // One name may be a chain's, unless it is nearly a strategy's.
                    if names.len() > 1 || problem.help.as_deref().is_some_and(|help| help.ends_with('?')) {
                        return Err(problem.to_string());
                    }
                    let chains: Vec<&str> = self.named.keys().map(String::as_str).collect();
                    return Err(format!("{problem}; chains: {}", chains.join(", ")));
                }
            }
        }
        Ok(chain)
    }

    /// The summarizer that the configuration asks for, or `None` where it is switched off. `progress` receives how far
    /// a model is; all summarizers that one runtime makes share their cache and their bound on requests.
    pub fn make_summarizer(&self, progress: Option<OnProgress>) -> Option<Arc<dyn Summarizer>> {
        self.writer.summarizer(progress)
    }

    /// The summarizer for a session whose own model can be asked: `conversation` answers the instruction at the end of
    /// the session's request. With `summarizer = "provider"`, `compaction` is asked before it: it has the provider
    /// compact the session's request under the given instructions. Where that gives no hand-off the summarizer of
    /// [`make_summarizer`](Self::make_summarizer) writes it. That one alone where the configuration has no model write
    /// summaries, or has it asked with a transcript.
    pub fn make_summarizer_in(
        &self,
        conversation: Arc<dyn ChatModel>,
        compaction: Arc<dyn ChatModel>,
        progress: Option<OnProgress>,
    ) -> Option<Arc<dyn Summarizer>> {
        self.writer.summarizer_in(conversation, compaction, progress)
    }

    /// Whether summaries are asked for at the end of conversations, where the host has some.
    pub fn asks_conversations(&self) -> bool {
        self.writer.asks_conversations()
    }

    /// The model that writes summaries; `None` where rules write them, or summaries are off.
    pub fn summary_model(&self) -> Option<&SummaryModel> {
        match &self.writer {
            Writer::Model { about, .. } => Some(about),
            Writer::Off | Writer::Rules | Writer::Conversations { .. } => None,
        }
    }

    /// The budget for another model, for a session that continues with it: its window and reserve, the same thresholds.
    /// Those in tokens come down where the window has no room for them. Linear in the table of models.
    ///
    /// # Errors
    ///
    /// Nothing is known of the model; the error says what to write.
    pub fn budget_for(&self, model: &str) -> Result<Budget, UnknownModel> {
        let limits = self.models.limits(model)?;
        let reserve = limits.reserve(self.configured_reserve).min(limits.window / 2);
        Ok(fit_to_window(&self.budget, limits.window, reserve))
    }

    /// The budget in another window, whatever its model: the reserve of a window without a known model, the same
    /// thresholds as far as there is room for them.
    pub fn budget_in(&self, window: Tokens) -> Budget {
        let limits = ModelLimits { window, ..ModelLimits::default() };
        let reserve = limits.reserve(self.configured_reserve).min(window / 2);
        fit_to_window(&self.budget, window, reserve)
    }

    /// The chains by kind of task.
    pub fn chains(&self) -> &Chains {
        &self.base_engine.chains
    }

    /// The engine, which counts with `counter` and has summaries written by `summarizer`.
    pub fn engine(&self, counter: Arc<dyn TokenCounter>, summarizer: Option<Arc<dyn Summarizer>>) -> Engine {
        Engine { counter, summarizer, ..self.base_engine.clone() }
    }
}

/// Returns the chains by kind of task.
fn chains(named: &BTreeMap<String, Chain>) -> Chains {
    let of = |kind: TaskKind| named.get(kind.as_str()).cloned().unwrap_or_default();
    let later = |kind: TaskKind| Some((kind, named.get(&format!("{kind}{LATER}"))?.clone()));
    Chains {
        code: of(TaskKind::Code),
        analysis: of(TaskKind::Analysis),
        conversation: of(TaskKind::Conversation),
        mixed: of(TaskKind::Mixed),
        unknown: of(TaskKind::Unknown),
        later: TaskKind::ALL.into_iter().filter_map(later).collect(),
    }
}
