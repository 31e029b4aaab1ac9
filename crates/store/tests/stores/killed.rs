//! Hosts that are killed, and hosts that share a session: this program, started anew.

use epitome_session::{Block, Content, Media, MediaSource, Message, Origin, Role, Session};
use epitome_store::{SessionArchive, Store, Tenant};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::host::{Host, assert_same};
use crate::tell;

/// Says to this program what it is to do, where, and with which dice.
const ROLE: &str = "EPITOME_STORE_TEST_ROLE";
const PLACE: &str = "EPITOME_STORE_TEST_PLACE";
const SEED: &str = "EPITOME_STORE_TEST_SEED";
/// In front of what a host says; the rest is the test harness's own.
const SAYS: &str = "says ";
/// How often each of the hosts that share a session works on it.
pub(crate) const TURNS: usize = 25;

/// Where a store is.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    #[cfg(feature = "sqlite")]
    Sqlite(std::path::PathBuf),
    #[cfg(feature = "postgres")]
    Postgres { schema: String, url: String },
}

impl Place {
    fn to_text(&self) -> String {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => format!("sqlite {}", path.display()),
            #[cfg(feature = "postgres")]
            Self::Postgres { schema, url } => format!("{schema} {url}"),
        }
    }

    fn from_text(text: &str) -> Self {
        match text.split_once(' ').unwrap() {
            #[cfg(feature = "sqlite")]
            ("sqlite", path) => Self::Sqlite(path.into()),
            #[cfg(feature = "postgres")]
            (schema, url) => Self::Postgres { schema: schema.to_owned(), url: url.to_owned() },
            #[cfg(not(feature = "postgres"))]
            (other, _) => panic!("{other}"),
        }
    }

    pub(crate) async fn open(&self) -> Store {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => crate::sqlite::open(path),
            #[cfg(feature = "postgres")]
            Self::Postgres { schema, url } => {
                let settings = epitome_store::PostgresSettings::new(url.as_str());
                crate::postgres::open(&epitome_store::PostgresSettings { schema: schema.clone(), ..settings }).await
            }
        }
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => epitome_engine::block_on(future),
            #[cfg(feature = "postgres")]
            Self::Postgres { .. } => crate::postgres::block_on(future),
        }
    }
}

fn say(text: &str) {
    let mut output = std::io::stdout();
    writeln!(output, "{SAYS}{text}").unwrap();
    output.flush().unwrap();
}

/// The host, where this program was started as one; otherwise nothing.
#[test]
fn host() {
    let (Ok(role), Ok(place), Ok(seed)) = (std::env::var(ROLE), std::env::var(PLACE), std::env::var(SEED)) else {
        return;
    };
    let (place, seed): (Place, u64) = (Place::from_text(&place), seed.parse().unwrap());
    place.block_on(async {
        let store = place.open().await;
        match role.as_str() {
            "alone" => live(&store, seed, |host| say(&name(&host.session))).await,
            "sharing" => share(&store, seed).await,
            "holding" => {
                let lock = store.lock(&Tenant::default(), "s").await.unwrap();
                say("held");
                // Until it is killed: nobody writes to its input.
                std::io::stdin().lines().for_each(drop);
                drop(lock);
            }
            other => panic!("{other}"),
        }
    });
}

/// A host in a process of its own, and what it says.
pub(crate) struct Started {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    pub(crate) said: Vec<String>,
}

impl Started {
    pub(crate) fn new(role: &str, place: &Place, seed: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::host", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place.to_text())
            .env(SEED, seed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, said: Vec::new() }
    }

    /// Waits for its next line; false at its end.
    pub(crate) fn next(&mut self) -> bool {
        let Some(Ok(line)) = self.lines.next() else { return false };
        // The harness prints the test's name in front of the first line.
        self.said.extend(line.split_once(SAYS).map(|(_, said)| said.to_owned()));
        true
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        // What it said between the last line that was read and its end.
        while self.next() {}
        self.child.wait().unwrap();
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn finish(mut self) -> Vec<String> {
        while self.next() {}
        assert!(self.child.wait().unwrap().success(), "a host failed");
        self.said
    }
}

/// What a host does: everything that hosts do, and now and then a message that takes the disk a while.
async fn live(store: &Store, seed: u64, mut after: impl FnMut(&Host)) {
    let mut host = Host::new(store, "s", seed).await;
    after(&host);
    for round in 0..4 {
        host.play(seed * 100 + round, 1, &mut after).await;
        let image = Media {
            mime: "image/png".into(),
            source: MediaSource::Base64("iVBOR".repeat(400_000).into()),
            ..Media::default()
        };
        let blocks = vec![Block::text("image"), Block::new(Content::Media(image))];
        host.push(vec![Message::new("", Role::User, Origin::Typed, blocks)]).await;
        after(&host);
        if host.compact().await {
            after(&host);
        }
    }
}

fn name(session: &Session) -> String {
    session.state_hash().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Kills hosts around each compaction, around each large message, and elsewhere now and then.
pub(crate) fn a_killed_host_leaves_what_it_stored(place: impl Fn(&str) -> Place) {
    let (mut kills, mut unsaid) = (0, 0);
    for seed in 1..=3 {
        let mut states: Vec<(Session, SessionArchive)> = Vec::new();
        let here = place(&format!("alive_{seed}"));
        here.block_on(async {
            let record = |host: &Host| states.push((host.session.clone(), host.archive.clone()));
            live(&here.open().await, seed, record).await;
        });
        let epochs = |at: usize| states.get(at).map_or(0, |(session, _)| session.journal().len());
        let newest = |at: usize| states.get(at).and_then(|(session, _)| session.log().last());
        let is_large = |at: usize| newest(at).is_some_and(|message| message.plain_text() == "image");
        for patience in 1..states.len() {
            if epochs(patience) == epochs(patience - 1) && !is_large(patience) && patience % 7 > 0 {
                continue;
            }
            let place = place(&format!("killed_{seed}_{patience}"));
            let mut host = Started::new("alone", &place, seed);
            while host.said.len() < patience && host.next() {}
            #[cfg(feature = "sqlite")]
            if let Place::Sqlite(path) = &place
                && patience.is_multiple_of(2)
            {
                // Not between two changes but while the next one is written.
                let log = path.with_extension("db-wal");
                let changed = || std::fs::metadata(&log).and_then(|it| Ok((it.len(), it.modified()?))).ok();
                let before = changed();
                while changed() == before && host.child.try_wait().unwrap().is_none() {}
            }
            host.kill();
            let said = host.said;
            let stored = place.block_on(async {
                let store = place.open().await;
                // What it may have sent is done, or never will be.
                store.lock(&Tenant::default(), "s").await.unwrap().release().await;
                store.session(&Tenant::default(), "s").await.unwrap()
            });
            let at = states.iter().position(|(session, _)| session.state_hash() == stored.session.state_hash());
            let Some(at) = at else { panic!("seed {seed}, {patience}: a session that never was") };
            let (session, archive) = &states[at];
            assert_same(&stored, session, archive, &format!("seed {seed}, {patience}"));
            assert!(said.len() >= patience.min(states.len()), "the host said too little: {said:?}");
            assert!(said.iter().zip(&states).all(|(said, (session, _))| *said == name(session)));
            assert!(
                (said.len()..=said.len() + 1).contains(&(at + 1)),
                "seed {seed}: {} states are stored, {} were said to be",
                at + 1,
                said.len()
            );
            unsaid += usize::from(at + 1 > said.len());
            kills += 1;
        }
    }
    tell(&format!("{kills} hosts killed; {unsaid} of them had stored a change and could not say so any more"));
    assert!(kills > 20);
}

/// Takes turns with others at one session: messages, compactions and undos under its lock.
async fn share(store: &Store, seed: u64) {
    let mut host = Host::load(store, "s", seed).await;
    for turn in 0..TURNS {
        let lock = store.lock(&host.tenant, "s").await.unwrap();
        host.reload().await;
        let message =
            |part: usize| Message::text(format!("{seed}-{turn}-{part}"), Role::User, Origin::Typed, "word ".repeat(30));
        host.push((0..3).map(message).collect()).await;
        match turn % 5 {
            1 => drop(host.compact().await),
            2 => host.summarize(format!("summary {seed} {turn}")).await,
            4 => drop(host.undo().await),
            _ => {}
        }
        say(&format!("{turn}"));
        if turn % 2 == 0 { lock.release().await } else { drop(lock) }
    }
}
