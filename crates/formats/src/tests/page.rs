//! What `docs/formats.md` says of each agent, against the tables of formats, of kinds and of foreign agents.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use crate::Format;
use crate::foreign::FOREIGN_AGENTS;
use crate::readers::readers;

#[test]
fn the_page_has_a_row_for_each_agent() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let looked_at = page.split("## What was looked at").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = looked_at
        .lines()
        .map(|line| line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let agents = Format::ALL.iter().filter(|(format, ..)| format.wire().is_none());
    for (format, name, _) in agents {
        let row = rows.iter().find(|row| row.first() == Some(&format!("`{name}`").as_str()));
        let row = row.unwrap_or_else(|| panic!("docs/formats.md has no row for {name} in what was looked at"));
        assert!(row.len() == 6 && crate::time::parse(row[5]).is_some(), "{row:?}");
        let kinds = readers().find(|reader| reader.format == *format).and_then(|reader| reader.kinds);
        for kind in kinds.map_or("", |kinds| kinds.read).split_ascii_whitespace() {
            assert!(row[3].contains(&format!("`{kind}`")), "{name}: `{kind}` is read, and the page has not got it");
        }
    }
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for agent in FOREIGN_AGENTS {
        let name = agent.name.split(" (").next().unwrap();
        assert!(words.contains(name), "docs/formats.md does not say that {name} is refused");
    }
}
