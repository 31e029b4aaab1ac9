//! The tables of the bench, for a terminal and for a page, with a line on each column.

use super::{BenchFigure, BenchRow, BenchRun};
use crate::tables::accounts::accounts_sheet;
use crate::tables::html::report_below;
use crate::tables::sheet::{Sheet, SheetCell, figure};
use crate::tables::terms::{BenchSheet, Better, LegendLine};

use BenchFigure as F;

/// A table of each group: its name, and its columns with what each says.
type Subject = (&'static str, &'static [(BenchFigure, &'static str)]);

const SUBJECTS: [Subject; 4] = [
    (
        "facts",
        &[
            (F::Facts, "questions that the work needed answered: the share whose facts the context shows"),
            (F::Exact, "of these, names and numbers to the letter"),
            (F::State, "of these, the state of something"),
            (F::Why, "of these, reasons and conclusions"),
            (F::User, "of these, what a person said"),
            (F::Content, "of these, what was read"),
            (F::Again, "all questions, after five compactions to this budget while the session goes on"),
        ],
    ),
    (
        "demands",
        &[
            (F::Rules, "standing demands put into a person's message: the share that the context shows, word for word"),
            (F::Early, "of these, in the first typed message"),
            (F::Middle, "of these, in the middle one"),
            (F::Late, "of these, in the last one before the newest"),
            (F::Bare, "of all, the sentence alone"),
            (F::Important, "of all, behind `Important:`"),
            (F::Session, "of all, behind `For the rest of this session:`"),
            (F::Attacked, "demands beside results of tools that ask to drop them or speak in the user's name"),
            (F::Forged, "lines of these results that stand as the user's or the system's, of those that are shown"),
        ],
    ),
    (
        "running work",
        &[(F::Running, "work put into the session that goes on in the background: the share whose id is shown")],
    ),
    (
        "form and price",
        &[
            (F::Bound, "exact strings that later calls used: the share that is there with words around it"),
            (F::Strings, "the same strings alone"),
            (F::Quotes, "lines that later edits had to match: the share that is there to the letter"),
            (F::Files, "files that were written: the share that is named"),
            (F::Valid, "results within the budget that a provider accepts"),
            (F::Within, "results within the budget as the session's own model counts; baselines count by o200k_base"),
            (F::Cache, "of a request behind a compaction, the tokens that the request before it began with"),
            (
                F::Price,
                "the price of all requests of the session and of its summaries, five compactions in it, as a share of none",
            ),
        ],
    ),
];

/// The heading of the time, its direction, and what it says.
const TIME: (&str, Better, &str) = ("ms", Better::Less, "the mean time of a compaction, several at a time");

fn legend_line((name, better, said): (&str, Better, &str)) -> LegendLine {
    LegendLine { name: name.to_owned(), better, said: said.to_owned() }
}

/// Returns the tables: for each subject one of each group, without rows and columns in which nothing was measured.
pub fn bench_sheets(rows: &[BenchRow]) -> Vec<BenchSheet> {
    let mut found: Vec<BenchSheet> = Vec::new();
    for (number, (subject, columns)) in SUBJECTS.iter().enumerate() {
        let has_time = number == SUBJECTS.len() - 1;
        let has = |row: &BenchRow, figure: BenchFigure| row.figures.count(figure).of > 0;
        // A line that only counts valid results has its figures in another table.
        let is_shown =
            |row: &&BenchRow| columns.iter().any(|(figure, _)| *figure != BenchFigure::Valid && has(row, *figure));
        let columns: Vec<_> = columns.iter().filter(|(figure, _)| rows.iter().any(|row| has(row, *figure))).collect();
        let mut is_first = true;
        for group in rows.chunk_by(|a, b| a.group == b.group) {
            let shown: Vec<&BenchRow> = group.iter().filter(is_shown).collect();
            let Some(first) = shown.first() else { continue };
            let named = columns.iter().map(|(figure, said)| (figure.as_str(), figure.better(), *said));
            let legend: Vec<_> = named.chain(has_time.then_some(TIME)).map(legend_line).collect();
            let mut headings = vec!["budget".to_owned(), "method".to_owned()];
            headings.extend(legend.iter().map(|line| line.name.clone()));
            let cells = |row: &&BenchRow| {
                let mut cells = vec![row.budget.clone(), row.method.clone()];
                cells.extend(columns.iter().map(|(figure, _)| cell(row, *figure)));
                cells.extend(has_time.then(|| row.milliseconds.map_or("–".to_owned(), |time| format!("{time:.0}"))));
                cells.into_iter().map(SheetCell::from).collect()
            };
            found.push(BenchSheet {
                name: format!("{subject}: {}", named_group(first)),
                sheet: Sheet { headings, metrics: Vec::new(), rows: shown.iter().map(cells).collect() },
                legend: if std::mem::take(&mut is_first) { legend } else { Vec::new() },
            });
        }
    }
    found
}

/// The sessions of a row in words.
fn named_group(row: &BenchRow) -> String {
    match (row.group, row.sessions) {
        (group, 1) => format!("1 session, {group}"),
        (group, sessions) => format!("{sessions} sessions, {group}"),
    }
}

fn cell(row: &BenchRow, of: BenchFigure) -> String {
    let count = row.figures.count(of);
    match of {
        BenchFigure::Forged if count.of > 0 => format!("{} of {}", count.kept, count.of),
        _ => figure(count.share()),
    }
}

/// Returns one page of HTML: the tables, and below them the report of the questions as `epitome eval` has it, with the
/// differences of `pairs` of methods under `seed`.
pub fn bench_report(run: &BenchRun, pairs: &[(String, String)], seed: u64) -> String {
    let mut sheets = bench_sheets(&run.rows);
    sheets.extend(accounts_sheet(&run.accounts));
    report_below(&sheets, &run.probes, pairs, seed)
}
