//! A client, what it believes of its sessions, and how it finds out what became of what was not answered.

use std::collections::{BTreeMap, BTreeSet};

use epitome_harness::hostile::Dice;
use serde_json::{Value, json};

use super::host::Host;
use crate::kept::{Kept, typed};
use crate::support::{Wire, code};

/// Sessions of a client.
const SESSIONS: usize = 2;

/// What a client believes of one of its sessions.
#[derive(Debug, Clone, Default, PartialEq)]
struct Told {
    /// The ids of every message ever said.
    full: Vec<String>,
    /// The ids of what the model would see.
    view: Vec<String>,
    /// The compactions in force, each with the view that there would be without it.
    compactions: Vec<(u64, Vec<String>)>,
    /// Sentences that were said to be remembered.
    facts: BTreeSet<String>,
    /// Those of them that a compaction that was answered must have put into the store.
    kept_facts: BTreeSet<String>,
    /// A preview of it as it is.
    draft: Option<(String, u64)>,
}

impl Told {
    fn say(&mut self, ids: &[String]) {
        self.full.extend_from_slice(ids);
        self.view.extend_from_slice(ids);
        for (_, without) in &mut self.compactions {
            without.extend_from_slice(ids);
        }
        self.draft = None;
    }
}

/// What was asked and not answered.
#[derive(Debug, Clone)]
enum Asked {
    Create,
    Delete,
    /// So many messages, and what they ask to be remembered.
    Say(usize, Option<String>),
    Compact,
    Undo,
}

/// A client with its sessions; those that are not there are missing.
pub(super) struct Client {
    name: String,
    sessions: BTreeMap<String, Told>,
    /// What is not known to have been done, by session.
    unknown: BTreeMap<String, Asked>,
    numbers: usize,
}

fn ids(answer: &Value) -> Vec<String> {
    answer.as_array().into_iter().flatten().map(|id| id.as_str().unwrap().to_owned()).collect()
}

impl Client {
    pub(super) fn new(name: &str, seed: &str) -> Self {
        let name = format!("{name}-{seed}");
        Self { name, sessions: BTreeMap::new(), unknown: BTreeMap::new(), numbers: 0 }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The messages with the client's name in what they run: it shows whose memories of them are.
    fn own(&self, messages: &Value) -> Value {
        let named = messages.to_string().replace("make part_", &format!("make work-{}-part_", self.name));
        serde_json::from_str(&named).unwrap()
    }

    /// The database is gone, and everything in it.
    pub(super) fn lose_everything(&mut self) {
        self.sessions.clear();
        self.unknown.clear();
    }

    /// Does one thing, and holds the answer against what is believed. With `kill` the service is killed while it waits.
    pub(super) async fn act(&mut self, kept: &Kept, dice: &mut Dice, kill: Option<&dyn Fn()>, told: &str) {
        let id = format!("{}-{}", self.name, dice.below(SESSIONS));
        if self.unknown.contains_key(&id) {
            return; // it is found out when there is a service again
        }
        let told = format!("{told}, {id}");
        let path = format!("/v1/sessions/{id}");
        match dice.below(14) {
            0 | 1 => {
                let body = json!({"id": id, "request": self.own(&Wire::Chat.request(2 + dice.below(9)))});
                let Some((status, answer)) =
                    self.ask(kept, "POST", "/v1/sessions", Some(body), kill, &id, Asked::Create).await
                else {
                    return;
                };
                match status {
                    201 => {
                        assert!(!self.sessions.contains_key(&id), "{told}: made twice");
                        self.sessions.insert(id.clone(), Told::default());
                        self.adopt(kept, &id, &told).await;
                    }
                    409 => assert!(self.sessions.contains_key(&id), "{told}: {answer}"),
                    _ => refused(status, &answer, &told),
                }
            }
            2 => {
                let Some((status, answer)) = self.ask(kept, "DELETE", &path, None, kill, &id, Asked::Delete).await
                else {
                    return;
                };
                match status {
                    204 => assert!(self.sessions.remove(&id).is_some(), "{told}: there was none"),
                    404 => assert!(!self.sessions.contains_key(&id), "{told}: {answer}"),
                    _ => refused(status, &answer, &told),
                }
            }
            3..=7 => self.say(kept, dice, kill, &id, &told).await,
            8 | 9 => {
                let body = json!({"target": 1_500 + dice.below(3_000)});
                let path = format!("{path}/{}", if dice.once_in(3) { "maintain" } else { "compact" });
                let body = if path.ends_with("maintain") { json!({}) } else { body };
                if let Some((status, answer)) =
                    self.ask(kept, "POST", &path, Some(body), kill, &id, Asked::Compact).await
                {
                    self.compacted(kept, &id, status, &answer, &told).await;
                }
            }
            10 => {
                let Some((status, answer)) =
                    self.ask(kept, "POST", &format!("{path}/undo"), Some(json!({})), kill, &id, Asked::Undo).await
                else {
                    return;
                };
                let known = self.sessions.get_mut(&id);
                match (status, known) {
                    (200, Some(known)) => {
                        let (_, without) = known.compactions.pop().unwrap_or_else(|| panic!("{told}: nothing to undo"));
                        known.view = without;
                        known.draft = None;
                        self.check(kept, &id, &told).await;
                    }
                    (404 | 409 | 422, known) if status != 404 || code(&answer) != "unknown-session" => {
                        assert!(known.is_none_or(|known| known.compactions.is_empty()), "{told}: {answer}");
                    }
                    (404, known) => assert!(known.is_none(), "{told}: {answer}"),
                    _ => refused(status, &answer, &told),
                }
            }
            11 => self.preview(kept, &id, &told).await,
            12 => self.apply(kept, kill, &id, &told).await,
            _ => self.check(kept, &id, &told).await,
        }
    }

    /// Asks; what is not answered is noted as unknown.
    #[expect(clippy::too_many_arguments, reason = "what is asked, where, and what follows")]
    async fn ask(
        &mut self,
        kept: &Kept,
        method: &str,
        path: &str,
        body: Option<Value>,
        kill: Option<&dyn Fn()>,
        id: &str,
        asked: Asked,
    ) -> Option<(u16, Value)> {
        let answer = match kill {
            None => kept.tried(method, path, body).await,
            Some(kill) => {
                // The request goes out first: then the process ends, wherever it has come to.
                let killed = async {
                    tokio::task::yield_now().await;
                    kill();
                };
                futures_util::future::join(kept.tried(method, path, body), killed).await.0
            }
        };
        if answer.is_none() {
            self.unknown.insert(id.to_owned(), asked);
        }
        answer
    }

    async fn say(&mut self, kept: &Kept, dice: &mut Dice, kill: Option<&dyn Fn()>, id: &str, told: &str) {
        self.numbers += 1;
        let number = self.numbers;
        let fact =
            dice.once_in(3).then(|| format!("Remember that rack {number} is called srv-{}-{number}.", self.name));
        let body = match &fact {
            Some(fact) => typed(fact),
            None if dice.once_in(2) => {
                typed(&format!("Question {number} of {}: what next? ", self.name).repeat(1 + dice.below(40)))
            }
            None => self.own(&json!({"messages": Wire::Chat.step(number)})),
        };
        let count = body["messages"].as_array().unwrap().len();
        let path = format!("/v1/sessions/{id}/messages");
        let answer = self.ask(kept, "POST", &path, Some(body), kill, id, Asked::Say(count, fact.clone())).await;
        let Some((status, answer)) = answer else { return };
        match (status, self.sessions.get_mut(id)) {
            (200, Some(known)) => {
                let ids = ids(&answer["ids"]);
                assert_eq!(ids.len(), count, "{told}: {answer}");
                known.say(&ids);
                known.facts.extend(fact);
                if dice.once_in(4) {
                    self.check(kept, id, told).await;
                }
            }
            (404, known) => assert!(known.is_none(), "{told}: {answer}"),
            _ => refused(status, &answer, told),
        }
    }

    /// Takes in what a compaction came to.
    async fn compacted(&mut self, kept: &Kept, id: &str, status: u16, answer: &Value, told: &str) {
        match (status, self.sessions.contains_key(id)) {
            (200, true) => self.adopt(kept, id, told).await,
            (404, known) => assert!(!known, "{told}: {answer}"),
            (409 | 422, true) => self.check(kept, id, told).await,
            _ => refused(status, answer, told),
        }
    }

    async fn preview(&mut self, kept: &Kept, id: &str, told: &str) {
        let path = format!("/v1/sessions/{id}/preview");
        let Some((status, answer)) = kept.tried("POST", &path, Some(json!({"target": 2_500}))).await else { return };
        match (status, self.sessions.get_mut(id)) {
            (200, Some(known)) => {
                let after = answer["report"]["tokens_after"].as_u64().unwrap();
                known.draft = answer["draft"].as_str().map(|draft| (draft.to_owned(), after));
                self.check(kept, id, told).await; // looking changes nothing
            }
            (404, known) => assert!(known.is_none(), "{told}: {answer}"),
            (409 | 422, Some(_)) => {}
            _ => refused(status, &answer, told),
        }
    }

    async fn apply(&mut self, kept: &Kept, kill: Option<&dyn Fn()>, id: &str, told: &str) {
        let Some((draft, after)) = self.sessions.get_mut(id).and_then(|known| known.draft.take()) else { return };
        let path = format!("/v1/sessions/{id}/apply");
        let Some((status, answer)) =
            self.ask(kept, "POST", &path, Some(json!({"draft": draft})), kill, id, Asked::Compact).await
        else {
            return;
        };
        // A service that was started anew has forgotten it.
        if status == 404 && code(&answer) != "unknown-session" {
            return self.check(kept, id, told).await;
        }
        if status == 200 {
            assert_eq!(answer["report"]["tokens_after"].as_u64(), Some(after), "{told}: what was shown is made");
        }
        self.compacted(kept, id, status, &answer, told).await;
    }

    /// Takes what the service shows of a session for what it is, where it may have been compacted; what was said must all
    /// be there.
    async fn adopt(&mut self, kept: &Kept, id: &str, told: &str) {
        let Some((full, view, epochs)) = look(kept, id).await else {
            // Answered, and killed before it could be looked at: what it came to is found out later.
            self.unknown.insert(id.to_owned(), Asked::Compact);
            return;
        };
        let Some(known) = self.sessions.get_mut(id) else { return };
        if known.full.is_empty() {
            known.full.clone_from(&full);
        }
        assert_eq!(full, known.full, "{told}: what was said");
        let before = std::mem::replace(&mut known.view, view);
        let newest = epochs.last().copied();
        let was = known.compactions.last().map(|(epoch, _)| *epoch);
        if let Some(epoch) = newest.filter(|epoch| was.is_none_or(|was| *epoch > was)) {
            known.compactions.push((epoch, before));
            known.kept_facts = known.facts.clone();
            known.draft = None;
        }
        let believed: Vec<u64> = known.compactions.iter().map(|(epoch, _)| *epoch).collect();
        assert_eq!(epochs, believed, "{told}: compactions in force");
        self.check_memories(kept, id, told).await;
    }

    /// Holds what the service shows of a session against what is believed.
    async fn check(&mut self, kept: &Kept, id: &str, told: &str) {
        let Some((status, answer)) = kept.tried("GET", &format!("/v1/sessions/{id}"), None).await else { return };
        let Some(known) = self.sessions.get(id) else {
            assert!(status == 404 || status == 503, "{told}: there is none, and yet {answer}");
            return;
        };
        if status == 503 {
            return;
        }
        assert_eq!(status, 200, "{told}: {answer}");
        let Some((full, view, epochs)) = look(kept, id).await else { return };
        assert_eq!(full, known.full, "{told}: what was said");
        assert_eq!(view, known.view, "{told}: the view");
        let believed: Vec<u64> = known.compactions.iter().map(|(epoch, _)| *epoch).collect();
        assert_eq!(epochs, believed, "{told}: compactions in force");
        self.check_memories(kept, id, told).await;
    }

    /// The memories of a session were said in it, and what a compaction was to keep is kept.
    async fn check_memories(&self, kept: &Kept, id: &str, told: &str) {
        let Some((200, list)) = kept.tried("GET", &format!("/v1/memories?session={id}&limit=500"), None).await else {
            return;
        };
        let Some(known) = self.sessions.get(id) else { return };
        let texts: BTreeSet<&str> =
            list["items"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
        for text in texts.iter().filter(|text| text.contains("srv-")) {
            assert!(known.facts.contains(*text), "{told}: {text} was not said here");
        }
        for fact in &known.kept_facts {
            assert!(texts.contains(fact.as_str()), "{told}: {fact} is not kept: {texts:?}");
        }
    }

    /// Finds out what became of what was not answered, and that everything else is as it was.
    pub(super) async fn settle(&mut self, kept: &Kept, told: &str) {
        for (id, asked) in std::mem::take(&mut self.unknown) {
            let told = format!("{told}, {id} after {asked:?} without an answer");
            let (status, answer) = kept.tried("GET", &format!("/v1/sessions/{id}"), None).await.expect("a service");
            match (status, asked) {
                (404, Asked::Delete | Asked::Create) => {
                    self.sessions.remove(&id);
                }
                (404, _) => assert!(!self.sessions.contains_key(&id), "{told}: it is gone"),
                (200, Asked::Create) if !self.sessions.contains_key(&id) => {
                    self.sessions.insert(id.clone(), Told::default());
                    self.adopt(kept, &id, &told).await;
                }
                (200, Asked::Say(count, fact)) => {
                    let (full, _, _) = look(kept, &id).await.expect("a service");
                    let known = self.sessions.get_mut(&id).unwrap_or_else(|| panic!("{told}: it was not there"));
                    let new = full.len() - known.full.len().min(full.len());
                    assert!(new == 0 || new == count, "{told}: {new} of {count} messages");
                    let new = full[full.len() - new..].to_vec();
                    known.say(&new);
                    known.facts.extend(fact.filter(|_| !new.is_empty()));
                }
                (200, Asked::Undo) => {
                    let (_, view, _) = look(kept, &id).await.expect("a service");
                    let known = self.sessions.get_mut(&id).unwrap_or_else(|| panic!("{told}: it was not there"));
                    if view != known.view
                        && let Some((_, without)) = known.compactions.pop()
                    {
                        known.view = without;
                    }
                }
                (200, _) => {
                    assert!(self.sessions.contains_key(&id), "{told}: it was not there");
                    self.adopt(kept, &id, &told).await;
                }
                _ => panic!("{told}: {status} {answer}"),
            }
        }
        let known: Vec<String> = self.sessions.keys().cloned().collect();
        for id in known {
            if let Some(known) = self.sessions.get_mut(&id) {
                known.draft = None; // a service that was started anew has forgotten it
            }
            self.check(kept, &id, told).await;
        }
    }
}

/// What may be refused: what is full, gone or taken has its code and changes nothing.
fn refused(status: u16, answer: &Value, told: &str) {
    let known = ["store-full", "store-unavailable", "timeout", "session-busy", "conflict"];
    assert!(status == 503 || status == 409, "{told}: {status} {answer}");
    assert!(known.contains(&code(answer)), "{told}: {status} {answer}");
}

/// Every message of a session, its view, and the compactions in force; `None` where the service cannot say.
async fn look(kept: &Kept, id: &str) -> Option<(Vec<String>, Vec<String>, Vec<u64>)> {
    let page = async |view: &str| {
        let path = format!("/v1/sessions/{id}/messages?view={view}&limit=500");
        let (status, page) = kept.tried("GET", &path, None).await?;
        let messages = (status == 200).then_some(page)?;
        let messages = messages["messages"].as_array().unwrap().iter();
        Some(messages.map(|it| it["message"]["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    let (full, view) = (page("full").await?, page("compacted").await?);
    let (status, history) = kept.tried("GET", &format!("/v1/sessions/{id}/history"), None).await?;
    let history = (status == 200).then_some(history)?;
    let epochs = history["epochs"].as_array().unwrap_or_else(|| panic!("{history}")).iter();
    let in_force = epochs.filter(|epoch| epoch["undone"] != true && epoch["trigger"] != "arrival");
    Some((full, view, in_force.map(|epoch| epoch["epoch"].as_u64().unwrap()).collect()))
}

/// A session that two clients of one tenant share, and talk to at once.
#[derive(Debug, Default)]
pub(super) struct Shared {
    said: BTreeMap<&'static str, Vec<String>>,
    round: usize,
}

impl Shared {
    /// Both say something, each in its order; everything that was answered is there once, in that order.
    pub(super) async fn play(&mut self, host: &Host, clients: &[(&'static str, &'static str)], told: &str) {
        self.round += 1;
        let round = self.round;
        let talkers = &clients[..2];
        let kept = host.kept(talkers[0].1).await;
        let (status, answer) = kept.post("/v1/sessions", json!({"id": "shared"})).await;
        assert!(status == 201 || code(&answer) == "taken", "{told}: {answer}");
        let talks = talkers.iter().map(|(name, token)| async move {
            let kept = host.kept(token).await;
            let mut said = Vec::new();
            for number in 0..4 {
                let text = format!("{name} says number {number} of round {round}");
                let (status, answer) = kept.post("/v1/sessions/shared/messages", typed(&text)).await;
                assert_eq!(status, 200, "{told}: {answer}");
                said.push(text);
            }
            (*name, said)
        });
        for (name, said) in futures_util::future::join_all(talks).await {
            self.said.entry(name).or_default().extend(said);
        }
        let page = kept.found("/v1/sessions/shared/messages?view=full&limit=500").await;
        let texts = page["messages"].as_array().unwrap().iter();
        let texts: Vec<&str> = texts.filter_map(|it| it["message"]["blocks"][0]["content"]["text"].as_str()).collect();
        for (name, said) in &self.said {
            let heard: Vec<&&str> = texts.iter().filter(|text| text.starts_with(&format!("{name} says"))).collect();
            assert_eq!(
                heard,
                said.iter().map(String::as_str).collect::<Vec<_>>().iter().collect::<Vec<_>>(),
                "{told}: {name}"
            );
        }
    }
}
