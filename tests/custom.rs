//! Strategies of one's own, three ways: a crate outside the workspace, a program, a function; the skeleton, and the pages
//! about all of it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "tests")]

#[path = "custom/schema.rs"]
mod schema;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The folder that this test was built into, TARGET/PROFILE, and TARGET.
fn target() -> (PathBuf, PathBuf) {
    let test = std::env::current_exe().unwrap();
    let folder = |n| test.ancestors().nth(n).unwrap().to_owned();
    (folder(2), folder(3))
}

/// Cargo without a network, for a package outside of the workspace. With the workspace's versions nothing needs to be fetched;
/// with its profile and target folder no dependency is compiled a second time.
fn cargo(arguments: &[&str], manifest: &Path) -> Output {
    let folder = manifest.parent().unwrap();
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let profile = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let mut workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    workspace.retain(|key, _| key == "profile");
    fs::write(&profile, workspace.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).arg("--offline").arg("--manifest-path").arg(manifest);
    command.arg("--config").arg(profile.path()).arg("--target-dir").arg(target().1);
    command.env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0").output().unwrap()
}

/// Whether a program is newer than everything that cargo says it was built from.
fn is_current(program: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let Some(built) = modified(program) else { return false };
    let Ok(rule) = fs::read_to_string(program.with_extension("d")) else { return false };
    let Some((_, sources)) = rule.split_once(": ") else { return false };
    // A space in a path is written as `\ `.
    let sources = sources.trim().replace("\\ ", "\0");
    sources.split(' ').all(|path| modified(Path::new(&path.replace('\0', " "))).is_some_and(|changed| changed <= built))
}

/// The built `epitome` command. Where all tests are run, cargo has built it already, for the tests of the command.
fn epitome() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (profile, target) = target();
        if is_current(&profile.join("epitome")) {
            return profile.join("epitome");
        }
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["build", "--offline", "--package", "epitome-cli", "--bin", "epitome", "--target-dir"])
            .arg(target);
        if profile.ends_with("release") {
            command.arg("--release");
        }
        succeeded(&command.current_dir(root()).output().unwrap());
        profile.join("epitome")
    })
}

/// Runs `epitome` from the root of the repository.
fn run(arguments: &[&str]) -> Output {
    Command::new(epitome()).args(arguments).current_dir(root()).output().unwrap()
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no python3; the faults of programs are tested with sh");
    }
    found
}

/// The report of a compaction of the example session to 20,000 tokens with this configuration.
fn compacted(config: &Path) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let (report, session) = (folder.path().join("report.json"), folder.path().join("session.jsonl"));
    let [config, report_path, session] = [config, &report, &session].map(|path| path.to_str().unwrap());
    let file = "examples/session.jsonl";
    let arguments = ["compact", file, "--budget", "20k", "--config", config, "--report", report_path, "-o", session];
    succeeded(&run(&arguments));
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["status"], "compacted");
    assert!(report["tokens_after"].as_u64().unwrap() <= 20_000, "{}", report["tokens_after"]);
    report
}

#[test]
fn a_crate_outside_the_workspace() {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let manifest = root().join("examples/custom-strategy/Cargo.toml");
    let tests = succeeded(&cargo(&["test"], &manifest));
    assert!(tests.contains("3 passed"), "{tests}");
    let session = root().join("examples/session.jsonl");
    for (program, strategy) in [("host", "error-lines"), ("closure", "first-lines")] {
        succeeded(&cargo(&["build", "--bin", program], &manifest));
        let built = target().1.join("debug").join(program);
        let told = succeeded(&Command::new(built).arg(&session).output().unwrap());
        let first: Vec<&str> = told.lines().collect();
        assert!(first[0].starts_with("Compacted: "), "{told}");
        let edits = first[1].strip_prefix(&format!("{strategy}: ")).unwrap().split(' ').next().unwrap();
        assert!(edits.parse::<u32>().unwrap() > 3, "{told}");
    }
}

#[test]
fn the_skeleton_compiles_and_its_tests_pass() {
    let folder = tempfile::tempdir().unwrap();
    let crate_folder = folder.path().join("forget-outputs");
    let (checkout, target) = (root(), crate_folder.to_str().unwrap());
    let init = ["init", "--strategy", "forget-outputs", "--epitome", checkout.to_str().unwrap(), "--dir", target];
    let told = run(&init);
    succeeded(&told);
    assert!(text(&told.stderr).contains("cargo test --manifest-path"), "{}", text(&told.stderr));
    let tests = succeeded(&cargo(&["test"], &crate_folder.join("Cargo.toml")));
    assert!(tests.contains("2 passed"), "{tests}");
    let again = run(&init);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("is there already"), "{}", text(&again.stderr));
}

#[test]
fn the_skeleton_takes_epitome_from_a_git_repository() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap();
    let address = "https://example.org/epitome.git";
    succeeded(&run(&["init", "--strategy", "mine", "--epitome", address, "--dir", target]));
    let manifest: toml::Table = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap().parse().unwrap();
    assert_eq!(manifest["dependencies"]["epitome-strategy"]["git"].as_str(), Some(address));
    assert_eq!(manifest["dev-dependencies"]["epitome-testkit"]["git"].as_str(), Some(address));
}

#[test]
fn the_skeleton_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expect: &str| {
        let output = Command::new(epitome()).arg("init").args(arguments).current_dir(folder.path()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(text(&output.stderr).contains(expect), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
    };
    for name in ["My-Strategy", "my_strategy", "mine-", "my--own", "7th", "", "../mine"] {
        check(&["--strategy", name], "is not a name of a strategy");
    }
    check(&["--strategy", "sliding-window"], "there is a strategy `sliding-window` already");
    check(&["--strategy", "mine", "--epitome", "/nowhere"], "there is no package in /nowhere/crates/strategy");
    check(&["--strategy", "mine"], "no version of epitome is published");
    check(&["--strategy", "mine", "--force"], "cannot be used with");
    check(&["--dir", "mine"], "required");
}

#[test]
fn a_program() {
    if !has_python() {
        return;
    }
    let config = root().join("examples/external-strategy/epitome.toml");
    let report = compacted(&config);
    let step = &report["steps"][0];
    assert_eq!((&step["strategy"], &step["declined"]), (&"outline".into(), &Value::Null), "{step}");
    assert!(step["edits"].as_u64().unwrap() > 0 && step["refused"] == 0, "{step}");
    assert!(report["summary"].as_str().unwrap().contains("called Edit"), "{}", report["summary"]);
    assert_eq!(report["edits"][0]["reason"]["code"], "outlined");
    let list = succeeded(&run(&["strategies", "--config", config.to_str().unwrap()]));
    assert!(list.contains("Old steps become an outline"), "{list}");
    let page = succeeded(&run(&["strategies", "outline", "--config", config.to_str().unwrap()]));
    assert!(page.contains("timeout_ms"), "{page}");
}

/// A configuration whose chain starts with a program.
fn config(folder: &TempDir, command: &str, more: &str) -> PathBuf {
    let path = folder.path().join("epitome.toml");
    let command = Value::from(command.split('|').collect::<Vec<_>>());
    let toml = format!(
        "[select]\nmode = \"fixed\"\nchain = \"mine\"\n[chains]\nmine = [\"bad\", \"tool-results\", \"sliding-window\"]\n\
         [strategies.bad]\ncommand = {command}\n{more}\n"
    );
    fs::write(&path, toml).unwrap();
    path
}

#[test]
#[cfg(unix)]
fn a_program_that_fails_is_a_declined_step() {
    let check = |command: &str, more: &str, expect: &str| {
        let folder = tempfile::tempdir().unwrap();
        let report = compacted(&config(&folder, command, more));
        let step = &report["steps"][0];
        assert_eq!((&step["strategy"], &step["edits"]), (&"bad".into(), &0.into()), "{command}: {step}");
        let declined = step["declined"].as_str().unwrap();
        assert!(declined.contains(expect), "{command}: {declined}");
    };
    check("/no/such/program", "", "failed: `/no/such/program` could not be started: ");
    check("sh|-c|echo the disk is full >&2; exit 9", "", "ended with exit status: 9; it said: the disk is full");
    check("sh|-c|sleep 600 & sleep 600", "timeout_ms = 300", "took longer than 300 ms and was ended");
    check("sh|-c|echo hello", "", "answered no plan: expected value");
    check("sh|-c|cat", "", "answered a plan without `edits`");
    check("sh|-c|yes", "max_output_bytes = 5000", "answered more than 5000 bytes and was ended");
    check("true", "", "answered nothing");
    let edit = |edit: &str| format!("sh|-c|echo '{{\"edits\":[{{{edit},\"reason\":{{\"code\":\"bad\"}}}}]}}'");
    check(&edit(r#""edit":"drop","units":[0]"#), "", "an edit touches something protected");
    check(&edit(r#""edit":"drop","units":[99999]"#), "", "an edit names something that the view does not have");
    let far = r#""edit":"excerpt","message":3,"block":0,"keep":[{"start":0,"end":4000000000}]"#;
    check(&edit(far), "", "an edit ");
}

#[test]
#[cfg(unix)]
fn the_schemas_are_true() {
    let schema = |name: &str| -> Value {
        let path = root().join(format!("docs/protocol/strategy-{name}.v1.schema.json"));
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("request.json");
    let command = format!("sh|-c|cat > '{}'; echo '{{\"declined\":\"seen\"}}'", seen.display());
    compacted(&config(&folder, &command, ""));
    let request: Value = serde_json::from_slice(&fs::read(seen).unwrap()).unwrap();
    assert!(request["view"]["messages"].as_array().unwrap().len() > 100);
    assert_eq!(schema::problems(&schema("request"), &request), Vec::<String>::new());
    let mut wrong = request.clone();
    wrong["view"]["messages"][0]["surprise"] = 1.into();
    wrong["view"]["units"][0].as_object_mut().unwrap().remove("may_leave");
    assert_eq!(schema::problems(&schema("request"), &wrong).len(), 2, "the check sees what is wrong");

    use epitome_session::Reason;
    use epitome_strategy::{Edit, Plan, SummaryRequest, SummaryText};
    let reason = || Reason::new("old-output", "why").with_score(0.5).with_evidence("m1");
    let request = SummaryRequest::new(5, None);
    let plan = Plan::from_edits(
        vec![
            Edit::Drop { units: vec![1], reason: reason() },
            Edit::Summarize { units: vec![2], summary: SummaryText::Ready("text".to_owned()), reason: reason() },
            Edit::Summarize { units: vec![3], summary: SummaryText::Request(request), reason: reason() },
            Edit::Excerpt { message: 4, block: 0, keep: vec![0..5, 7..9], reason: reason() },
            Edit::Trim { message: 5, block: 1, max_chars: 80, reason: reason() },
        ],
        "",
    );
    let plan_schema = schema("plan");
    let check = |plan: &Plan| {
        let value = serde_json::to_value(plan).unwrap();
        assert_eq!(schema::problems(&plan_schema, &value), Vec::<String>::new());
        assert_eq!(&serde_json::from_value::<Plan>(value).unwrap(), plan);
    };
    check(&plan);
    check(&Plan::decline("nothing to do"));
    for wrong in ["{}", r#"{"edits":[]}"#, r#"{"edits":[{"edit":"drop","units":[],"reason":{"code":"x"}}]}"#] {
        assert!(!schema::problems(&plan_schema, &wrong.parse().unwrap()).is_empty(), "{wrong}");
    }
}

/// The fenced blocks of a page: the comment in front of each, its language, its text.
fn blocks(page: &str) -> Vec<(String, String, String)> {
    let mut blocks = Vec::new();
    let (mut comment, mut lines) = (String::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((std::mem::take(&mut comment), language.to_owned(), text.join("\n")));
        } else if let Some(inner) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            comment = inner.to_owned();
        } else if !line.is_empty() {
            comment.clear();
        }
    }
    blocks
}

/// Every block of the pages is a part of a file that other tests compile and run, or is run here.
#[test]
#[cfg(unix)]
fn the_pages_show_what_runs() {
    let place = tempfile::tempdir().unwrap();
    for name in ["examples", "crates"] {
        std::os::unix::fs::symlink(root().canonicalize().unwrap().join(name), place.path().join(name)).unwrap();
    }
    for (page, least) in [("writing-a-strategy.md", 8), ("external-strategies.md", 2)] {
        let source = fs::read_to_string(root().join("docs").join(page)).unwrap();
        let blocks = blocks(&source);
        assert!(blocks.len() >= least, "{page} has {} blocks", blocks.len());
        for (comment, language, block) in blocks {
            if comment == "run" {
                assert_eq!(language, "sh", "{page}: {block}");
                if block.contains("external-strategy") && !has_python() {
                    continue;
                }
                let path = std::env::var("PATH").unwrap_or_default();
                let path = format!("{}:{path}", epitome().parent().unwrap().display());
                let output =
                    Command::new("sh").args(["-e", "-c", &block]).current_dir(place.path()).env("PATH", path).output();
                succeeded(&output.unwrap());
            } else {
                let file = fs::read_to_string(root().join(&comment))
                    .unwrap_or_else(|error| panic!("{page}: `{comment}` in front of a block: {error}\n{block}"));
                assert!(file.contains(&block), "{page}: this is not in {comment}:\n{block}");
            }
        }
    }
}
