//! A strategy that ships is added by one crate and one line: the steps of CONTRIBUTING.md, carried out on a copy of the
//! workspace.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file that has another text, so that cargo sees no change where there is none.
fn put(path: &Path, text: &str) {
    if !fs::read_to_string(path).is_ok_and(|there| there == text) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Copies the folder `from` to `to`, with `change` made to each text.
fn copy(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target, change);
        } else {
            put(&target, &change(&read(&entry.path())));
        }
    }
}

/// Links everything in the folder `from` into `to`, but for what is called one of `others`.
fn link(from: &Path, to: &Path, others: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if !others.iter().any(|other| name == *other) && !target.is_symlink() {
            symlink(entry.path(), target).unwrap();
        }
    }
}

/// A copy of the workspace that shares all its files but those of the table of strategies. It is at the same place each time,
/// so that what was compiled for it is compiled once.
fn workspace() -> PathBuf {
    let copy_root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adding");
    let (strategies, builtin) = (copy_root.join("strategies"), root().join("strategies/builtin"));
    if strategies.exists() {
        // The last run's: the added crate, and links to strategies that may have left since.
        fs::remove_dir_all(&strategies).unwrap();
    }
    link(&root(), &copy_root, &[".git", "Cargo.lock", "Cargo.toml", "strategies", "target"]);
    link(&root().join("strategies"), &strategies, &["builtin"]);
    put(&copy_root.join("Cargo.toml"), &read(&root().join("Cargo.toml")));
    link(&builtin, &strategies.join("builtin"), &["Cargo.toml"]);
    copy_root
}

/// What a program says that depends on the copy's table and prints the registry: a strategy's id and how many settings it has,
/// one a line.
fn registered(copy_root: &Path) -> Vec<String> {
    let host = copy_root.join("host");
    // Optimised code would take longer to make than it runs; debug information is not read.
    let manifest = "[workspace]\n[package]\nname = \"adding-host\"\nedition = \"2024\"\n[dependencies]\n\
        epitome-builtin = { path = \"../strategies/builtin\", default-features = false }\n\
        [profile.dev]\ndebug = false\n[profile.dev.build-override]\nopt-level = 0\n";
    let main = "fn main() {\n    for it in epitome_builtin::registry().iter() {\n        \
        println!(\"{} {}\", it.meta.id, it.fields.len());\n    }\n}\n";
    put(&host.join("Cargo.toml"), manifest);
    put(&host.join("src/main.rs"), main);
    put(&host.join("Cargo.lock"), &read(&root().join("Cargo.lock")));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--offline", "--target-dir"]).arg(target).current_dir(&host);
    let output = command.env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_strategy_is_one_crate_and_one_line() {
    let place = workspace();
    let example = root().join("strategies/sliding-window");
    let rename = |text: &str| text.replace("sliding-window", "my-strategy").replace("SlidingWindow", "MyStrategy");
    copy(&example, &place.join("strategies/my-strategy"), &rename);

    let table = read(&root().join("strategies/builtin/Cargo.toml"));
    let manifest = place.join("strategies/builtin/Cargo.toml");
    let last = "epitome-sliding-window = { path = \"../sliding-window\" }\n";
    assert_eq!(table.matches(last).count(), 1, "the line that the new one stands in front of");
    put(&manifest, &table.replace(last, &format!("{}{last}", rename(last))));

    let list = registered(&place);
    let [.., added, before] = &list[..] else { panic!("{list:?}") };
    assert_eq!(added.replace("my-strategy", "sliding-window"), *before, "with the settings of what it was copied from");
    assert!(added.starts_with("my-strategy "), "in the place of its line: {list:?}");
    // The other strategies are as they were.
    let ids = list.iter().map(|line| line.split(' ').next().unwrap()).filter(|id| *id != "my-strategy");
    let known = epitome_builtin::registry();
    let known = known.iter().map(|known| known.meta.id).filter(|id| *id != "semantic-clustering");
    assert!(ids.eq(known), "{list:?}");
}
