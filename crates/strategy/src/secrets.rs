//! Secrets in texts: the forms that providers give their keys, private keys, passwords in addresses, and values that look random
//! beside a name that indicates a secret.
//!
//! What a compaction writes is kept, shown and sent on, and a key in it helps nobody: a stand-in takes its place there. What stays
//! as it came keeps its bytes, and so does the log, from which a person recalls it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: &'static str,
}

impl Secret {
    /// Returns the text in its place.
    pub fn stand_in(&self) -> String {
        format!("[redacted {}]", self.kind)
    }
}

/// What follows a prefix.
#[derive(Debug, Clone, Copy)]
enum Body {
    /// At least this number of letters and digits.
    Alphanumeric(usize),
    /// At least this number of letters, digits, `_` and `-`, with a digit among them.
    Word(usize),
    /// Exactly this number of capitals and digits.
    Capitals(usize),
    /// At least this number of hexadecimal digits.
    Hexadecimal(usize),
    /// Letters, digits, `_` and `-` in three parts between dots.
    ThreeParts,
}

use Body::{Alphanumeric, Capitals, Hexadecimal, ThreeParts, Word};

/// The forms of keys by their prefixes. Source: each provider's documentation of its keys, as collected in the rules of gitleaks
/// (`config/gitleaks.toml`, 8.28) and in GitHub's list of supported secret scanning patterns.
const FORMS: &[(&str, Body, &str)] = &[
    ("ghp_", Alphanumeric(36), "GitHub token"),
    ("gho_", Alphanumeric(36), "GitHub token"),
    ("ghu_", Alphanumeric(36), "GitHub token"),
    ("ghs_", Alphanumeric(36), "GitHub token"),
    ("ghr_", Alphanumeric(36), "GitHub token"),
    ("github_pat_", Word(50), "GitHub token"),
    ("glpat-", Word(20), "GitLab token"),
    ("AKIA", Capitals(16), "AWS key"),
    ("ASIA", Capitals(16), "AWS key"),
    ("ABIA", Capitals(16), "AWS key"),
    ("ACCA", Capitals(16), "AWS key"),
    ("xoxb-", Word(20), "Slack token"),
    ("xoxp-", Word(20), "Slack token"),
    ("xoxa-", Word(20), "Slack token"),
    ("xoxr-", Word(20), "Slack token"),
    ("xoxs-", Word(20), "Slack token"),
    ("xoxe-", Word(20), "Slack token"),
    ("xapp-", Word(20), "Slack token"),
    ("sk-ant-", Word(20), "Anthropic key"),
    ("sk-proj-", Word(20), "OpenAI key"),
    ("sk-svcacct-", Word(20), "OpenAI key"),
    ("sk-or-v1-", Hexadecimal(32), "OpenRouter key"),
    ("sk-", Alphanumeric(20), "API key"), // OpenAI's older ones, DeepSeek's and others
    ("AIza", Word(35), "Google key"),
    ("ya29.", Word(20), "Google token"),
    ("GOCSPX-", Word(20), "Google secret"),
    ("npm_", Alphanumeric(36), "npm token"),
    ("pypi-", Word(50), "PyPI token"),
    ("hf_", Alphanumeric(34), "Hugging Face token"),
    ("gsk_", Alphanumeric(40), "Groq key"),
    ("xai-", Alphanumeric(40), "xAI key"),
    ("pplx-", Alphanumeric(40), "Perplexity key"),
    ("r8_", Alphanumeric(37), "Replicate token"),
    ("sk_live_", Alphanumeric(16), "Stripe key"),
    ("sk_test_", Alphanumeric(16), "Stripe key"),
    ("rk_live_", Alphanumeric(16), "Stripe key"),
    ("rk_test_", Alphanumeric(16), "Stripe key"),
    ("whsec_", Alphanumeric(24), "webhook secret"),
    ("SG.", Word(60), "SendGrid key"),
    ("dop_v1_", Hexadecimal(64), "DigitalOcean token"),
    ("dckr_pat_", Word(20), "Docker token"),
    ("dapi", Hexadecimal(32), "Databricks token"),
    ("shpat_", Hexadecimal(32), "Shopify token"),
    ("lin_api_", Alphanumeric(32), "Linear key"),
    ("ntn_", Alphanumeric(40), "Notion token"),
    ("sbp_", Hexadecimal(40), "Supabase token"),
    ("glsa_", Word(32), "Grafana token"),
    ("sntrys_", Word(40), "Sentry token"),
    ("hvs.", Word(24), "Vault token"),
    ("AGE-SECRET-KEY-1", Capitals(58), "age key"),
    ("eyJ", ThreeParts, "JWT"),
];

/// Other places at which a secret may stand: what opens it is not a part of it.
const PRIVATE_KEY: &str = "-----BEGIN ";
const ADDRESS: &str = "://";

/// Words in front of credentials in a header, in small letters (RFC 7617, RFC 6750).
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// The ends of names that indicate a secret, in small letters without `_` and `-`. Source: the rule `generic-api-key` of gitleaks,
/// without names that are as often of something else (`key`, `auth`, `access`).
const NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "credential",
    "credentials",
];

/// The fewest and the most characters of a value beside a name.
const VALUE: std::ops::RangeInclusive<usize> = 8..=512;

/// The most characters of a value that looks random between two turns, from small letters to capitals or between letters and
/// digits; words and names in code have fewer. Source: random base64, base62 and hexadecimal texts have one in two to four.
const CHARS_PER_TURN: usize = 5;

/// The fewest characters of credentials in a header.
const CREDENTIALS: usize = 16;

/// The fewest characters of a password in an address.
const PASSWORD: usize = 4;

/// The longest private key of which the end is not there.
const LONGEST_KEY: usize = 4_096;

/// Everything that a secret may begin with, or stand behind.
static ANCHORS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let forms = FORMS.iter().map(|(prefix, ..)| *prefix);
    let others = [PRIVATE_KEY, ADDRESS].into_iter();
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::LeftmostLongest)
        .build(forms.chain(others))
        .unwrap_or_else(|error| unreachable!("a few dozen prefixes: {error}"))
});

/// The ends of names and the schemes of headers, in any case.
static TELLING: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let spelt =
        ["api_key", "api-key", "access_key", "access-key", "secret_key", "secret-key", "private_key", "private-key"];
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(SCHEMES.iter().chain(NAMES).copied().chain(spelt))
        .unwrap_or_else(|error| unreachable!("a few dozen words: {error}"))
});

/// Returns the secrets in a text, ascending, without overlaps. Linear.
pub fn secrets(text: &str) -> Vec<Secret> {
    let anchored = ANCHORS.find_iter(text).filter_map(|found| match FORMS.get(found.pattern().as_usize()) {
        Some(form) => of_form(text, found.start(), form),
        None if text[found.range()].starts_with(ADDRESS) => password_in_address(text, found.end()),
        None => private_key(text, found.start()),
    });
    let named = TELLING.find_iter(text).filter_map(|found| match SCHEMES.get(found.pattern().as_usize()) {
        Some(scheme) => credentials(text, found.range(), scheme),
        None => beside_name(text, found.range()),
    });
    let mut all: Vec<Secret> = anchored.chain(named).collect();
    all.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
    let mut end = 0;
    all.retain(|secret| {
        let is_new = secret.range.start >= end;
        end = end.max(secret.range.end);
        is_new
    });
    all
}

/// Returns a text with stand-ins in place of the secrets in it. Linear.
pub fn redact(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        redacted.push_str(&text[end..secret.range.start]);
        redacted.push_str(&secret.stand_in());
        end = secret.range.end;
    }
    redacted.push_str(&text[end..]);
    Cow::Owned(redacted)
}

/// Returns where the run of characters ends that begins at `start`.
fn run_end(text: &str, start: usize, is_part: impl Fn(u8) -> bool) -> usize {
    start + text.as_bytes()[start..].iter().take_while(|byte| is_part(**byte)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn of_form(text: &str, start: usize, (prefix, body, kind): &(&str, Body, &'static str)) -> Option<Secret> {
    let is_inside = text[..start].ends_with(|char: char| char.is_ascii_alphanumeric());
    if is_inside {
        return None;
    }
    let inside = start + prefix.len();
    let has_digit = |end: usize| text[inside..end].bytes().any(|byte| byte.is_ascii_digit());
    let end = match body {
        Alphanumeric(least) => {
            let end = run_end(text, inside, |byte| byte.is_ascii_alphanumeric());
            (end - inside >= *least && has_digit(end)).then_some(end)?
        }
        Word(least) => {
            let end = run_end(text, inside, |byte| is_word(byte) || byte == b'.');
            (end - inside >= *least && has_digit(end)).then_some(end)?
        }
        Capitals(length) => {
            let end = run_end(text, inside, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let goes_on = text[end..].starts_with(|char: char| char.is_ascii_lowercase());
            (end - inside == *length && !goes_on).then_some(end)?
        }
        Hexadecimal(least) => {
            let end = run_end(text, inside, |byte| byte.is_ascii_hexdigit());
            (end - inside >= *least).then_some(end)?
        }
        ThreeParts => {
            let end = run_end(text, inside, |byte| is_word(byte) || byte == b'.');
            let parts: Vec<&str> = text[start..end].split('.').collect();
            let is_whole =
                matches!(&parts[..], [head, body, sign, ..] if head.len() > 9 && body.len() > 9 && sign.len() > 9);
            is_whole.then_some(end)?
        }
    };
    Some(Secret { range: start..end, kind })
}

fn private_key(text: &str, start: usize) -> Option<Secret> {
    let head = &text[start..text.floor_char_boundary((start + 64).min(text.len()))];
    head.split_once("PRIVATE KEY").filter(|(before, _)| !before.contains(['\n', '\\']))?;
    // In JSON a key is within one string.
    let rest = &text[start..];
    let rest = &rest[..rest.find('"').unwrap_or(rest.len())];
    let closed = rest.find("-----END").and_then(|end| {
        let name = end + "-----END".len();
        Some(name + rest[name..].find("-----")? + "-----".len())
    });
    let end = closed.unwrap_or_else(|| rest.floor_char_boundary(rest.len().min(LONGEST_KEY)));
    Some(Secret { range: start..start + end, kind: "private key" })
}

/// The password in an address, `scheme://name:password@host`.
fn password_in_address(text: &str, start: usize) -> Option<Secret> {
    let ends = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?')
    };
    let authority = &text[start..run_end(text, start, |byte| !ends(byte))];
    let (names, _) = authority.rsplit_once('@')?;
    let (name, password) = names.split_once(':')?;
    let is_variable = password.starts_with(['$', '{', '<', '*', '%', '[', '.']) || password.contains(['{', '$', '(']);
    if password.len() < PASSWORD || is_variable || password == name || password.eq_ignore_ascii_case("password") {
        return None;
    }
    let from = start + name.len() + 1;
    Some(Secret { range: from..from + password.len(), kind: "password" })
}

/// Credentials behind the name of a scheme.
fn credentials(text: &str, scheme: Range<usize>, name: &str) -> Option<Secret> {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-');
    let end = run_end(text, scheme.end, is_part);
    let value = &text[scheme.end..end];
    let before = &text[text.floor_char_boundary(scheme.start.saturating_sub(24))..scheme.start];
    let is_header = name != "basic " || before.to_ascii_lowercase().contains("authorization");
    let is_secret = is_header && value.len() >= CREDENTIALS && (looks_random(value) || name == "basic ");
    is_secret.then_some(Secret { range: scheme.end..end, kind: "credentials" })
}

/// A value beside a name that indicates a secret: `API_TOKEN=…`, `"password": "…"`, `--token …`.
fn beside_name(text: &str, name: Range<usize>) -> Option<Secret> {
    let bytes = text.as_bytes();
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']');
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let behind = run_end(text, name.end, is_quote);
    let blank = run_end(text, behind, is_blank);
    let is_option = || {
        let word = text[..name.start].trim_end_matches(|char: char| char.is_ascii_alphanumeric() || char == '-');
        text[word.len()..].starts_with("--") && blank > behind
    };
    let start = match bytes.get(blank) {
        Some(b':' | b'=' | b'>') => run_end(text, blank, |byte| matches!(byte, b':' | b'=' | b'>')),
        _ if is_option() => blank,
        _ => return None,
    };
    let start = run_end(text, start, |byte| is_blank(byte) || is_quote(byte));
    let ends = |byte: u8| {
        byte.is_ascii_whitespace()
            || !byte.is_ascii()
            || is_quote(byte)
            || matches!(byte, b',' | b';' | b'<' | b'>' | b')' | b'}' | b'&' | b'|')
    };
    let value = text[start..run_end(text, start, |byte| !ends(byte))].trim_end_matches('.');
    let is_code = value.contains(['(', '{', '[', '$']) || value.contains("::") || value.contains(ADDRESS);
    let is_path = value.starts_with(['/', '~', '.']) && text[name.clone()].eq_ignore_ascii_case("pwd");
    if !VALUE.contains(&value.len()) || is_code || is_path || is_uuid(value) || !looks_random(value) {
        return None;
    }
    let word = text[name].to_ascii_lowercase();
    let kinds = ["token", "password", "key"];
    let kind = match kinds.iter().find(|kind| word.ends_with(**kind)) {
        Some(kind) => kind,
        None if word.starts_with("pass") || word == "pwd" => "password",
        None => "secret",
    };
    Some(Secret { range: start..start + value.len(), kind })
}

/// Whether a text looks as if it had been drawn, and not written: it turns often between small letters, capitals and digits, and has
/// more than one kind of them.
fn looks_random(text: &str) -> bool {
    let pairs = text.as_bytes().windows(2);
    let is_turn = |pair: &&[u8]| {
        let (one, next) = (pair[0], pair[1]);
        one.is_ascii_lowercase() && next.is_ascii_uppercase()
            || one.is_ascii_alphabetic() && next.is_ascii_digit()
            || one.is_ascii_digit() && next.is_ascii_alphabetic()
    };
    let turns = pairs.filter(is_turn).count();
    turns >= 2
        && turns * CHARS_PER_TURN >= text.len() - text.bytes().filter(|byte| !byte.is_ascii_alphanumeric()).count()
}

/// Whether a text is a UUID, which names something.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
