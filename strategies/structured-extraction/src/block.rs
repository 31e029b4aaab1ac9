//! The block's text, and reading it back.

use std::fmt::Write as _;

use epitome_strategy::parts::Run;
use epitome_strategy::{Language, Tokens, UnitKind, View};
use epitome_transcript::lines::{self, Record, Rows, Sign, Source, Speaker};

use crate::files::Files;
use crate::section::Section;

/// Share of a block that its list of files may take.
const FILES_SHARE: Tokens = 4;

/// The tool that a list of tasks in an earlier block is read as a call of.
const TASK_TOOL: &str = "TodoWrite";

/// A block: what it lists beside the lines that are chosen.
#[derive(Debug)]
pub(crate) struct Block {
    /// The passages of its run.
    passages: Vec<usize>,
    pub(crate) files: Files,
}

impl Block {
    /// Returns the block of a run, of at most `budget` tokens; files that are `told` elsewhere are left out. Linear.
    pub(crate) fn new(view: &View<'_>, source: &Source, run: &Run, told: &Files, budget: Tokens) -> Self {
        let is_of_run = |unit: u32| run.units.binary_search(&unit).is_ok();
        let passages = source.passages.iter().enumerate().filter(|(_, passage)| is_of_run(passage.unit));
        let mut earlier = Files::default();
        for unit in run.units.iter().map(|unit| &view.units()[*unit as usize]) {
            if unit.kind == UnitKind::Summary {
                let text = view.message(unit.entries.start).plain_text();
                text.lines().for_each(|line| earlier.read_line(line));
            }
        }
        let files = Files::new(view, is_of_run, &earlier, told, budget / FILES_SHARE);
        Self { passages: passages.map(|(index, _)| index).collect(), files }
    }

    /// Returns the tokens of everything but the chosen lines, rather too many than too few.
    pub(crate) fn fixed_tokens(&self, view: &View<'_>, language: Language) -> Tokens {
        let headings: Tokens = Section::ALL.iter().map(|section| view.count(section.heading(language)) + 2).sum();
        headings + self.files.tokens(view)
    }

    /// Returns the text with the lines that are kept, and how many there are; empty when there is nothing to say.
    pub(crate) fn write(
        &self,
        source: &Source,
        sections: &[Section],
        kept: &[bool],
        language: Language,
    ) -> (String, usize) {
        let mut text = String::new();
        let mut count = 0;
        for section in Section::ALL {
            let mut of_section = vec![false; kept.len()];
            for line in self.passages.iter().flat_map(|passage| source.passages[*passage].lines.clone()) {
                of_section[line as usize] = kept[line as usize] && sections[line as usize] == section;
                count += usize::from(of_section[line as usize]);
            }
            let records = || lines::records(source, self.passages.iter().copied(), &of_section);
            let lines = match section {
                Section::Files => self.files.write(language),
                Section::Details => lines::write(&records()),
                Section::Requests | Section::Tasks | Section::Decisions | Section::Questions => records()
                    .iter()
                    .flat_map(rows)
                    .map(|row| format!("- {}\n", row.strip_prefix("- ").unwrap_or(row)))
                    .collect(),
            };
            if !lines.is_empty() {
                let _ = write!(text, "{}\n{}\n", section.heading(language), lines.trim_end());
            }
        }
        (text, count)
    }
}

/// Returns the lines of a record.
fn rows(record: &Record) -> impl Iterator<Item = &str> {
    let rows: Vec<&Rows> = match record {
        Record::Speech { rows, .. } => vec![rows],
        Record::Call { arguments, .. } => arguments.iter().map(|(_, rows)| rows).collect(),
        Record::LeftOut(_) | Record::Unsaid => Vec::new(),
    };
    rows.into_iter().flat_map(Rows::iter).map(|(row, _)| row)
}

/// Reads a block by its sections; any other summary as text of a harness. Sections are read in their order only: a line of a
/// tool's output that looks like a heading is not one. Linear.
pub(crate) fn read(text: &str) -> Vec<Record> {
    let mut records = Vec::new();
    let mut section: Option<Section> = None;
    let mut lines_of = |section: Option<Section>, lines: &str| {
        let mut rows = Rows::default();
        for line in lines.lines() {
            rows.push(line.strip_prefix("- ").filter(|_| section.is_some()).unwrap_or(line), false);
        }
        match section {
            _ if rows.iter().next().is_none() => {}
            Some(Section::Files) => {}
            Some(Section::Details) if lines::is_transcript(lines) => records.extend(lines::read(lines)),
            Some(Section::Requests) => records.push(Record::Speech { speaker: Speaker::User, rows }),
            Some(Section::Decisions | Section::Questions) => {
                records.push(Record::Speech { speaker: Speaker::Assistant, rows });
            }
            Some(Section::Tasks) => records.push(Record::Call {
                name: TASK_TOOL.to_owned(),
                head: String::new(),
                ending: None,
                arguments: vec![(Sign::Plain, rows)],
                output: Rows::default(),
            }),
            Some(Section::Details) | None => records.push(Record::Speech { speaker: Speaker::Harness, rows }),
        }
    };
    let mut start = 0;
    for range in epitome_strategy::text::lines(text) {
        let opened = Section::of_heading(text[range.clone()].trim_end());
        if let Some(opened) = opened.filter(|opened| section.is_none_or(|now| now < *opened)) {
            lines_of(section, &text[start..range.start]);
            (section, start) = (Some(opened), range.end);
        }
    }
    lines_of(section, &text[start..]);
    records
}
