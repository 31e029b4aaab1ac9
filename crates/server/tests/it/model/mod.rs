//! The service against a simple model: clients that do at random what clients do, on several sessions at once, while the
//! process is killed, the disk is full and the database is lost.
//!
//! `EPITOME_MODEL_SEEDS=FROM..TO` plays other seeds than the few that every run plays. What a seed decides is what is done
//! and when something breaks; how requests meet in the service is the machine's.

mod client;
mod host;

use std::path::PathBuf;

use epitome_harness::hostile::Dice;

use crate::sessions_postgres::Postgres;
use client::{Client, Shared};
use host::{Host, Room};

/// Seeds that every run plays on each store.
const SEEDS: std::ops::Range<u64> = 0..2;
/// How often something breaks, or does not, in the life of a database.
const ROUNDS: usize = 5;
/// What each client does in a round.
const OPERATIONS: usize = 10;
/// Who they are: the first two are one tenant's.
const CLIENTS: [(&str, &str); 3] =
    [("one", "open-sesame-one-two"), ("two", "open-sesame-one-two"), ("three", "open-sesame-two-two")];

fn seeds() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("EPITOME_MODEL_SEEDS") else { return SEEDS };
    let (from, to) = asked.split_once("..").expect("EPITOME_MODEL_SEEDS=FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

/// What happens in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// The process is killed while a request is under way.
    Killed,
    /// The disk has little room left, until the end of the round.
    Full,
    /// The database goes away: its file is deleted, or its server is stopped until the end of the round.
    Lost,
}

/// Where the sessions are.
enum Database {
    Sqlite(PathBuf),
    Postgres(Box<Postgres>),
}

impl Database {
    fn address(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite:{}", path.display()),
            Self::Postgres(server) => server.url.clone(),
        }
    }
}

/// A database's life under one seed.
async fn play(seed: u64, mut database: Database) {
    let mut dice = Dice::new(seed);
    let mut clients: Vec<Client> = CLIENTS.iter().map(|(name, _)| Client::new(name, &format!("{seed}"))).collect();
    let mut shared = Shared::default();
    let mut host = Host::start(&database.address(), Room::Any).await;
    for round in 0..ROUNDS {
        let trouble = dice.pick(&[Trouble::None, Trouble::Killed, Trouble::Killed, Trouble::Full, Trouble::Lost]);
        let told = format!("seed {seed}, round {round}, {trouble:?}");
        match (trouble, &mut database) {
            (Trouble::Full, Database::Sqlite(_)) => {
                host.kill();
                host = Host::start(&database.address(), Room::Pages(dice.below(12) as u32)).await;
            }
            (Trouble::Lost, Database::Postgres(server)) => server.order("stop"),
            _ => {}
        }
        let mut kept = Vec::new();
        for (_, token) in CLIENTS {
            kept.push(host.kept(token).await);
        }
        // The one that has the service killed while it waits for an answer, and when.
        let killer = (trouble == Trouble::Killed).then(|| (dice.below(CLIENTS.len()), dice.below(OPERATIONS)));
        let played = clients.iter_mut().zip(&kept).enumerate().map(|(index, (client, kept))| {
            let at = killer.filter(|(who, _)| *who == index).map(|(_, at)| at);
            let (mut dice, host, told) = (Dice::new(dice.bits()), &host, &told);
            async move {
                for step in 0..OPERATIONS {
                    let kill = || host.kill();
                    let kill: Option<&dyn Fn()> = (at == Some(step)).then_some(&kill);
                    client.act(kept, &mut dice, kill, &format!("{told}, {}, step {step}", client.name())).await;
                }
            }
        });
        let played: Vec<_> = played.collect();
        futures_util::future::join_all(played).await;
        match (trouble, &mut database) {
            (Trouble::Lost, Database::Sqlite(path)) => {
                host.kill();
                for end in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{}{end}", path.display()));
                }
                clients.iter_mut().for_each(Client::lose_everything);
                shared = Shared::default();
                host = Host::start(&database.address(), Room::Any).await;
            }
            (Trouble::Lost, Database::Postgres(server)) => server.order("start"),
            (Trouble::Full, Database::Sqlite(_)) | (Trouble::Killed, _) => {
                host.kill();
                host = Host::start(&database.address(), Room::Any).await;
            }
            _ => {}
        }
        for (client, (_, token)) in clients.iter_mut().zip(CLIENTS) {
            client.settle(&host.kept(token).await, &format!("{told}, {}", client.name())).await;
        }
        shared.play(&host, &CLIENTS, &told).await;
        check_tenants(&clients, &host, &told).await;
    }
}

/// What is one tenant's is nobody else's: the memories that each sees were said by its own clients.
async fn check_tenants(clients: &[Client], host: &Host, told: &str) {
    for (_, token) in CLIENTS {
        let ours = clients.iter().zip(CLIENTS).filter(|(_, (_, of))| *of == token).map(|(client, _)| client.name());
        let ours: Vec<String> = ours.map(|name| format!("-{name}-")).collect();
        let list = host.kept(token).await.found("/v1/memories?limit=500").await;
        for item in list["items"].as_array().unwrap() {
            let text = item["text"].as_str().unwrap();
            assert!(ours.iter().any(|name| text.contains(name)), "{told}: {text} is not of {ours:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_is_as_the_model() {
    for seed in seeds() {
        let folder = tempfile::tempdir().unwrap();
        play(seed, Database::Sqlite(folder.path().join("epitome.sqlite"))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_as_the_model() {
    for seed in seeds() {
        let Some(server) = Postgres::start() else { return };
        play(seed, Database::Postgres(Box::new(server))).await;
    }
}
