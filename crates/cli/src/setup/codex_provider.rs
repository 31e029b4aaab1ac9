//! The provider that a person has in Codex, as its settings say.

use serde_json::Value;

/// Providers that Codex has built in beside OpenAI's, whose address its settings cannot change. Source:
/// `built_in_model_providers` in Codex' `model-provider-info`.
const FIXED: [&str; 3] = ["amazon-bedrock", "ollama", "lmstudio"];

/// What tells Codex that an address is Azure's. Source: `matches_azure_responses_base_url` in Codex' `codex-api`.
const AZURE: [&str; 6] =
    ["openai.azure.", "cognitiveservices.azure.", "aoai.azure.", "azure-api.", "azurefd.", "windows.net/openai"];

/// The provider that a person has chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Provider {
    /// Its name in `model_providers`; `None` for OpenAI's, which is built in.
    pub(super) id: Option<String>,
    /// Its address, where the settings have one.
    pub(super) address: Option<String>,
    /// Whether its requests have what the person logged in with.
    pub(super) uses_log_in: bool,
    /// Whether it is Azure by its name.
    pub(super) is_named_azure: bool,
}

/// Whether Codex takes an address for Azure's.
pub(super) fn is_azure(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    AZURE.iter().any(|mark| address.contains(mark))
}

impl Provider {
    /// The provider of these settings. The error is a sentence: its address cannot be another one.
    pub(super) fn read(settings: &Value) -> Result<Self, String> {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let id = text(&settings["model_provider"]).unwrap_or_else(|| "openai".to_owned());
        if id == "openai" {
            let address = text(&settings["openai_base_url"]);
            return Ok(Self { id: None, address, uses_log_in: true, is_named_azure: false });
        }
        if FIXED.contains(&id.as_str()) {
            return Err(format!("`model_provider` is `{id}`, whose address Codex does not take from its settings"));
        }
        let providers = settings.get("model_providers").filter(|providers| !providers.is_null());
        if providers.is_some_and(|providers| !providers.is_object()) {
            return Err("`model_providers` is not a table".to_owned());
        }
        let Some(own) = providers.and_then(|providers| providers.get(&id)) else {
            return Err(format!("`model_provider` is `{id}`, and there is no `[model_providers.{id}]`"));
        };
        if own.get("aws").is_some() {
            return Err(format!("the provider `{id}` signs its requests for its own address (`aws`)"));
        }
        Ok(Self {
            address: text(&own["base_url"]),
            uses_log_in: own["requires_openai_auth"].as_bool().unwrap_or(false),
            is_named_azure: own["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("azure")),
            id: Some(id),
        })
    }

    /// Where its address stands in the settings.
    pub(super) fn place(&self) -> Vec<String> {
        match &self.id {
            None => vec!["openai_base_url".to_owned()],
            Some(id) => vec!["model_providers".to_owned(), id.clone(), "base_url".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use serde_json::json;

    use super::*;

    #[test]
    fn providers_of_settings() {
        let check = |settings: Value, expect: Result<(&str, Option<&str>, bool), &str>| {
            let read = Provider::read(&settings);
            let read = read.as_ref().map(|it| (it.place().join("."), it.address.as_deref(), it.uses_log_in));
            match (read, expect) {
                (Ok(read), Ok(expect)) => assert_eq!((read.0.as_str(), read.1, read.2), expect, "{settings}"),
                (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
                (read, _) => panic!("{settings}: {read:?}"),
            }
        };
        let own = |provider: Value| json!({"model_provider": "own", "model_providers": {"own": provider}});
        check(json!({}), Ok(("openai_base_url", None, true)));
        check(json!({"model_provider": "openai", "openai_base_url": ""}), Ok(("openai_base_url", None, true)));
        check(json!({"openai_base_url": "https://p/v1"}), Ok(("openai_base_url", Some("https://p/v1"), true)));
        check(own(json!({"name": "Own"})), Ok(("model_providers.own.base_url", None, false)));
        let logged_in = json!({"base_url": "https://o", "requires_openai_auth": true});
        check(own(logged_in), Ok(("model_providers.own.base_url", Some("https://o"), true)));
        check(own(json!({"aws": {}})), Err("signs its requests"));
        check(json!({"model_provider": "own"}), Err("there is no `[model_providers.own]`"));
        check(json!({"model_provider": "own", "model_providers": 1}), Err("is not a table"));
        for id in FIXED {
            check(json!({"model_provider": id}), Err("does not take from its settings"));
        }
    }

    #[test]
    fn addresses_of_azure() {
        let check = |address: &str, expect: bool| assert_eq!(is_azure(address), expect, "{address}");
        check("https://me.OpenAI.azure.com/openai", true);
        check("https://gate.azure-api.net/x", true);
        check("https://api.openai.com/v1", false);
        check("https://azure.example/v1", false);
    }
}
