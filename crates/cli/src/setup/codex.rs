//! Codex: its provider reached through the service, and recall over its sessions.
//!
//! Codex lists and resumes sessions by the name of their provider, so the set-up adds none: it puts the service's address
//! in front of the provider that the person has, and the service passes on to that provider's own address.

use std::path::Path;

use serde_json::{Value, json};

use super::change::{Changes, refusal, text_of};
use super::codex_provider::{Provider, is_azure};
use super::document::Syntax;
use super::place::{Place, own_folder, start_of_service};
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use super::record::Record;
use super::version::Version;
use crate::failure::Failure;

/// The address of OpenAI's API. Source: `create_openai_provider` in Codex' `model-provider-info`.
const API: &str = "https://api.openai.com/v1";

/// The address that a log-in with a plan of ChatGPT is for. Source: `to_api_provider`, there.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// The first version that reads `openai_base_url`. Source: the key is in the program 0.115.0, and not in 0.114.0.
const BASE_URL: Version = Version([0, 115, 0]);

pub(super) fn plan(place: &Place, earlier: Option<&Record>) -> Result<Plan, Failure> {
    if place.project.is_some() {
        let failure = Failure::usage_text("Codex takes its providers from the person's settings, not from a project's");
        return Err(failure.with_help("leave --scope project out"));
    }
    let folder = own_folder("CODEX_HOME", ".codex")?;
    let path = folder.join("config.toml");
    // What an earlier set-up put there is not the person's provider.
    let text = Changes::text_without(&path, earlier)?.unwrap_or_default();
    let settings = Syntax::Toml.value(&text, &[]).map_err(|problem| refusal(&path, &problem))?.unwrap_or_default();
    let provider = Provider::read(&settings).map_err(|problem| refusal(&path, &problem))?;
    if provider.id.is_none() {
        place.needs("Codex", BASE_URL, "read `openai_base_url`")?;
    }
    let default = if provider.uses_log_in && is_plan(&folder.join("auth.json"))? { CHATGPT } else { API };
    let upstream = provider.address.as_deref().unwrap_or(default).trim_end_matches('/');
    if !["https://", "http://"].iter().any(|scheme| upstream.starts_with(scheme)) {
        return Err(refusal(&path, &format!("`{}` is not an address of HTTP", provider.place().join("."))));
    }
    let address = address_in_front(&place.service, upstream);
    if upstream == address {
        let problem =
            format!("`{}` is the service's address already, and not epitome's doing", provider.place().join("."));
        return Err(refusal(&path, &problem));
    }
    let mut values = vec![PlannedValue { keys: provider.place(), value: address.into(), other: OtherValue::Replace }];
    // Codex knows Azure by its address, and sends it other requests; behind another address it goes by the name.
    if let Some(id) = provider.id.as_deref().filter(|_| is_azure(upstream) && !provider.is_named_azure) {
        values.push(PlannedValue::new(&["model_providers", id, "name"], "Azure", OtherValue::Replace));
    }
    let server = json!({"command": place.program, "args": ["mcp", "--beside", "codex", "--needs", place.service]});
    values.push(PlannedValue::new(&["mcp_servers", "epitome"], server, OtherValue::Refuse));
    let mut advice = vec![
        start_of_service(&place.service, upstream),
        "without the service Codex waits (\"Reconnecting... waiting for network\") until it is there; --undo gives \
         Codex its own address back"
            .to_owned(),
    ];
    advice.extend(profiles_beside(&settings, provider.id.as_deref().unwrap_or("openai")));
    let content = PlannedContent::Values(Syntax::Toml, values);
    Ok(Plan { files: vec![PlannedFile { path, content }], advice, ..Plan::default() })
}

/// The service's address as Codex gets it in place of a provider's: what Codex writes behind its own, the service writes
/// behind `upstream`. A version at the end of that stands for the `/v1` in front of it.
fn address_in_front(service: &str, upstream: &str) -> String {
    let last = upstream.rsplit('/').next().unwrap_or_default();
    let has_version = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if has_version { format!("{service}/v1") } else { service.to_owned() }
}

/// Whether the person has logged in with a plan of ChatGPT, and not with a key of the API. Source: `AuthDotJson` in Codex'
/// `login`: `auth_mode` where it is written, otherwise tokens without a key.
fn is_plan(auth: &Path) -> Result<bool, Failure> {
    let Some(text) = text_of(auth)? else { return Ok(false) };
    let kept: Value = serde_json::from_str(&text).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!("{} is not JSON", auth.display()));
        Failure::usage(error).with_help("log in again: codex login; nothing was changed")
    })?;
    Ok(match kept["auth_mode"].as_str() {
        Some(mode) => !mode.eq_ignore_ascii_case("apikey"),
        None => kept["tokens"].is_object() && kept["OPENAI_API_KEY"].as_str().is_none_or(str::is_empty),
    })
}

/// A line for each profile that names another provider: under it Codex does not go through the service.
fn profiles_beside(settings: &Value, id: &str) -> Vec<String> {
    let own = settings["profiles"].as_object().into_iter().flatten().filter_map(|(name, profile)| {
        let provider = profile["model_provider"].as_str().filter(|provider| *provider != id)?;
        Some(format!(
            "the profile `{name}` names another provider, `{provider}`: with it Codex does not go through the service"
        ))
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_front_of_providers() {
        let check = |upstream: &str, expect: &str| {
            assert_eq!(address_in_front("http://127.0.0.1:7777", upstream), expect, "{upstream}");
        };
        check(API, "http://127.0.0.1:7777/v1");
        check(CHATGPT, "http://127.0.0.1:7777");
        check("https://me.openai.azure.com/openai/v1", "http://127.0.0.1:7777/v1");
        check("https://me.openai.azure.com/openai", "http://127.0.0.1:7777");
        check("https://host/api/paas/v4", "http://127.0.0.1:7777/v1");
        check("https://host", "http://127.0.0.1:7777");
        check("https://host/very", "http://127.0.0.1:7777");
    }
}
