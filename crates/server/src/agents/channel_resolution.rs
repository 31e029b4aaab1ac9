//! Which of a tenant's channels settings mean.

use epitome::Config;
use epitome::store::{Channel, Tenant};
use serde_json::{Map, Value};

use super::settings::bad_settings;
use crate::http::ApiError;
use crate::state::Core;

/// The most names that an error repeats.
const MOST_NAMED: usize = 10;

/// The stored channels that settings mean: those that they name, or the only one for their model where they want a
/// model and name no channel. A channel that no settings name does not make the configuration's choice among its own
/// unclear.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResolvedChannels<'a> {
    /// None at all.
    Nothing,
    /// The channels of these names.
    Named(Vec<&'a str>),
    /// The one that each of these models is asked through; empty for the channel's usual model.
    For(Vec<&'a str>),
}

impl<'a> ResolvedChannels<'a> {
    /// The channels for an agent's settings and the session's own over them.
    pub(super) fn resolve(config: &Config, agent: &'a Map<String, Value>, own: &'a Map<String, Value>) -> Self {
        let layers = [agent, own];
        let mut named: Vec<&str> = layers.iter().filter_map(|settings| text(settings, "channel")).collect();
        if !named.is_empty() {
            named.retain(|name| config.channel(name).is_none());
            named.dedup();
            return Self::Named(named);
        }
        if config.channels().next().is_some() {
            return Self::Nothing;
        }
        let model_of_agent = text(agent, "model").unwrap_or_default();
        let model = |settings| text(settings, "model").unwrap_or(model_of_agent);
        let mut models: Vec<&str> = layers.into_iter().filter(|settings| wants_model(settings)).map(model).collect();
        models.dedup();
        if models.is_empty() { Self::Nothing } else { Self::For(models) }
    }

    /// These channels as they are stored: one row for each name; all of them where a choice has to be made.
    pub(super) async fn load(&self, core: &Core, tenant: &Tenant) -> Result<Vec<Channel>, ApiError> {
        let storage = core.storage()?;
        let failed = |error| storage.api_error(error);
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::Named(names) => {
                let mut channels = Vec::new();
                for name in names {
                    channels.extend(storage.store.channel(tenant, name).await.map_err(failed)?);
                }
                Ok(channels)
            }
            Self::For(_) => self.resolve_among(&storage.store.channels(tenant).await.map_err(failed)?),
        }
    }

    /// These channels among all that the tenant stored. Errors where it is not clear which.
    pub(super) fn resolve_among(&self, channels: &[Channel]) -> Result<Vec<Channel>, ApiError> {
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::Named(names) => {
                Ok(channels.iter().filter(|channel| names.contains(&channel.name.as_str())).cloned().collect())
            }
            Self::For(models) => {
                let mut found: Vec<Channel> = Vec::new();
                for model in models {
                    let one = only_channel_for(channels, model)?.filter(|one| !found.contains(one));
                    found.extend(one.cloned());
                }
                Ok(found)
            }
        }
    }
}

/// The one channel for compaction that has a model, by the rules of a configuration's own ones. Found before anything
/// is built, because several channels need not all be read.
fn only_channel_for<'a>(channels: &'a [Channel], model: &str) -> Result<Option<&'a Channel>, ApiError> {
    let usable = |channel: &&Channel| channel.settings.get("compaction") != Some(&Value::Bool(false));
    let has = |channel: &&Channel| match channel.settings.get("models").and_then(Value::as_array) {
        Some(models) if !models.is_empty() => models.iter().any(|known| known == model),
        Some(_) | None => true,
    };
    let usable: Vec<&Channel> = channels.iter().filter(usable).collect();
    let fitting: Vec<&Channel> = usable.iter().copied().filter(|channel| model.is_empty() || has(channel)).collect();
    let marked: Vec<&Channel> =
        fitting.iter().copied().filter(|channel| channel.settings.get("default") == Some(&Value::Bool(true))).collect();
    if let [one] = marked.as_slice() {
        return Ok(Some(one));
    }
    let message = match (fitting.as_slice(), usable.as_slice()) {
        ([one], _) | ([], [one]) => return Ok(Some(one)),
        // The configuration has words for that.
        ([], []) if channels.is_empty() => return Ok(None),
        ([], []) => format!("none of the channels may be used for compaction: {}", names(channels.iter())),
        ([], _) => format!("no channel lists the model `{model}`: there are {}", names(usable.into_iter())),
        _ => format!("which channel writes summaries is not said: there are {}", names(fitting.into_iter())),
    };
    let help = "name it with `channel`, or mark one with `default`; GET /v1/channels lists those that there are";
    Err(bad_settings(message, help))
}

fn names<'a>(channels: impl ExactSizeIterator<Item = &'a Channel>) -> String {
    let more = if channels.len() > MOST_NAMED { ", …" } else { "" };
    let names: Vec<&str> = channels.take(MOST_NAMED).map(|channel| channel.name.as_str()).collect();
    names.join(", ") + more
}

/// Whether settings ask for a model, as far as they say so explicitly.
fn wants_model(settings: &Map<String, Value>) -> bool {
    text(settings, "model").is_some()
        || settings.get("summarizer").is_some_and(|value| value == "llm" || value == "provider")
}

/// A key's text; none where it is empty.
fn text<'a>(settings: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    settings.get(key)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn channels_that_are_meant() {
        let channel = |name: &str, settings: Value| Channel { name: name.to_owned(), settings, key: None };
        let stored = [
            channel("large", json!({"models": ["big", "bigger"]})),
            channel("none", json!({"models": ["tiny"], "compaction": false})),
            channel("small", json!({"models": ["tiny"]})),
        ];
        let with_own = Config::default().with_channels([("house", &Map::new())]).unwrap();
        let check_in = |config: &Config, agent: Value, own: Value, expect: Result<&[&str], &str>| {
            let (agent, own) = (agent.as_object().unwrap().clone(), own.as_object().unwrap().clone());
            let found = ResolvedChannels::resolve(config, &agent, &own).resolve_among(&stored);
            let found = found.map(|found| found.into_iter().map(|channel| channel.name).collect::<Vec<_>>());
            let expect = expect.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(found.map_err(|error| error.message), expect.map_err(str::to_owned), "{agent:?} {own:?}");
        };
        let check = |agent, own, expect| check_in(&Config::default(), agent, own, expect);
        check(json!({}), json!({"window": 9000}), Ok(&[]));
        check(json!({"channel": "large"}), json!({}), Ok(&["large"]));
        check(json!({"channel": "large"}), json!({"channel": "none"}), Ok(&["large", "none"]));
        check(json!({"channel": "gone"}), json!({"summarizer": "llm"}), Ok(&[]));
        check(json!({"model": "tiny"}), json!({"channel": "large"}), Ok(&["large"]));
        check(json!({"model": "tiny"}), json!({}), Ok(&["small"]));
        check(json!({"model": "tiny"}), json!({"summarizer": "llm"}), Ok(&["small"]));
        check(json!({"model": "tiny"}), json!({"model": "bigger"}), Ok(&["small", "large"]));
        let unclear = "which channel writes summaries is not said: there are large, small";
        check(json!({"summarizer": "llm"}), json!({}), Err(unclear));
        check(json!({"summarizer": "provider"}), json!({}), Err(unclear));
        check(json!({}), json!({"summarizer": "llm"}), Err(unclear));
        check(json!({"model": "huge"}), json!({}), Err("no channel lists the model `huge`: there are large, small"));
        check_in(&with_own, json!({"summarizer": "llm"}), json!({}), Ok(&[]));
        check_in(&with_own, json!({"channel": "house"}), json!({"channel": "small"}), Ok(&["small"]));
    }

    #[test]
    fn one_channel_is_no_choice() {
        let channel = |name: &str, settings: Value| Channel { name: name.to_owned(), settings, key: None };
        let name = |channels: &[Channel], model: &str| {
            only_channel_for(channels, model).map(|one| one.map(|one| one.name.clone())).map_err(|error| error.message)
        };
        assert_eq!(name(&[], "m"), Ok(None));
        let [one, two] = ["one", "two"].map(|name| channel(name, json!({})));
        let marked = channel("three", json!({"default": true}));
        assert_eq!(name(&[one.clone(), marked.clone(), two.clone()], ""), Ok(Some("three".to_owned())));
        let twice = channel("four", json!({"default": true}));
        assert!(name(&[marked, twice], "").is_err_and(|message| message.contains("three, four")), "two are no mark");
        assert_eq!(name(&[channel("one", json!({"models": ["other"]}))], "m"), Ok(Some("one".to_owned())));
        let not_for_it = [channel("one", json!({"compaction": false}))];
        assert_eq!(name(&not_for_it, ""), Err("none of the channels may be used for compaction: one".to_owned()));
        let many: Vec<Channel> = (0..20).map(|number| channel(&format!("c{number}"), json!({}))).collect();
        let expect = "which channel writes summaries is not said: there are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, …";
        assert_eq!(name(&many, "m"), Err(expect.to_owned()));
    }
}
