//! Which of the configured addresses a request goes to.

use reqwest::Url;

use super::keys::{Evidence, Owner};
use super::named::Provider::{self, Anthropic, Azure, Google, OpenAi, Other};
use super::{hosts, paths};

/// The configured addresses: of one provider's interface each, and the one for all others.
#[derive(Debug, Clone, Default)]
pub(in crate::proxy) struct Addresses {
    pub(in crate::proxy) any: Option<Url>,
    pub(in crate::proxy) openai: Option<Url>,
    pub(in crate::proxy) anthropic: Option<Url>,
    pub(in crate::proxy) gemini: Option<Url>,
}

/// Why a request goes to none of the addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::proxy) enum RoutingError {
    /// Nothing shows whose it is.
    Unclear,
    /// It has keys of several providers.
    SeveralKeys(Provider, Provider),
    /// The key is one provider's, the path or another header another's.
    AnothersKey { key: Provider, other: Provider },
    /// Its provider has no address here.
    NoAddress(Provider),
}

impl Addresses {
    pub(in crate::proxy) fn all(&self) -> impl Iterator<Item = &Url> {
        [&self.any, &self.openai, &self.anthropic, &self.gemini].into_iter().flatten()
    }

    /// The only address.
    fn only(&self) -> Option<&Url> {
        let mut all = self.all();
        all.next().filter(|_| all.next().is_none())
    }

    /// The address of an interface, where it has one of its own.
    fn own(&self, provider: Provider) -> Option<&Url> {
        match provider {
            OpenAi => self.openai.as_ref(),
            Anthropic => self.anthropic.as_ref(),
            Google => self.gemini.as_ref(),
            Azure | Other => None,
        }
    }

    /// The address that a key of `owner` may be sent to, for a path that `of_path` have. A host that is known takes its own
    /// provider's keys, and those in a place that it shares with another; any other host takes what its name says.
    fn for_key(&self, owner: Owner, of_path: &[Provider]) -> Option<&Url> {
        let takes = |url: &&Url| {
            hosts::of_address(url)
                .is_none_or(|host| host == owner.provider || !owner.by_form && speaks(host, owner.provider))
        };
        let own = match owner.provider {
            OpenAi | Anthropic | Google => self.own(owner.provider),
            Azure | Other => {
                let is_anthropics = of_path.contains(&Anthropic) && !of_path.contains(&OpenAi);
                let own = self.own(if is_anthropics { Anthropic } else { OpenAi });
                // OpenAI's own address may be behind any name; Azure's are known.
                own.filter(|url| owner.provider == Other || hosts::of_address(url) == Some(Azure))
            }
        };
        own.filter(takes).or_else(|| self.any.as_ref().filter(takes))
    }

    /// The address of a request of `provider` in which no key says so.
    fn for_path(&self, provider: Provider) -> Option<&Url> {
        let takes = |url: &&Url| hosts::of_address(url).is_none_or(|host| host == provider);
        let azures = || self.own(OpenAi).filter(|url| provider == Azure && hosts::of_address(url) == Some(Azure));
        self.own(provider).or_else(azures).or_else(|| self.any.as_ref().filter(takes))
    }
}

/// The address that a request goes to, by its path and by what else it shows.
pub(in crate::proxy) fn choose<'a>(
    addresses: &'a Addresses,
    path: &str,
    evidence: &Evidence,
) -> Result<&'a Url, RoutingError> {
    // A gateway in front of all providers: it is whom the clients' keys are for.
    if let Some(only) = addresses.only().filter(|only| addresses.any.is_some() && hosts::of_address(only).is_none()) {
        return Ok(only);
    }
    let of_path = paths::owners(path);
    match *evidence.owners {
        [] => {}
        [owner] => {
            let key = owner.provider;
            let is_of_path = of_path.is_empty() || of_path.iter().any(|it| speaks(key, *it));
            let of_path_only = of_path.first().filter(|_| !is_of_path);
            // Claude's models on Vertex AI: Anthropic's client, Google's keys.
            let may_send = |sender: Provider| speaks(key, sender) || (key, sender) == (Google, Anthropic);
            let of_sender = evidence.senders.iter().find(|sender| !may_send(**sender));
            if let Some(other) = of_path_only.or(of_sender) {
                return Err(RoutingError::AnothersKey { key, other: *other });
            }
            return addresses.for_key(owner, &of_path).ok_or(RoutingError::NoAddress(key));
        }
        [one, other, ..] => return Err(RoutingError::SeveralKeys(one.provider, other.provider)),
    }
    let provider = match (&*evidence.senders, &*of_path) {
        ([sender], of_path) if of_path.is_empty() || of_path.contains(sender) => *sender,
        ([sender], [provider]) if speaks(*provider, *sender) => *provider,
        ([], [provider]) => *provider,
        // OpenAI's clients write their keys there, whatever form these have; the others' have headers of their own.
        ([], of_path) if of_path.contains(&OpenAi) && evidence.has_unknown_key => OpenAi,
        // Chats are OpenAI's interface, which others speak under keys of their own.
        ([], [OpenAi, Anthropic]) => OpenAi,
        // No key can go astray.
        ([], of_path) if !evidence.has_unknown_key => {
            let mut own = of_path.iter().filter_map(|provider| addresses.own(*provider));
            let only = own.next().filter(|_| own.next().is_none());
            return only.or(addresses.any.as_ref()).or(addresses.only()).ok_or(RoutingError::Unclear);
        }
        ([], []) => return addresses.only().or(addresses.any.as_ref()).ok_or(RoutingError::Unclear),
        _ => return Err(RoutingError::Unclear),
    };
    let only = addresses.only().filter(|_| addresses.any.is_some());
    addresses.for_path(provider).or(only).ok_or(RoutingError::NoAddress(provider))
}

/// Whether requests under a provider's keys may have the paths, and the headers, of another.
fn speaks(owner: Provider, interface: Provider) -> bool {
    owner == interface || matches!((owner, interface), (Azure | Other, OpenAi | Anthropic))
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
