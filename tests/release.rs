//! What packages say of themselves: one version, one address, licences, and pages that can be read far from the repository.
//! Whether the packages can be made and installed is tried by `tests/release/run`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The pages that a registry shows, and whatever else leaves the repository with its address.
const PAGES: &[&str] = &[
    "python/README.md",
    "packages/epitome-context/README.md",
    "crates/engine/README.md",
    "crates/session/README.md",
    "crates/strategy/README.md",
    "crates/testkit/README.md",
];
const OTHERS_WITH_ADDRESSES: &[&str] = &[
    "CITATION.cff",
    "python/pyproject.toml",
    "packages/epitome-context/package.json",
    "deploy/install.sh",
    "deploy/Dockerfile",
    "deploy/release/formula",
];
/// The files that stand in every package.
#[cfg(unix)]
const LEGAL: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE", "NOTICE"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `[workspace.package]`.
fn workspace() -> toml::Table {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    manifest["workspace"]["package"].as_table().unwrap().clone()
}

fn of_workspace(key: &str) -> String {
    workspace()[key].as_str().unwrap().to_owned()
}

/// The addresses in a text that lead to a repository named `epitome`, each from its scheme to its end.
fn addresses(text: &str) -> Vec<&str> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`)>,;}".contains(letter);
    let starts = text.match_indices("https://").map(|(at, _)| &text[at..]);
    let whole = starts.map(|rest| rest.split(ends).next().unwrap_or(rest));
    let is_ours =
        |address: &&str| address.split('/').nth(4).is_some_and(|name| name.trim_end_matches(".git") == "epitome");
    whole.filter(is_ours).collect()
}

#[test]
fn one_version() {
    let version = of_workspace("version");
    let check = |path: &str, found: &str| assert_eq!(found, version, "{path} has another version than Cargo.toml");
    for path in ["packages/epitome-context/package.json", "plugins/claude-code/.claude-plugin/plugin.json"] {
        let manifest: Value = serde_json::from_str(&read(path)).unwrap();
        check(path, manifest["version"].as_str().unwrap());
    }
    let lock: Value = serde_json::from_str(&read("packages/epitome-context/package-lock.json")).unwrap();
    check("package-lock.json", lock["packages"][""]["version"].as_str().unwrap());
    let chart = read("deploy/chart/Chart.yaml");
    let of_chart =
        |key: &str| chart.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().trim_matches('"').to_owned();
    check("Chart.yaml", &of_chart("appVersion:"));
    check("Chart.yaml", &of_chart("version:"));
    let citation = read("CITATION.cff");
    check("CITATION.cff", citation.lines().find_map(|line| line.strip_prefix("version: ")).unwrap());
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let Some(table) = dependency.as_table().filter(|table| table.contains_key("path")) else { continue };
        if let Some(needed) = table.get("version") {
            check(name, needed.as_str().unwrap());
        }
    }
}

#[test]
fn one_address() {
    let repository = of_workspace("repository");
    for path in PAGES.iter().chain(OTHERS_WITH_ADDRESSES) {
        let text = read(path);
        let found = addresses(&text);
        assert!(!found.is_empty(), "{path} has no address of the repository");
        for address in found {
            let rest = address.strip_prefix(&repository);
            let rest =
                rest.unwrap_or_else(|| panic!("{path}: {address} does not begin with {repository} of Cargo.toml"));
            // What a page links to is there.
            if let Some(file) = rest.strip_prefix("/blob/main/") {
                let file = file.split('#').next().unwrap();
                assert!(root().join(file).is_file(), "{path}: {address} leads to no file");
            }
        }
    }
}

#[test]
fn pages_that_registries_show_have_no_relative_links() {
    for path in PAGES {
        let text = read(path);
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            assert!(target.starts_with("https://") || target.starts_with('#'), "{path}: {target} is a relative link");
        }
    }
}

// Not on Windows: a checkout there has no links, and nothing is published from it.
#[cfg(unix)]
#[test]
fn published_crates_say_what_they_are() {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--no-deps", "--offline"]).current_dir(root());
    let metadata: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let published = metadata["packages"].as_array().unwrap().iter().filter(|package| package["publish"].is_null());
    let mut names = Vec::new();
    for package in published {
        let name = package["name"].as_str().unwrap();
        names.push(name);
        assert_eq!(package["repository"], of_workspace("repository"), "{name}");
        assert!(package["description"].as_str().is_some_and(|text| text.contains("epitome")), "{name}");
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned();
        let page = folder.join(package["readme"].as_str().unwrap());
        assert!(
            PAGES.contains(&page.strip_prefix(root()).unwrap().to_str().unwrap()),
            "{name}: its page is not checked"
        );
        for file in LEGAL {
            assert_eq!(fs::read(folder.join(file)).ok(), fs::read(root().join(file)).ok(), "{name} has its own {file}");
        }
    }
    names.sort_unstable();
    assert_eq!(names, ["epitome-engine", "epitome-session", "epitome-strategy", "epitome-testkit"]);
}

#[test]
fn the_notice_is_whole() {
    let notice = read("NOTICE");
    let console = read("crates/server/console/dist/licenses.md");
    assert!(notice.contains(console.trim()), "NOTICE has other licences of the console than licenses.md");
    assert!(notice.contains("OpenAI, Shantanu Jain") && notice.contains("all-MiniLM-L6-v2"), "{notice}");
}
