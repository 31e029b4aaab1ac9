//! The keys that compaction items are signed with.

use std::fmt;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The shortest key that is taken, in bytes: 128 bits written as hexadecimal digits.
const SHORTEST: usize = 32;

/// Bytes of a key's name: enough to tell the keys of one service from each other.
const NAME_BYTES: usize = 4;

/// Bytes of a signature.
pub(super) const SIGNATURE_BYTES: usize = 32;

/// The keys that compaction items are signed with: the first signs, all verify. Where an operator puts a new key in
/// front and leaves the old one behind it, what was signed before still holds. `Debug` shows the keys' names alone.
#[derive(Clone, Default)]
pub struct ItemKeys(Vec<ItemKey>);

#[derive(Clone)]
struct ItemKey {
    name: String,
    mac: Hmac<Sha256>,
}

/// Why keys are not taken. None of these holds a key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ItemKeyError {
    /// The environment has no such variable, or it is empty.
    #[error("the environment variable {0} holds no key: set it to the output of `openssl rand -hex 32`")]
    NoVariable(String),
    /// The file cannot be read.
    #[error("the key file {path} cannot be read: {error}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// There is no key in it.
    #[error("{0} holds no key: one a line; a line that begins with # is a comment")]
    Empty(String),
    /// A key is too easy to guess.
    #[error(
        "line {line} of {place}: a key needs {SHORTEST} characters or more, such as the output of `openssl rand -hex 32`"
    )]
    Short {
        /// The variable or the file.
        place: String,
        /// The line, from 1.
        line: usize,
    },
}

impl ItemKeys {
    /// Keys that are in an environment variable: one a line, the first one signs.
    pub fn from_variable(name: &str) -> Result<Self, ItemKeyError> {
        match std::env::var(name) {
            Ok(text) if !text.trim().is_empty() => Self::parse(&text, name),
            _ => Err(ItemKeyError::NoVariable(name.to_owned())),
        }
    }

    /// Keys that are in a file: one a line, the first one signs; a line that begins with `#` is a comment.
    pub fn from_file(path: &Path) -> Result<Self, ItemKeyError> {
        let shown = path.display().to_string();
        let text =
            epitome_shelf::read_plain_text(path).map_err(|error| ItemKeyError::File { path: shown.clone(), error })?;
        Self::parse(&text, &shown)
    }

    fn parse(text: &str, place: &str) -> Result<Self, ItemKeyError> {
        let mut keys = Self::default();
        for (index, line) in text.lines().enumerate() {
            let key = line.trim();
            match key.len() {
                // Within a line it may be a part of the key.
                _ if key.starts_with('#') => {}
                0 => {}
                1..SHORTEST => return Err(ItemKeyError::Short { place: place.to_owned(), line: index + 1 }),
                _ => keys.push(key),
            }
        }
        if keys.is_empty() { Err(ItemKeyError::Empty(place.to_owned())) } else { Ok(keys) }
    }

    /// Adds a key behind the others. `text` is its secret.
    pub(crate) fn push(&mut self, text: &str) {
        let secret = Sha256::digest(text.as_bytes());
        // HMAC takes keys of any length.
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&secret) else { return };
        let name = Sha256::new_with_prefix(b"epitome compaction key name").chain_update(secret).finalize();
        self.0.push(ItemKey { name: hex(&name[..NAME_BYTES]), mac });
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of the key that signs, and the signature of `parts`. `None` without keys.
    pub(super) fn sign(&self, parts: &[&[u8]]) -> Option<(&str, [u8; SIGNATURE_BYTES])> {
        let key = self.0.first()?;
        Some((&key.name, key.mac_of(parts).finalize().into_bytes().into()))
    }

    /// Whether `signature` is that of `parts` under the key of that name; `None` where there is no such key. Takes the same
    /// time for any wrong signature.
    pub(super) fn verify(&self, name: &str, parts: &[&[u8]], signature: &[u8]) -> Option<bool> {
        let key = self.0.iter().find(|key| key.name == name)?;
        Some(key.mac_of(parts).verify_slice(signature).is_ok())
    }
}

impl ItemKey {
    fn mac_of(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        for part in parts {
            // With its length in front, so that parts cannot run into each other.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for ItemKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|key| &key.name)).finish()
    }
}

/// The text of a new key, by the system's generator of random bytes.
///
/// # Errors
///
/// The system has none to give.
pub(crate) fn random_key() -> Result<String, String> {
    let mut bytes = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).map_err(|_| "the system gives no random bytes for a key".to_owned())?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FIRST: &str = "0123456789abcdef0123456789abcdef";
    const SECOND: &str = "fedcba9876543210fedcba9876543210";

    fn keys(text: &str) -> ItemKeys {
        ItemKeys::parse(text, "here").unwrap()
    }

    #[test]
    fn the_first_key_signs_and_all_verify() {
        let (old, new) = (keys(FIRST), keys(&format!("# new\n{SECOND}\n\n  # the one before\n {FIRST} \n")));
        let parts: [&[u8]; 2] = [b"tenant", b"text"];
        let (name, signature) = old.sign(&parts).unwrap();
        let check = |keys: &ItemKeys, parts: &[&[u8]], signature: &[u8], expect| {
            assert_eq!(keys.verify(name, parts, signature), expect, "{parts:?}");
        };
        check(&old, &parts, &signature, Some(true));
        check(&new, &parts, &signature, Some(true));
        check(&keys(SECOND), &parts, &signature, None);
        assert_eq!(new.sign(&parts).unwrap().0, keys(SECOND).sign(&parts).unwrap().0);
        check(&old, &[b"tenan", b"ttext"], &signature, Some(false));
        check(&old, &[b"tenant", b"text", b""], &signature, Some(false));
        check(&old, &parts, &signature[1..], Some(false));
        check(&old, &parts, &[0; SIGNATURE_BYTES], Some(false));
        assert_eq!(ItemKeys::default().sign(&parts), None);
    }

    #[test]
    fn what_is_no_key() {
        let check = |text: &str, part: &str| {
            let error = ItemKeys::parse(text, "keys.txt").unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("sesame"), "{error}");
        };
        check("", "holds no key");
        check("# nothing\n \n", "holds no key");
        check(&format!("{FIRST}\nsesame"), "line 2 of keys.txt");
        let error = ItemKeys::from_file(Path::new("/not/there")).unwrap_err().to_string();
        assert!(error.contains("/not/there"), "{error}");
        assert!(!format!("{:?}", keys(FIRST)).contains(FIRST));
    }

    #[test]
    fn all_of_a_line_is_the_key() {
        let name = |text: &str| keys(text).sign(&[]).unwrap().0.to_owned();
        assert_ne!(name(&format!("{FIRST}#1")), name(&format!("{FIRST}#2")));
        assert_ne!(name(&format!("{FIRST} # a")), name(FIRST));
    }

    #[test]
    fn random_keys_differ() {
        let (one, other) = (random_key().unwrap(), random_key().unwrap());
        assert_eq!((one.len(), one != other), (64, true));
    }
}
