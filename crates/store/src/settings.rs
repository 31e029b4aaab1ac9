//! Agents and channels: what a service is set up with.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::tenant::check_name;

/// An agent that sessions belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The agent's name, unique among the tenant's agents.
    pub name: String,
    /// The agent's settings, which only the host reads: thresholds, models, the channel that it speaks through.
    #[serde(default)]
    pub settings: Value,
}

/// A way to a provider's models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The channel's name, unique among the tenant's channels.
    pub name: String,
    /// The channel's settings, which only the host reads: dialect, address, models, marks.
    #[serde(default)]
    pub settings: Value,
    /// Where its key is; `None` where it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyReference>,
}

/// Where a secret is. The secret itself is never stored.
///
/// As JSON `{"environment": "NAME"}` or `{"file": "/path"}`; errors of reading anything else do not repeat it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyReference {
    /// In an environment variable of the service, by its name: capital letters, digits and `_`.
    Environment(String),
    /// In a file, by its absolute path.
    File(PathBuf),
}

impl KeyReference {
    /// Errors where it cannot be the name of a variable or a file, but may be a key that was pasted in its place. The
    /// error does not repeat it.
    pub fn check(&self) -> Result<(), StoreError> {
        let problem = match self {
            Self::Environment(name) if is_variable(name) => return Ok(()),
            Self::Environment(_) => "the name of an environment variable is capital letters, digits and `_`",
            Self::File(path) if is_path(path) => return Ok(()),
            Self::File(_) => "a file is named by its absolute path",
        };
        Err(StoreError::Secret { field: "key".to_owned(), problem })
    }
}

impl<'de> Deserialize<'de> for KeyReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not derived: derived errors repeat what they found, and that may be the key.
        let value = Value::deserialize(deserializer)?;
        let fields = value.as_object().filter(|fields| fields.len() == 1);
        let field = fields.and_then(|fields| fields.iter().next()).and_then(|(name, it)| Some((name, it.as_str()?)));
        match field {
            Some((name, value)) if name == "environment" => Ok(Self::Environment(value.to_owned())),
            Some((name, value)) if name == "file" => Ok(Self::File(PathBuf::from(value))),
            _ => Err(serde::de::Error::custom(
                "a key is not given but named: {\"environment\": \"NAME\"} or {\"file\": \"/absolute/path\"}",
            )),
        }
    }
}

fn is_variable(name: &str) -> bool {
    let allowed = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    name.starts_with(|char: char| char.is_ascii_uppercase() || char == '_')
        && name.chars().all(allowed)
        && name.len() <= 128
}

fn is_path(path: &Path) -> bool {
    path.is_absolute() && path.to_str().is_some_and(|path| !path.chars().any(char::is_control))
}

impl Agent {
    /// Errors where it cannot be stored: its name, or a secret in its settings, which the error does not repeat.
    pub fn check(&self) -> Result<(), StoreError> {
        check_name("agent", &self.name)?;
        check_secrets(&self.settings)
    }
}

impl Channel {
    /// Errors where it cannot be stored: its name, a secret in its settings, a key that is given instead of named. The
    /// error does not repeat it.
    pub fn check(&self) -> Result<(), StoreError> {
        check_name("channel", &self.name)?;
        check_secrets(&self.settings)?;
        self.key.as_ref().map_or(Ok(()), KeyReference::check)
    }
}

/// Errors where settings hold what looks like a secret. The error names the field and does not repeat its value.
pub(crate) fn check_secrets(settings: &Value) -> Result<(), StoreError> {
    find_secret("settings", "", settings).map_or(Ok(()), Err)
}

fn find_secret(path: &str, field: &str, value: &Value) -> Option<StoreError> {
    let here = |problem| Some(StoreError::Secret { field: path.to_owned(), problem });
    match value {
        Value::Object(fields) => {
            fields.iter().find_map(|(field, value)| find_secret(&format!("{path}.{field}"), field, value))
        }
        Value::Array(items) => items.iter().find_map(|value| find_secret(path, field, value)),
        Value::String(text) if text.is_empty() => None,
        Value::String(_) if names_secret(field) => {
            here("a secret is named by where it is: an environment variable or a file, as the channel's key")
        }
        Value::String(text) if has_password(text) => here("an address must not hold a password"),
        Value::String(text) if looks_secret(text) => here("it looks like a key"),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => None,
    }
}

/// Whether a field of that name holds a secret, in any spelling of the name.
fn names_secret(field: &str) -> bool {
    let letters: String = field.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    const ENDINGS: &[&str] =
        &["key", "secret", "password", "passwd", "token", "authorization", "credential", "credentials", "cookie"];
    ENDINGS.iter().any(|ending| letters.ends_with(ending))
}

/// `https://name:password@host/…`
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// The forms in which providers hand out keys.
fn looks_secret(text: &str) -> bool {
    const STARTS: &[&str] = &["sk-", "Bearer ", "xoxb-", "ghp_", "AKIA", "AIza"];
    let is_long = text.len() >= 20 && !text.trim_start_matches("Bearer ").contains(char::is_whitespace);
    is_long && STARTS.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_in_settings_are_refused_and_not_repeated() {
        let check = |settings: Value, field: Option<&str>| {
            let found = check_secrets(&settings).err();
            let shown = found.as_ref().map(|error| format!("{error} {error:?}"));
            assert!(shown.as_ref().is_none_or(|shown| !shown.contains("hush")), "{shown:?}");
            let found = found.map(|error| match error {
                StoreError::Secret { field, .. } => field,
                other => other.to_string(),
            });
            assert_eq!(found.as_deref(), field, "{settings}");
        };
        check(json!({"api_key": "hush"}), Some("settings.api_key"));
        check(json!({"headers": {"X-Api-Key": "hush"}}), Some("settings.headers.X-Api-Key"));
        check(json!({"headers": [{"Authorization": ["hush"]}]}), Some("settings.headers.Authorization"));
        check(json!({"base_url": "https://me:hush@host/v1"}), Some("settings.base_url"));
        check(json!({"note": "sk-hush0123456789abcdef"}), Some("settings.note"));
        check(json!({"note": "Bearer hush0123456789abcdef"}), Some("settings.note"));
        check(json!({"password": ""}), None);
        check(json!({"max_tokens": 4000, "stop_token": null, "tokens": "many"}), None);
        check(json!({"base_url": "https://host/v1?at=a@b:c", "models": ["m"], "note": "sk-ip this"}), None);
        check(json!(null), None);
    }

    #[test]
    fn a_key_is_named_and_never_given() {
        let check = |json: Value, is_good: bool| {
            let channel: Result<Channel, _> = serde_json::from_value(json!({"name": "main", "key": json}));
            let checked = channel.map_err(|error| error.to_string());
            let checked = checked.and_then(|channel| channel.check().map_err(|error| format!("{error} {error:?}")));
            assert_eq!(checked.is_ok(), is_good, "{json} {checked:?}");
            assert!(is_good || !checked.unwrap_err().contains("hush"), "{json}");
        };
        check(json!({"environment": "OPENAI_API_KEY"}), true);
        check(json!({"file": "/run/secrets/openai"}), true);
        check(json!(null), true);
        check(json!("hush"), false);
        check(json!({"environment": "sk-hush"}), false);
        check(json!({"environment": "hush0123"}), false);
        check(json!({"environment": ""}), false);
        check(json!({"file": "hush"}), false);
        check(json!({"file": "/run/\u{0}"}), false);
        check(json!({"value": "hush"}), false);
    }
}
