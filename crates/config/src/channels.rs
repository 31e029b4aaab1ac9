//! Channels to models, and which of them writes summaries.

use epitome_strategy::SettingType;

use crate::config::Config;
use crate::error::{FileLocation, Problem, suggestion};
use crate::named::ChannelTable;
use crate::source::Source;
use crate::values::{ModelQuestion, SummarizerChoice};

/// The channel and the model that write summaries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryChannel<'a> {
    pub(crate) name: &'a str,
    pub(crate) channel: &'a ChannelTable,
    pub(crate) model: &'a str,
}

/// A block that makes a channel, for those who have none.
const EXAMPLE: &str = "write [channels.local] with `base_url = \"http://localhost:11434/v1\"` and `models = [\"…\"]`; docs/models.md has more";

/// The same for channels whose provider is to compact.
const COMPACTING: &str =
    "write [channels.claude] with `kind = \"anthropic\"` and `models = [\"…\"]`; docs/models.md has more";

impl Config {
    /// The names of the channels.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.tables.channels.keys().map(String::as_str)
    }

    /// A channel by its name.
    pub fn channel(&self, name: &str) -> Option<&ChannelTable> {
        self.tables.channels.get(name)
    }

    /// The writer of summaries. A preset that asks for a model, and whoever says that the rules step in for one
    /// (`fall_back_to_rules`), gets the rules where no channel may be used for compaction.
    pub fn summarizer(&self) -> SummarizerChoice {
        let falls_back = self.tables.summary.fall_back_to_rules
            && self.sources.get("summary.fall_back_to_rules") != Source::Default
            && !self.has_conversations;
        let may_be_rules = falls_back || matches!(self.sources.get("summary.summarizer"), Source::Preset(_));
        let has_channel = self.tables.channels.values().any(|channel| channel.compaction);
        match self.tables.summary.summarizer {
            SummarizerChoice::Llm if may_be_rules && !has_channel => SummarizerChoice::Rules,
            choice => choice,
        }
    }

    /// Whether a model is to write summaries, but no channel leads to one: only a conversation's own model can.
    pub(crate) fn asks_conversations_only(&self) -> bool {
        let table = &self.tables.summary;
        self.tables.channels.is_empty()
            && table.channel.is_empty()
            && table.model.is_empty()
            && table.ask == ModelQuestion::SameConversation
    }

    /// The channel and the model that `[summary]` names, or that are the only ones it can mean.
    pub(crate) fn summary_channel(&self) -> Result<SummaryChannel<'_>, Problem> {
        let (channel, model) = (self.tables.summary.channel.as_str(), self.tables.summary.model.as_str());
        let (name, table) = if channel.is_empty() { self.only_channel(model)? } else { self.named_channel(channel)? };
        let model = match (model, table.models.first()) {
            ("", Some(first)) => first.as_str(),
            ("", None) => {
                let place = self.sources.place(&format!("channels.{name}")).or_else(|| self.summary_place("channel"));
                let problem = Problem::new(place, format!("the channel `{name}` lists no models, and none is named"));
                return Err(problem.with_help("list them with `models = [\"…\"]`, or name one with `[summary] model`"));
            }
            (model, Some(_)) if !table.models.iter().any(|known| known == model) => {
                let message = format!("the channel `{name}` does not list the model `{model}`");
                let listed = || format!("it lists {}", table.models.join(", "));
                let help = suggestion(model, table.models.iter().map(String::as_str), listed);
                return Err(Problem::new(self.summary_place("model"), message).with_help(help));
            }
            (model, _) => model,
        };
        Ok(SummaryChannel { name, channel: table, model })
    }

    fn named_channel(&self, name: &str) -> Result<(&str, &ChannelTable), Problem> {
        let place = self.summary_place("channel");
        let Some((name, table)) = self.tables.channels.get_key_value(name) else {
            let help = suggestion(name, self.channels(), || match self.tables.channels.is_empty() {
                true => EXAMPLE.to_owned(),
                false => format!("there are {}", self.channels().collect::<Vec<_>>().join(", ")),
            });
            return Err(Problem::new(place, format!("there is no channel `{name}`")).with_help(help));
        };
        if !table.compaction {
            let problem = Problem::new(place, format!("the channel `{name}` may not be used for compaction"));
            return Err(problem.with_help(format!("name another one, or set `compaction = true` in [channels.{name}]")));
        }
        Ok((name, table))
    }

    /// The one channel for compaction that has `model`, where none is named.
    fn only_channel(&self, model: &str) -> Result<(&str, &ChannelTable), Problem> {
        let has = |table: &ChannelTable| table.models.is_empty() || table.models.iter().any(|known| known == model);
        let usable: Vec<(&str, &ChannelTable)> = self
            .tables
            .channels
            .iter()
            .filter(|(_, table)| table.compaction)
            .map(|(name, table)| (name.as_str(), table))
            .collect();
        let fitting: Vec<_> = usable.iter().copied().filter(|(_, table)| model.is_empty() || has(table)).collect();
        let marked: Vec<_> = fitting.iter().copied().filter(|(_, table)| table.default).collect();
        if let [one] = marked.as_slice() {
            return Ok(*one);
        }
        let (place, names) = (self.summary_place("summarizer"), |channels: &[(&str, &ChannelTable)]| {
            channels.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        });
        match (fitting.as_slice(), usable.as_slice()) {
            ([one], _) | ([], [one]) => Ok(*one),
            ([], []) if self.tables.channels.is_empty() => {
                let choice = self.tables.summary.summarizer.to_value();
                let message = format!("`summarizer = {choice}` needs a channel to a model, and there is none");
                let problem = Problem::new(place, message);
                let compacts = self.tables.summary.summarizer == SummarizerChoice::Provider;
                Err(problem.with_help(if compacts { COMPACTING } else { EXAMPLE }))
            }
            ([], []) => {
                let names: Vec<&str> = self.tables.channels.keys().map(String::as_str).collect();
                let message = format!("none of the channels may be used for compaction: {}", names.join(", "));
                Err(Problem::new(place, message).with_help("set `compaction = true` in one of them"))
            }
            ([], _) => {
                let message = format!("no channel lists the model `{model}`");
                let help = format!("add it to the `models` of one of {}", names(&usable));
                Err(Problem::new(self.summary_place("model"), message).with_help(help))
            }
            _ => {
                let message = format!("which channel writes summaries is not said: there are {}", names(&usable));
                let help = "name it with `[summary] channel`, or mark one of them with `default = true`";
                Err(Problem::new(place, message).with_help(help))
            }
        }
    }

    /// Where the file names who writes summaries: at the key `name`, else at one of the others.
    fn summary_place(&self, name: &str) -> Option<FileLocation> {
        [name, "summarizer", "channel", "model"].iter().find_map(|key| self.sources.place(&format!("summary.{key}")))
    }
}

/// The problems of channels, and of the choice among them.
pub(crate) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems: Vec<Problem> = config.channels().filter_map(|name| problem_of(config, name)).collect();
    let is_named = !config.tables.summary.channel.is_empty() || !config.tables.summary.model.is_empty();
    // The existence of a conversation to ask is known only when the configuration is built.
    let is_model = config.summarizer().asks_model() && !config.asks_conversations_only();
    if is_model || is_named {
        match config.summary_channel() {
            Ok(chosen) => problems.extend(without_compaction(config, &chosen)),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// The problem with asking this channel's provider for its own compaction, where that is configured.
fn without_compaction(config: &Config, chosen: &SummaryChannel<'_>) -> Option<Problem> {
    if config.summarizer() != SummarizerChoice::Provider {
        return None;
    }
    let problem = chosen.channel.kind.without_compaction()?;
    let place = config
        .sources
        .place("summary.summarizer")
        .or_else(|| config.sources.place(&format!("channels.{}", chosen.name)));
    let message = format!("`summarizer = \"provider\"`: the kind of the channel `{}` {problem}", chosen.name);
    Some(Problem::new(place, message).with_help(
        "`summarizer = \"llm\"` has the channel's model write the summary; a channel of `kind = \"anthropic\"` compacts",
    ))
}

/// The problem of one channel alone.
pub(crate) fn problem_of(config: &Config, name: &str) -> Option<Problem> {
    let table = config.tables.channels.get(name)?;
    if table.key_variable.is_empty() || table.key_file.is_empty() {
        return None;
    }
    let place = config.sources.place(&format!("channels.{name}.key_file"));
    let problem = Problem::new(place, format!("the channel `{name}` has a `key_variable` and a `key_file`"));
    Some(problem.with_help("keep one of them"))
}
