//! A service in a process of its own, which can be killed: this program, started anew.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use epitome::store::{SqliteSettings, Store};
use epitome_server::{Settings, StoreLocation};

use crate::kept::Kept;
use crate::support::{Running, SMALL, with_tokens};

/// Says to this program where the database of the service is that it is to be.
const STORE: &str = "EPITOME_MODEL_STORE";
/// Pages that the database may grow by; any number without it.
const PAGES: &str = "EPITOME_MODEL_PAGES";
/// In front of the address that the service listens at; the rest is the test harness's own.
const SAYS: &str = "listens at ";
const TOKENS: &str = "alice open-sesame-one-two\nbob open-sesame-two-two\n";

/// How much room the database has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Room {
    Any,
    /// So many pages more than there are.
    Pages(u32),
}

/// A service in another process. It ends with this value.
pub(super) struct Host {
    child: Mutex<Child>,
    address: SocketAddr,
}

impl Host {
    pub(super) async fn start(store: &str, room: Room) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "model::host::service", "--nocapture", "--test-threads=1"]).env(STORE, store);
        if let Room::Pages(pages) = room {
            command.env(PAGES, pages.to_string());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = lines.map_while(Result::ok).filter_map(|line| {
            // The harness writes the name of the test in front of it, in the same line.
            line.split_once(SAYS).and_then(|(_, address)| address.parse().ok())
        });
        let address = said.next().expect("a service that listens");
        Self { child: Mutex::new(child), address }
    }

    /// Kills the process; what it was about to do it does not do any more.
    pub(super) fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// A caller. The service runs.
    pub(super) async fn kept(&self, token: &'static str) -> Kept {
        Kept::new(Running::elsewhere(self.address)).await.with_token(token)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The service, where this program was started as one; otherwise nothing. It ends when its input does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service() {
    let Ok(address) = std::env::var(STORE) else { return };
    let pages: Option<u32> = std::env::var(PAGES).ok().map(|pages| pages.parse().unwrap());
    let store = match (pages, address.strip_prefix("sqlite:")) {
        (Some(more), Some(path)) => {
            let there = std::fs::metadata(path).map_or(0, |file| file.len() / 4_096) as u32;
            let settings = SqliteSettings { max_pages: Some(there + more), ..SqliteSettings::new(path) };
            StoreLocation::Store(Store::sqlite(&settings).unwrap())
        }
        _ => StoreLocation::In(address),
    };
    let config = format!("{SMALL}[live]\nmemory_flush = true\n");
    let running = Running::start(&config, Settings { store, ..with_tokens(TOKENS) }).await;
    let mut output = std::io::stdout();
    writeln!(output, "{SAYS}{}", running.address).unwrap();
    output.flush().unwrap();
    tokio::task::spawn_blocking(|| std::io::stdin().lines().for_each(drop)).await.unwrap();
}
