//! Blocks: the lines of a run of units that are worth most, under headings; and reading a block back.

mod files;
mod section;

use std::fmt::Write as _;

use epitome_strategy::cut::Focus;
use epitome_strategy::parts::UnitRun;
use epitome_strategy::text::clip;
use epitome_strategy::transcript::{self, Record, Rows, Sign, Speaker, is_transcript};
use epitome_strategy::{Language, Tokens, UnitKind, View};

use crate::choose::{Bounds, Choice};
use crate::passage::PassageKind;
use crate::records::records;
use crate::source::Source;
use crate::summaries::SummaryForm;
use crate::worth::Worth;

use files::Files;
use section::Section;

/// Share of a block that its list of files may take.
const FILES_SHARE: Tokens = 4;

/// Share of the blocks within which decisions and open questions of the model come before other lines: 0 and 0.1 changed no
/// figure of `docs/research/structured-extraction.md` by more than .003.
const DECISION_SHARE: f64 = 0.05;

/// Share of the blocks within which lines about the focus come before other lines.
const FOCUS_SHARE: f64 = 0.3;

/// Share of the budget for which lines are chosen: counts of single lines add up to more than the count of the whole, and
/// lines that exceed the budget leave again.
const CHOSEN_SHARE: f64 = 1.12;

/// How often lines leave again before a block is given up.
const ROUNDS: usize = 12;

/// Below this number of tokens a block is its lines alone: headings and a list of files would take most of it.
const PLAIN_BELOW: Tokens = 120;

/// The columns that a line is cut to where no whole one fits, and how many lines are tried.
const WIDTHS: [usize; 6] = [160, 120, 90, 60, 40, 24];
const MOST_TRIED: usize = 20;

/// The tool that a list of tasks in an earlier block is read as a call of.
const TASK_TOOL: &str = "TodoWrite";

/// What blocks are written from.
#[derive(Debug)]
pub struct Blocks<'b, 'v> {
    view: &'b View<'v>,
    source: &'b Source,
    worth: &'b Worth,
    /// The section of each line.
    sections: Vec<Section>,
    language: Language,
    typed_share: f64,
    focus: Focus,
    context: Option<String>,
}

impl<'b, 'v> Blocks<'b, 'v> {
    /// Returns what the blocks of a view are written from, in `language`. What people typed takes at most `typed_share` of a block,
    /// their demands first, beside what other lines leave; lines about `focus` come before others. Linear in the lines.
    pub fn new(
        view: &'b View<'v>,
        source: &'b Source,
        worth: &'b Worth,
        language: Language,
        typed_share: f64,
        focus: Option<&str>,
    ) -> Self {
        let focus = Focus::new(focus).distinctive(source.lines.iter().map(|line| line.text()));
        let sections = Section::of_lines(view, source);
        Self { view, source, worth, sections, language, typed_share, focus, context: None }
    }

    /// Sets a line that stands at the end of each block under a heading of its own, where the block has headings.
    pub fn with_context(mut self, context: String) -> Self {
        self.context = Some(context);
        self
    }

    /// Returns the block of each of these runs, in order, with the number of its lines: at most as many tokens as its share, and
    /// empty where no line fits. What two of them would share is in the newer one. Linear in the lines, and a sort of them.
    pub fn write(&self, runs: &[UnitRun], shares: &[Tokens]) -> Vec<(String, usize)> {
        let mut listed = Files::default();
        let mut blocks: Vec<Block> = Vec::with_capacity(runs.len());
        for (run, share) in runs.iter().zip(shares).rev() {
            let block = Block::new(self.view, self.source, run, &listed, *share);
            listed.append(&block.files);
            blocks.push(block);
        }
        blocks.reverse();
        let mut choice = self.choice(runs, shares, &blocks);
        let mut written: Vec<(String, usize)> = Vec::new();
        for _ in 0..ROUNDS {
            written = blocks.iter().map(|block| self.text(block, &choice.kept)).collect();
            let over = |run: usize| self.view.count(&written[run].0).checked_sub(shares[run]).filter(|over| *over > 0);
            let too_long: Vec<(usize, Tokens)> = (0..runs.len()).filter_map(|run| Some((run, over(run)?))).collect();
            if too_long.is_empty() {
                break;
            }
            for (run, over) in too_long {
                choice.shrink(run, over);
                written[run].0.clear(); // where nothing is left that could leave
            }
        }
        written
    }

    /// Chooses the lines of all blocks: demands first, then what else the user typed, as far as its share allows, what is about
    /// the focus, some decisions and questions of the model, then whatever is worth most. The newest list of tasks is in its
    /// block anyway.
    fn choice(&self, runs: &[UnitRun], shares: &[Tokens], blocks: &[Block]) -> Choice<'b> {
        let source = self.source;
        let run_of = |unit: u32| {
            let run = runs.partition_point(|run| run.units.last().is_some_and(|last| *last < unit));
            runs.get(run).is_some_and(|it| it.units.binary_search(&unit).is_ok()).then_some(run as u32)
        };
        let of_passage: Vec<Option<u32>> = source.passages.iter().map(|passage| run_of(passage.unit)).collect();
        let lists_tasks = |passage: usize| {
            source.passages[passage].action.is_some_and(|action| source.actions[action as usize].lists_tasks)
        };
        let is_old = |passage: usize| of_passage[passage].is_some();
        let newest_list = source.actions.iter().rposition(|action| action.lists_tasks);
        let is_listed = |line: u32| {
            let action = source.passages[source.lines[line as usize].passage as usize].action;
            self.sections[line as usize] == Section::Tasks && action.map(|action| action as usize) == newest_list
        };
        // A block without headings lists nothing.
        let has_list = |line: &u32| {
            let run = of_passage[source.lines[*line as usize].passage as usize];
            run.is_some_and(|run| !blocks[run as usize].is_plain)
        };
        let tasks: Vec<u32> = (0..source.lines.len() as u32).filter(|line| is_listed(*line)).filter(has_list).collect();
        let bounds = blocks.iter().zip(shares).enumerate().map(|(run, (block, share))| {
            let of_run = |line: &&u32| of_passage[source.lines[**line as usize].passage as usize] == Some(run as u32);
            let tasks: Tokens = tasks.iter().filter(of_run).map(|line| self.worth.tokens[*line as usize]).sum();
            let fixed = self.fixed_tokens(block) + tasks;
            ((f64::from(*share) * CHOSEN_SHARE) as Tokens).saturating_sub(fixed)
        });
        let bounds: Vec<Tokens> = bounds.collect();
        let room: Tokens = bounds.iter().sum();
        // Where there is room for a few lines only, the first of these kinds are all that there is room for.
        let is_plain = blocks.iter().all(|block| block.is_plain);
        let share = |share: f64| if is_plain { room } else { (f64::from(room) * share) as Tokens };
        let is_open = |passage: usize| is_old(passage) && !lists_tasks(passage);
        let stays = |passage: usize| !is_old(passage);
        let mut choice =
            Choice::new(source, self.worth, is_open, stays).with_bounds(Bounds::new(of_passage.clone(), bounds));
        let section = |line: u32| self.sections[line as usize];
        let of_user = share(self.typed_share);
        let is_spoken = |line: u32| {
            source.passages[source.lines[line as usize].passage as usize].kind == PassageKind::SpokenThroughTool
        };
        choice.take_among(of_user, |line| section(line) == Section::Requests && is_spoken(line));
        choice.take_in_order(of_user, source.demands_in_turn(|passage| run_of(passage.unit).is_some()));
        let is_typed = |line: u32| {
            matches!(
                source.passages[source.lines[line as usize].passage as usize].kind,
                PassageKind::Typed | PassageKind::SpokenThroughTool
            )
        };
        if !is_plain {
            choice.take_among(of_user, is_typed);
        }
        if !self.focus.is_empty() {
            let is_about = |line: u32| self.focus.hits(source.lines[line as usize].text()) > 0;
            choice.take_among(choice.used + share(FOCUS_SHARE), is_about);
        }
        let decides = |line: u32| matches!(section(line), Section::Decisions | Section::Questions);
        choice.take_among(choice.used + share(DECISION_SHARE), decides);
        choice.take_among(room, |line| section(line) != Section::Requests);
        tasks.into_iter().for_each(|line| choice.kept[line as usize] = true);
        choice
    }

    /// Returns the tokens of everything but the chosen lines, rather too many than too few.
    fn fixed_tokens(&self, block: &Block) -> Tokens {
        if block.is_plain {
            return 0;
        }
        let count = |text: &str| self.view.count(text) + 2;
        let mut has_lines = [false; Section::ALL.len()];
        has_lines[Section::Files as usize] = !block.files.is_empty();
        has_lines[Section::Context as usize] = self.context.is_some();
        for line in block.passages.iter().flat_map(|passage| self.source.passages[*passage].lines.clone()) {
            has_lines[self.sections[line as usize] as usize] = true;
        }
        let sections = Section::ALL.iter().zip(has_lines).filter(|(_, has_lines)| *has_lines);
        let headings: Tokens = sections.map(|(section, _)| count(section.heading(self.language))).sum();
        headings + block.files.tokens(self.view) + self.context.as_deref().map_or(0, count)
    }

    /// Returns the line that is worth most, cut to at most `most` tokens under its speaker; `None` where nothing fits, or
    /// nothing was said. For room that no whole line fits in. Linear in the lines, and a sort of them.
    pub fn shortest(&self, most: Tokens) -> Option<String> {
        let mut choice = Choice::new(self.source, self.worth, |_| true, |_| false);
        choice.take_until(Tokens::MAX);
        let is_demand = |line: &&u32| self.sections[**line as usize] == Section::Requests;
        let demands_first = choice.order.iter().filter(is_demand).chain(&choice.order);
        demands_first.take(MOST_TRIED).find_map(|line| {
            let line = &self.source.lines[*line as usize];
            let speaker = match self.source.passages[line.passage as usize].kind {
                PassageKind::Typed | PassageKind::SpokenThroughTool => Speaker::User,
                PassageKind::Commentary | PassageKind::Answer => Speaker::Assistant,
                PassageKind::Injected => Speaker::Harness,
                PassageKind::Call | PassageKind::Argument | PassageKind::Output => return None,
            };
            WIDTHS.iter().find_map(|width| {
                let mut rows = Rows::default();
                rows.push(&clip(line.text(), *width)?, false);
                let text = transcript::write(&[Record::Speech { speaker, rows }]).trim_end().to_owned();
                (self.view.count(&text) <= most).then_some(text)
            })
        })
    }

    /// Returns the text of a block with the lines that are kept, and how many there are; empty when there is nothing to say.
    fn text(&self, block: &Block, kept: &[bool]) -> (String, usize) {
        let of_block = |section: Option<Section>| {
            let mut of_section = vec![false; kept.len()];
            let lines = block.passages.iter().flat_map(|passage| self.source.passages[*passage].lines.clone());
            for line in lines.map(|line| line as usize) {
                of_section[line] = kept[line] && section.is_none_or(|section| self.sections[line] == section);
            }
            of_section
        };
        let records = |kept: &[bool]| records(self.source, block.passages.iter().copied(), kept);
        let all = of_block(None);
        let count = all.iter().filter(|is_kept| **is_kept).count();
        if count == 0 && block.files.is_empty() {
            return (String::new(), 0);
        }
        if block.is_plain {
            return (transcript::write(&records(&all)).trim_end().to_owned(), count);
        }
        let mut text = String::new();
        for section in Section::ALL {
            let lines = match section {
                Section::Files => block.files.write(self.language),
                Section::Context => self.context.iter().map(|line| format!("- {line}\n")).collect(),
                Section::Details => transcript::write(&records(&of_block(Some(section)))),
                Section::Requests | Section::Tasks | Section::Decisions | Section::Questions => {
                    records(&of_block(Some(section)))
                        .iter()
                        .flat_map(rows)
                        .map(|row| format!("- {}\n", row.strip_prefix("- ").unwrap_or(row)))
                        .collect()
                }
            };
            if !lines.is_empty() {
                let _ = write!(text, "{}\n{}\n", section.heading(self.language), lines.trim_end());
            }
        }
        text.truncate(text.trim_end().len());
        (text, count)
    }
}

/// What a block lists beside the lines that are chosen.
#[derive(Debug)]
struct Block {
    /// The passages of its run.
    passages: Vec<usize>,
    files: Files,
    /// Whether it is its lines alone, without headings and files.
    is_plain: bool,
}

impl Block {
    /// Returns the block of a run, of at most `budget` tokens; files that are `listed` elsewhere are left out. Linear.
    fn new(view: &View<'_>, source: &Source, run: &UnitRun, listed: &Files, budget: Tokens) -> Self {
        let is_of_run = |unit: u32| run.units.binary_search(&unit).is_ok();
        let passages = source.passages.iter().enumerate().filter(|(_, passage)| is_of_run(passage.unit));
        let passages = passages.map(|(index, _)| index).collect();
        if budget < PLAIN_BELOW {
            return Self { passages, files: Files::default(), is_plain: true };
        }
        let mut earlier = Files::default();
        for unit in run.units.iter().map(|unit| &view.units()[*unit as usize]) {
            if unit.kind == UnitKind::Summary {
                let text = view.message(unit.entries.start).plain_text();
                text.lines().for_each(|line| earlier.read_line(line));
            }
        }
        let files = Files::new(view, is_of_run, &earlier, listed, budget / FILES_SHARE);
        Self { passages, files, is_plain: false }
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
pub fn read(text: &str) -> SummaryForm {
    let mut records = Vec::new();
    let mut section: Option<Section> = None;
    let mut lines_of = |section: Option<Section>, lines: &str| {
        let mut rows = Rows::default();
        for line in lines.lines() {
            rows.push(line.strip_prefix("- ").filter(|_| section.is_some()).unwrap_or(line), false);
        }
        match section {
            _ if rows.iter().next().is_none() => {}
            Some(Section::Files | Section::Context) => {}
            Some(Section::Details) | None if is_transcript(lines) => records.extend(transcript::read(lines)),
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
    // A model's summary may have a section of decisions; those of exact lines and of covered messages only a block has.
    SummaryForm { records, is_of_lines: section >= Some(Section::Details) }
}
