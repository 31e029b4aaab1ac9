//! The key of a service.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::HttpError;

/// More than any key needs: a file that is larger is another one.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// A key that a service asks for. It never shows: not in `Debug`, not in an error.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// The key `key`; blanks around it are left out.
    pub fn new(key: &str) -> Self {
        Self(Arc::from(key.trim()))
    }

    /// The key in the environment variable `variable`.
    ///
    /// # Errors
    ///
    /// The variable is not set, is empty, or its value is not valid in a header.
    pub fn from_environment(variable: &str) -> Result<Self, HttpError> {
        let key = std::env::var(variable).map(|key| Self::new(&key)).unwrap_or_else(|_| Self::new(""));
        match key.reveal() {
            "" => Err(HttpError::NoKey { variable: variable.to_owned() }),
            text if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(HttpError::BadKey { variable: variable.to_owned() })
            }
            _ => Ok(key),
        }
    }

    /// The key in the file `path`, alone on its line.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is empty, or holds something else than a key: more lines, blanks, quotes, the assignment of a
    /// variable, letters outside ASCII.
    pub fn from_file(path: &Path) -> Result<Self, HttpError> {
        let bad = |problem: &str| HttpError::KeyFile { path: path.to_owned(), problem: problem.to_owned() };
        let mut bytes = Vec::new();
        let read = epitome_shelf::check_plain(path)
            .and_then(|()| File::open(path))
            .and_then(|file| file.take(MAX_KEY_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|error| bad(&error.to_string()))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| bad("it is not text"))?;
        // Some editors begin each file with it.
        let text = text.trim_start_matches('\u{feff}').trim();
        let problem = match text {
            "" => "it is empty",
            _ if bytes.len() as u64 > MAX_KEY_BYTES => "it is larger than any key",
            _ if text.lines().count() > 1 => "it has more than one line",
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => "it has blanks or letters outside ASCII",
            _ if text.starts_with(['"', '\'']) => "it has quotes around the key",
            _ if assigns(text) => "it assigns a variable; leave nothing but the key",
            _ => return Ok(Self::new(text)),
        };
        Err(bad(problem))
    }

    /// The key itself, for the header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with the key blotted out, for services that repeat it in their messages, also as JSON writes it.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let text = plain(text);
        let in_json = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        let with_slashes = in_json.replace('/', "\\/");
        [with_slashes.as_str(), &in_json, &self.0].iter().fold(text, |text, key| text.replace(key, "[key]"))
    }
}

/// `text` with the characters of ASCII as they are that JSON may write as `\u002f`, but for quotes and backslashes, which would
/// not be JSON any more.
fn plain(text: &str) -> String {
    let mut parts = text.split("\\u00");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(|code| code.is_ascii_graphic() && !matches!(code, b'"' | b'\\')) {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[2..]);
            }
            None => {
                plain.push_str("\\u00");
                plain.push_str(part);
            }
        }
    }
    plain
}

/// Whether `text` is `NAME=…`, as files of variables have it.
fn assigns(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, value)| {
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        name.contains('_') && name.bytes().all(is_name) && !value.is_empty()
    })
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey([key])")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let check = |content: &[u8], expect: Result<&str, &str>| {
            fs::write(&path, content).unwrap();
            let key = ApiKey::from_file(&path);
            let found = key.as_ref().map(ApiKey::reveal).map_err(ToString::to_string);
            let expect = expect.map_err(|problem| format!("no key in the file `{}`: {problem}", path.display()));
            assert_eq!(found, expect, "{content:?}");
        };
        check(b"sk-1/2+3==\n", Ok("sk-1/2+3=="));
        check("\u{feff}sk-1\r\n\n".as_bytes(), Ok("sk-1"));
        check(b"QUJD=", Ok("QUJD="));
        check(b"", Err("it is empty"));
        check(b" \n\n", Err("it is empty"));
        check(b"sk-1\nsk-2\n", Err("it has more than one line"));
        check(b"my key", Err("it has blanks or letters outside ASCII"));
        check("schlüssel".as_bytes(), Err("it has blanks or letters outside ASCII"));
        check(b"sk\0", Err("it has blanks or letters outside ASCII"));
        check(b"\xff\xfe", Err("it is not text"));
        check(b"'sk-1'", Err("it has quotes around the key"));
        check(b"OPENAI_API_KEY=sk-1", Err("it assigns a variable; leave nothing but the key"));
        check(&[b'k'; 20_000], Err("it is larger than any key"));
        fs::remove_file(&path).unwrap();
        let error = ApiKey::from_file(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("no key in the file `{}`: ", path.display())), "{error}");
        assert!(ApiKey::from_file(folder.path()).is_err(), "a folder");
    }

    #[test]
    fn blots() {
        let key = ApiKey::new(r#"a/b"c\d"#);
        for text in [r#"a/b"c\d"#, r#"a/b\"c\\d"#, r#"a\/b\"c\\d"#] {
            assert_eq!(key.redact(&format!("<{text}>")), "<[key]>", "{text}");
        }
        assert_eq!(ApiKey::new("").redact("text"), "text");
        assert_eq!(ApiKey::new("a/b").redact(r"<\u0061\u002Fb> \u00e9 \u0022 \u00"), r"<[key]> \u00e9 \u0022 \u00");
    }
}
