//! Codex: the service as its provider, and recall over its sessions.

use std::path::Path;

use serde_json::{Value, json};

use super::change::{refusal, text_of};
use super::document::Syntax;
use super::place::{Place, own_folder, start_of_service};
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use crate::failure::Failure;

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    if place.project.is_some() {
        let failure = Failure::usage_text("Codex takes its providers from the person's settings, not from a project's");
        return Err(failure.with_help("leave --scope project out"));
    }
    let folder = own_folder("CODEX_HOME", ".codex")?;
    // By this name Codex takes a provider for one that compacts itself, and asks it for compactions.
    let mut provider = json!({
        "name": "OpenAI",
        "base_url": format!("{}/v1", place.service),
        "wire_api": "responses",
    });
    // Who has logged in with a key goes on with that; who has not logged in gives the key by the environment.
    if has_key(&folder.join("auth.json"))? {
        provider["requires_openai_auth"] = true.into();
    } else {
        provider["env_key"] = "OPENAI_API_KEY".into();
    }
    let server = json!({"command": place.program, "args": ["mcp", "--beside", "codex"]});
    let values = vec![
        PlannedValue::new(&["model_provider"], "epitome", OtherValue::Replace),
        PlannedValue::new(&["model_providers", "epitome"], provider, OtherValue::Refuse),
        PlannedValue::new(&["mcp_servers", "epitome"], server, OtherValue::Refuse),
    ];
    let path = folder.join("config.toml");
    let mut advice = vec![
        start_of_service(&place.service, "https://api.openai.com"),
        "without the service Codex reaches no model; --undo gives it the earlier provider back".to_owned(),
    ];
    advice.extend(profiles_beside(&path)?);
    let content = PlannedContent::Values(Syntax::Toml, values);
    Ok(Plan { files: vec![PlannedFile { path, content }], advice })
}

/// Whether the person has logged in with a key of the API; not logged in where there is no file. A log-in with a plan of
/// ChatGPT is refused: its address is another one.
fn has_key(auth: &Path) -> Result<bool, Failure> {
    let Some(text) = text_of(auth)? else { return Ok(false) };
    let kept: Value = serde_json::from_str(&text).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!("{} is not JSON", auth.display()));
        Failure::usage(error).with_help("log in again: codex login; nothing was changed")
    })?;
    let is_plan = kept["auth_mode"].as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("chatgpt"));
    if !is_plan && kept["OPENAI_API_KEY"].as_str().is_some_and(|key| !key.is_empty()) {
        return Ok(true);
    }
    let path = auth.display();
    let failure =
        Failure::usage_text(format!("Codex is logged in without an API key ({path}), as with a ChatGPT plan"));
    Err(failure.with_help(
        "a plan reaches its models at an address that the service does not pass on to; log in with a key \
         (codex login --with-api-key), or log out (codex logout) and set OPENAI_API_KEY; nothing was changed",
    ))
}

/// A line for each profile that names a provider of its own: under it Codex does not go through the service.
fn profiles_beside(config: &Path) -> Result<Vec<String>, Failure> {
    let text = text_of(config)?.unwrap_or_default();
    let profiles = Syntax::Toml.value(&text, &["profiles".to_owned()]).map_err(|problem| refusal(config, &problem))?;
    let profiles = profiles.as_ref().and_then(Value::as_object);
    let own = profiles.into_iter().flatten().filter_map(|(name, profile)| {
        let provider = profile["model_provider"].as_str().filter(|provider| *provider != "epitome")?;
        Some(format!(
            "the profile `{name}` names a provider of its own, `{provider}`: with it Codex does not go through the service"
        ))
    });
    Ok(own.collect())
}
