//! The hosts that a tenant's channels may lead to.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;
use thiserror::Error;

/// The most characters of an address.
const LONGEST_ADDRESS: usize = 2_000;

/// The hosts that channels given over HTTP may lead to. There are none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelHosts(Vec<ChannelHost>);

/// A host with its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelHost {
    /// As an address spells it: in small letters, IPv6 in brackets.
    host: String,
    port: Ports,
    /// Whether keys and conversations may go there without encryption, although it is another machine.
    allows_http: bool,
}

/// The prefix of a host that may be reached without encryption.
const HTTP: &str = "http://";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ports {
    /// The default ports of the schemes: 80 for `http`, 443 for `https`.
    Usual,
    One(u16),
    Any,
}

/// A text that is not a host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a host: write a name or an address, with a port where it is not the usual one, such as api.openai.com, localhost:11434, localhost:* or, for a machine that is spoken to without TLS, http://ollama:11434"
)]
pub struct NoHost(String);

impl FromStr for ChannelHost {
    type Err = NoHost;

    /// `HOST` with the usual ports, `HOST:PORT`, or `HOST:*` with all of them; with `http://` in front a host that may also be
    /// spoken to without encryption, as this machine itself always may.
    fn from_str(text: &str) -> Result<Self, NoHost> {
        let wrong = || NoHost(text.to_owned());
        let (text, allows_http) = match text.trim().strip_prefix(HTTP) {
            Some(host) => (host, true),
            None => (text.trim(), false),
        };
        let (text, is_any) = match text.strip_suffix(":*") {
            Some(host) => (host, true),
            None => (text, false),
        };
        // The scheme has no usual port, so that one that is written is seen.
        let url = Url::parse(&format!("x-host://{text}")).ok();
        let has_port = url.as_ref().and_then(Url::port);
        // Read once more as what it will be compared with: both spell a host in the same way.
        let url = Url::parse(&format!("http://{text}")).map_err(|_| wrong())?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && !text.contains(['/', '\\']);
        let host =
            url.host_str().filter(|host| is_plain && !host.is_empty() && !host.contains('*')).ok_or_else(wrong)?;
        let port = match (has_port, is_any) {
            (Some(_), true) => return Err(wrong()),
            (Some(port), false) => Ports::One(port),
            (None, true) => Ports::Any,
            (None, false) => Ports::Usual,
        };
        Ok(Self { host: host.to_owned(), port, allows_http })
    }
}

impl fmt::Display for ChannelHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.allows_http {
            formatter.write_str(HTTP)?;
        }
        match self.port {
            Ports::Usual => formatter.write_str(&self.host),
            Ports::One(port) => write!(formatter, "{}:{port}", self.host),
            Ports::Any => write!(formatter, "{}:*", self.host),
        }
    }
}

impl ChannelHost {
    /// Whether an address has this host and port.
    fn is_of(&self, url: &Url) -> bool {
        let is_host = url.host_str().is_some_and(|host| host.trim_end_matches('.') == self.host.trim_end_matches('.'));
        is_host
            && match self.port {
                Ports::Any => true,
                Ports::One(port) => url.port_or_known_default() == Some(port),
                // An address leaves the usual port of its scheme out.
                Ports::Usual => url.port().is_none(),
            }
    }
}

impl FromIterator<ChannelHost> for ChannelHosts {
    fn from_iter<I: IntoIterator<Item = ChannelHost>>(hosts: I) -> Self {
        Self(hosts.into_iter().collect())
    }
}

/// Why an address is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostError {
    /// The address is not valid, for this reason. The address is not repeated.
    Address(&'static str),
    /// No host is allowed.
    NoHosts,
    /// The host is not allowed. It is repeated: the sender knows it.
    Host(String),
    /// The host is allowed, but not without encryption. It is repeated as well.
    Clear(String),
}

impl ChannelHosts {
    /// Whether no host is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks whether a channel may lead to an address.
    pub(crate) fn check(&self, address: &str) -> Result<(), HostError> {
        if self.is_empty() {
            return Err(HostError::NoHosts);
        }
        if address.is_empty() {
            // Without one it would be OpenAI's or Anthropic's own, with the key of the service's environment.
            return Err(HostError::Address("it is needed, such as https://api.openai.com/v1"));
        }
        if address.chars().count() > LONGEST_ADDRESS {
            return Err(HostError::Address("it is longer than 2,000 characters"));
        }
        if address.trim() != address || address.contains(|char: char| char.is_control() || char.is_whitespace()) {
            return Err(HostError::Address("it holds blanks or control characters"));
        }
        let url = Url::parse(address).map_err(|_| HostError::Address("it is not such as https://api.openai.com/v1"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HostError::Address("it must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HostError::Address(
                "it holds a user name or a password: a key is named by its environment variable",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(HostError::Address("it must end before any `?` or `#`"));
        }
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let named = format!("{}{port}", url.host_str().unwrap_or_default());
        let mut hosts = self.0.iter().filter(|host| host.is_of(&url)).peekable();
        if hosts.peek().is_none() {
            return Err(HostError::Host(named));
        }
        match url.scheme() == "https" || is_this_machine(&url) || hosts.any(|host| host.allows_http) {
            true => Ok(()),
            false => Err(HostError::Clear(named)),
        }
    }
}

/// Whether an address leads to this machine itself, so that requests to it pass no network.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.to_canonical().is_loopback())
}

/// An address that is safe to show: without user name, password, query and fragment. Empty where the text is not an
/// address.
pub(crate) fn redact_address(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return String::new() };
    if url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none() {
        return address.to_owned();
    }
    // Both fail for addresses that can hold no user name.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn hosts_as_they_are_written() {
        let check = |text: &str, expect: Option<&str>| {
            let host = text.parse::<ChannelHost>();
            assert_eq!(host.as_ref().map(ToString::to_string).ok().as_deref(), expect, "{text}");
        };
        check("api.openai.com", Some("api.openai.com"));
        check("API.OpenAI.com:443", Some("api.openai.com:443"));
        check("localhost:80", Some("localhost:80"));
        check("localhost:*", Some("localhost:*"));
        check("[::1]:8080", Some("[::1]:8080"));
        check("127.0.0.1:11434", Some("127.0.0.1:11434"));
        check(" http://Ollama:11434", Some("http://ollama:11434"));
        check("http://ollama:*", Some("http://ollama:*"));
        for wrong in [
            "",
            "*",
            "*.openai.com",
            "https://api.openai.com",
            "host/path",
            "me@host",
            "host:99999",
            "host:1:*",
            "http://",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn addresses_that_are_taken() {
        let hosts: ChannelHosts =
            ["api.openai.com", "localhost:11434", "http://10.0.0.7:*", "http://169.254.1.1", "[::1]", "lan"]
                .iter()
                .map(|host| host.parse::<ChannelHost>().unwrap())
                .collect();
        let check = |address: &str, expect: Result<(), &str>| {
            let found = hosts.check(address).map_err(|refused| match refused {
                HostError::Address(problem) => problem.to_owned(),
                HostError::NoHosts => "no hosts".to_owned(),
                HostError::Host(host) => format!("host {host}"),
                HostError::Clear(host) => format!("clear {host}"),
            });
            assert_eq!(found, expect.map_err(str::to_owned), "{address}");
        };
        check("https://api.openai.com/v1", Ok(()));
        check("http://api.openai.com", Err("clear api.openai.com"));
        check("http://lan/v1", Err("clear lan"));
        check("https://lan/v1", Ok(()));
        check("https://10.0.0.7/", Ok(()));
        check("http://[::1]/", Ok(()));
        check("HTTPS://API.OpenAI.com:443/v1", Ok(()));
        check("https://api.openai.com./v1", Ok(()));
        check("https://api.openai.com:8443/v1", Err("host api.openai.com:8443"));
        check("https://api.openai.com.evil.example/v1", Err("host api.openai.com.evil.example"));
        check(
            "https://api.openai.com@evil.example/v1",
            Err("it holds a user name or a password: a key is named by its environment variable"),
        );
        check("https://evil.example\\@api.openai.com/v1", Err("host evil.example"));
        check("http://localhost:11434/v1", Ok(()));
        check("http://localhost/v1", Err("host localhost"));
        check("http://localhost:22", Err("host localhost:22"));
        check("http://10.0.0.7:9/", Ok(()));
        check("http://0xa.0.0.7:9/", Ok(())); // the same address
        check("http://169.254.1.1/", Ok(()));
        check("http://169.254.169.254/latest", Err("host 169.254.169.254"));
        check("http://[::ffff:169.254.1.1]/", Err("host [::ffff:a9fe:101]"));
        check("http://2852039166/", Err("host 169.254.169.254"));
        check("ftp://api.openai.com", Err("it must begin with http:// or https://"));
        check("file:///etc/passwd", Err("it must begin with http:// or https://"));
        check("https://api.openai.com/v1?key=hush", Err("it must end before any `?` or `#`"));
        check(" https://api.openai.com", Err("it holds blanks or control characters"));
        check("https://api.openai.com/\n", Err("it holds blanks or control characters"));
        check("api.openai.com", Err("it is not such as https://api.openai.com/v1"));
        check("", Err("it is needed, such as https://api.openai.com/v1"));
        assert_eq!(ChannelHosts::default().check("https://api.openai.com/v1"), Err(HostError::NoHosts));
    }

    #[test]
    fn addresses_without_what_is_secret() {
        for (address, expect) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("https://me:hush@host/v1", "https://host/v1"),
            ("https://host/v1?key=hush#more", "https://host/v1"),
            ("hush", ""),
        ] {
            assert_eq!(redact_address(address), expect);
        }
    }
}
