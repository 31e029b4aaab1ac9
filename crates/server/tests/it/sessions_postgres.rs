//! Several services on one PostgreSQL database.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use epitome::store::{Store, Tenant};
use epitome_server::StoreLocation;
use serde_json::json;

use crate::kept::{Kept, typed};
use crate::support::{SMALL, code};

/// Starts a server of its own in a folder, stops and starts it as it is told, and ends with this program: then its standard
/// input ends. PostgreSQL refuses to be run by root.
const SERVER: &str = r#"
folder=$1 programs=$2
trap '' INT
as_user() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
finish() { rm -rf "$folder"; exit 1; }
start() {
    as_user "$programs/pg_ctl" -D "$folder/data" -w -l "$folder/server.log" \
        -o "-k $folder -c listen_addresses= -c fsync=off -c max_connections=300" start >>"$folder/setup.log" 2>&1
}
cd "$folder" || exit 1
if [ "$(id -u)" = 0 ]; then chown postgres "$folder" || finish; fi
as_user "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
    >"$folder/setup.log" 2>&1 || finish
start || finish
echo ready
while read -r order; do
    case $order in
    stop) as_user "$programs/pg_ctl" -D "$folder/data" -w -m immediate stop >/dev/null 2>&1 ;;
    start) start ;;
    esac
    echo "$order"
done
as_user "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1
finish
"#;

/// A server that ends with this value, or with this program.
pub(crate) struct Postgres {
    pub(crate) url: String,
    orders: ChildStdin,
    said: BufReader<ChildStdout>,
    _shell: Child,
}

impl Postgres {
    /// `None`, and said so, where its programs are not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let mut out = std::io::stderr();
            writeln!(out, "NOT RUN on PostgreSQL: its server is not installed (initdb is not there)").unwrap();
            return None;
        };
        let folder = tempfile::tempdir().unwrap().keep();
        let mut shell = Command::new("sh")
            .args(["-c", SERVER, "sh"])
            .args([&folder, &programs])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, said) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        let host = folder.to_str().unwrap().replace('/', "%2F");
        let url = format!("postgres://postgres@{host}/postgres");
        let mut server = Self { url, orders, said, _shell: shell };
        server.says("ready", &folder);
        Some(server)
    }

    fn says(&mut self, expect: &str, folder: &Path) {
        let mut said = String::new();
        self.said.read_line(&mut said).unwrap();
        assert_eq!(said.trim(), expect, "see {}", folder.display());
    }

    /// `start` or `stop`.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        self.says(order, Path::new("the server's folder"));
    }

    pub(crate) fn keeping(&self) -> StoreLocation {
        StoreLocation::In(self.url.clone())
    }
}

/// Where the server's programs are.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let installed = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> =
        installed.chain(std::env::split_paths(&path)).filter(|folder| folder.join("initdb").exists()).collect();
    found.sort();
    found.pop()
}

#[tokio::test(flavor = "multi_thread")]
async fn services_share_sessions() {
    let Some(database) = Postgres::start() else { return };
    let one = Arc::new(Kept::start(SMALL, database.keeping()).await);
    let two = Arc::new(Kept::start(SMALL, database.keeping()).await);
    assert_eq!(one.found("/readyz").await["sessions"], "postgres");
    one.session("s", 12).await;
    assert_eq!(two.found("/v1/sessions/s").await, one.found("/v1/sessions/s").await);
    let compacted = two.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    assert_eq!(one.found("/v1/sessions/s").await["context"], compacted["context"]);
    assert_eq!(one.ids("s", "compacted").await, two.ids("s", "compacted").await);
    let handle = one.found("/v1/sessions/s/history").await["epochs"][0]["recall"][0].clone();
    one.found(&format!("/v1/sessions/s/recall/{}", handle.as_str().unwrap())).await;
    assert_eq!(one.done("/v1/sessions/s/undo", json!({})).await["epoch"], 0);
    // At once: each keeps the other waiting, and nothing is lost or said twice.
    let say = |kept: &Arc<Kept>, who: &'static str| {
        let kept = Arc::clone(kept);
        tokio::spawn(async move {
            for number in 0..10 {
                kept.done("/v1/sessions/s/messages", typed(&format!("{who} {number}"))).await;
                if number % 4 == 3 {
                    kept.done("/v1/sessions/s/maintain", json!({})).await;
                }
            }
        })
    };
    let (first, second) = (say(&one, "one"), say(&two, "two"));
    first.await.unwrap();
    second.await.unwrap();
    let page = one.found("/v1/sessions/s/messages?view=full&limit=500&from=28").await;
    assert_eq!(page["total"], 48);
    for who in ["one", "two"] {
        let texts =
            page["messages"].as_array().unwrap().iter().map(|it| &it["message"]["blocks"][0]["content"]["text"]);
        let said: Vec<&str> = texts.filter_map(|text| text.as_str()).filter(|text| text.starts_with(who)).collect();
        let expect: Vec<String> = (0..10).map(|number| format!("{who} {number}")).collect();
        assert_eq!(said, expect);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_of_another_instance_is_waited_for() {
    let Some(database) = Postgres::start() else { return };
    let kept = Arc::new(Kept::start(SMALL, database.keeping()).await);
    kept.session("s", 1).await;
    let other = Store::open(&database.url).await.unwrap();
    let lock = other.lock(&Tenant::default(), "s").await.unwrap();
    let shared = Arc::clone(&kept);
    let append = tokio::spawn(async move { shared.done("/v1/sessions/s/messages", typed("Go on.")).await });
    // Who looks does not wait; who changes something does.
    let busy = async {
        while !kept.running.get("/metrics").await.text().await.unwrap().contains("epitome_busy_sessions 1\n") {}
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), busy).await.unwrap();
    assert_eq!(kept.found("/v1/sessions/s/messages").await["total"], 6);
    assert!(!append.is_finished());
    lock.release().await;
    assert_eq!(append.await.unwrap()["version"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_was_gone_is_used_again() {
    let Some(mut database) = Postgres::start() else { return };
    let kept = Kept::start(SMALL, database.keeping()).await;
    kept.session("s", 12).await;
    let before = kept.found("/v1/sessions/s").await;
    database.order("stop");
    let asks = [
        ("GET", "/v1/sessions", json!(null)),
        ("GET", "/v1/sessions/s", json!(null)),
        ("GET", "/v1/sessions/s/messages", json!(null)),
        ("POST", "/v1/sessions", json!({"id": "t"})),
        ("POST", "/v1/sessions/s/messages", typed("Go on.")),
        ("POST", "/v1/sessions/s/compact", json!({"target": 3_000})),
        ("POST", "/v1/sessions/s/maintain", json!({})),
    ];
    for (method, path, body) in asks {
        let request = kept.request(method, path).header("content-type", "application/json").body(body.to_string());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 503, "{method} {path}");
        assert!(response.headers().contains_key("retry-after"), "{method} {path}");
        let body = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(code(&body), "store-unavailable", "{method} {path}");
    }
    let (status, ready) = kept.get("/readyz").await;
    assert_eq!((status, ready["status"].as_str()), (503, Some("unavailable")));
    let (status, _) = kept.get("/healthz").await;
    assert_eq!(status, 200);
    let request = crate::support::Wire::Chat.request(12);
    assert_eq!(
        kept.post("/v1/compact", json!({"request": request, "budget": 3_000})).await.0,
        200,
        "this needs no store"
    );
    database.order("start");
    assert_eq!(kept.found("/readyz").await["status"], "ok");
    assert_eq!(kept.found("/v1/sessions/s").await, before);
    kept.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    let (status, _) = kept.get("/v1/sessions/t").await;
    assert_eq!(status, 404);
}
