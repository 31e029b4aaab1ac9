//! Pages with tables that the declarations give: `UPDATE_DOCS=1 cargo test -p epitome-config --test pages` writes them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use epitome_config::{key_table, settings_table};
use epitome_strategy::Registration;

/// Checks a page of the repository against itself with `renew` applied, and writes it when that was asked for.
fn check(page: &str, renew: impl Fn(&str) -> Option<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let current = renew(&text).unwrap_or_else(|| panic!("{page} has no place for its table"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &current).unwrap();
        return;
    }
    assert!(text == current, "{page} is out of date: run UPDATE_DOCS=1 cargo test -p epitome-config --test pages");
}

/// `page` with `table` between two marks.
fn between(page: &str, begin: &str, end: &str, table: &str) -> Option<String> {
    let (head, rest) = page.split_once(begin)?;
    let (_, tail) = rest.split_once(end)?;
    Some(format!("{head}{begin}{table}{end}{tail}"))
}

#[test]
fn the_reference_has_every_key() {
    let table = format!("\n{}\n", key_table(&epitome_builtin::registry()));
    check("docs/configuration.md", |page| between(page, "<!-- keys: generated -->\n", "<!-- keys: end -->", &table));
}

#[test]
fn the_page_of_each_strategy_has_its_settings() {
    for Registration { meta, fields, .. } in epitome_builtin::registry().iter() {
        let page = format!("strategies/{}/README.md", meta.id);
        check(&page, |page| between(page, "## Settings\n\n", "\n## ", &settings_table(fields)));
    }
}

#[test]
fn the_list_of_strategies_has_each() {
    check("docs/strategies/README.md", |page| {
        let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
        for Registration { meta, .. } in epitome_builtin::registry().iter() {
            let link = format!("| [{0}](../../strategies/{0}/README.md) |", meta.id);
            // The first table that names it is the list; others measure it.
            let row = lines.iter_mut().find(|line| line.starts_with(&link))?;
            *row = format!("{link} {} | {} |", meta.summary, meta.lossiness);
        }
        Some(lines.join("\n") + "\n")
    });
}
