//! What the help lists, and the tables of docs/command-line.md that are printed from the same declarations:
//! `UPDATE_DOCS=1 cargo test -p epitome-cli --lib help` writes them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::{Arg, Command};

use super::*;

/// The end of every printed part of the page.
const END: &str = "<!-- printed: end -->";

#[test]
fn at_most_fifteen_commands_are_listed_and_all_are_explained() {
    let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    assert!(listed.len() <= 15, "{listed:?}");
    let whole = command();
    let names: Vec<String> = whole.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    assert!(listed.iter().all(|name| names.iter().any(|known| known == name)), "{listed:?} of {names:?}");
    let overview = command().render_help().to_string();
    for name in &names {
        let is_listed = overview.lines().any(|line| line.starts_with(&format!("  {name} ")));
        assert_eq!(is_listed, listed.contains(&name.as_str()), "{name} in {overview}");
        let help = command().try_get_matches_from(["epitome", "help", name]).unwrap_err().to_string();
        assert!(help.contains("Usage: ") && help.contains("Example"), "{name}: {help}");
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// What an argument is called: `-b`, `--budget TOKENS`.
fn name_of(arg: &Arg) -> String {
    let values = arg.get_value_names().filter(|_| arg.get_action().takes_values()).unwrap_or_default();
    let values = values.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    match arg.get_long() {
        None => format!("`{}`", cell(&values)),
        Some(long) => {
            let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
            let value = if values.is_empty() { String::new() } else { format!(" {}", cell(&values)) };
            format!("{short}`--{long}{value}`")
        }
    }
}

/// What the help says of an argument, with its values and its default.
fn about_of(arg: &Arg) -> String {
    let mut about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = match arg.is_hide_possible_values_set() {
        true => Vec::new(),
        false => arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect(),
    };
    let is_flag = !arg.get_action().takes_values();
    if !values.is_empty() && !is_flag {
        let _ = write!(about, ": {}", values.join(", "));
    }
    let defaults: Vec<String> = arg.get_default_values().iter().map(|it| it.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() && !is_flag {
        let _ = write!(about, " [default: {}]", defaults.join(","));
    }
    cell(&about)
}

/// The options of a command, as a table; those that every command has are left out.
fn table(command: &Command) -> String {
    let mut rows = "| option | what it does |\n|---|---|\n".to_owned();
    let mut arguments: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    arguments.sort_by_key(|arg| !arg.is_positional());
    for arg in arguments {
        if !matches!(arg.get_id().as_str(), "help" | "version" | "quiet") {
            let _ = writeln!(rows, "| {} | {} |", name_of(arg), about_of(arg));
        }
    }
    rows
}

/// All commands, in their groups; those that the help does not list behind them.
fn overview(whole: &Command) -> String {
    let mut rows = "| command | what it does |\n|---|---|\n".to_owned();
    let mut row = |group: &str, it: &Command| {
        let about = it.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(rows, "| {group}`epitome {}` | {} |", it.get_name(), cell(&about));
    };
    for (heading, names) in GROUPS {
        for (at, name) in names.iter().enumerate() {
            let group = if at == 0 { format!("**{heading}** ") } else { String::new() };
            row(&group, whole.find_subcommand(name).unwrap());
        }
    }
    let is_hidden = |it: &&Command| !GROUPS.iter().any(|(_, names)| names.contains(&it.get_name()));
    for (at, it) in whole.get_subcommands().filter(is_hidden).enumerate() {
        row(if at == 0 { "**Not in `epitome --help`** " } else { "" }, it);
    }
    rows
}

#[test]
fn the_page_has_every_command_and_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command-line.md");
    let page = fs::read_to_string(&path).unwrap();
    let whole = command();
    let mut current = page.clone();
    let mut print = |mark: &str, table: &str| {
        let (head, rest) = current.split_once(mark).unwrap_or_else(|| panic!("the page has no place `{mark}`"));
        let (_, tail) = rest.split_once(END).unwrap_or_else(|| panic!("`{mark}` has no end"));
        current = format!("{head}{mark}\n{table}{END}{tail}");
    };
    print("<!-- printed: commands -->", &overview(&whole));
    for it in whole.get_subcommands().filter(|it| it.get_arguments().next().is_some()) {
        print(&format!("<!-- printed: options of {} -->", it.get_name()), &table(it));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &current).unwrap();
        return;
    }
    assert!(page == current, "docs/command-line.md is out of date: UPDATE_DOCS=1 cargo test -p epitome-cli --lib help");
}
