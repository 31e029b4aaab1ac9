//! Running: files in parallel, cases in a fixed order, one file in memory at a time for each thread.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::Session;
use epitome::formats::{ReadOptions, read};
use epitome::session::Entry;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseId, CaseOptions};
use crate::cut::tokens_of;
use crate::evidence::{Chat, Question, chats};
use crate::labels::Labels;
use crate::method::{Method, Outcome};
use crate::random::hash;
use crate::recorded::{self, RecordedCase};
use crate::score::{Kept, Scores};
use crate::select::Filter;
use crate::text::{conversation, shown};
use crate::{BudgetSpec, EvalError};

/// What a run measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subject {
    /// What the agent did behind the cut shows what it needed.
    #[default]
    Future,
    /// Sessions cut where the agent itself compacted: its own summary beside the methods at the same size.
    Recorded,
    /// Chats with questions whose evidence turns are recorded.
    Evidence {
        /// Questions of each chat that are asked with the question as focus.
        questions: usize,
    },
}

/// What is measured.
#[derive(Debug)]
pub struct Plan {
    /// What the run measures.
    pub subject: Subject,
    /// Files and folders; a folder stands for every file in it.
    pub paths: Vec<PathBuf>,
    /// The methods, in the order of the tables.
    pub methods: Vec<Arc<Method>>,
    /// The budgets.
    pub budgets: Vec<BudgetSpec>,
    /// The cuts and what is part of a session.
    pub cuts: Vec<CaseOptions>,
    /// Which cases count.
    pub filter: Filter,
    /// Kinds of task by file.
    pub labels: Labels,
    /// How many sessions to draw; all of them without it.
    pub sample: Option<usize>,
    /// The seed of what is drawn.
    pub seed: u64,
    /// Rows of an earlier run: what they hold is not measured again.
    pub known: Vec<Row>,
}

/// One case under one method at one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    #[serde(flatten)]
    pub case: CaseId,
    /// The recording's format.
    pub format: String,
    /// The kind of task.
    pub task: String,
    /// Tokens of the prefix.
    pub prefix_tokens: u32,
    /// Tool calls behind the cut.
    pub future_calls: u32,
    /// The method.
    pub method: String,
    /// The budget as it was asked for.
    pub budget: String,
    /// The budget in tokens.
    pub budget_tokens: u32,
    /// The figures.
    #[serde(flatten)]
    pub scores: Scores,
    /// Why there is no result.
    pub problem: Option<String>,
    /// How long the compaction took.
    pub micros: u64,
}

impl Row {
    /// Whether the result can be used at all.
    pub fn is_usable(&self) -> bool {
        self.problem.is_none() && self.scores.is_usable()
    }
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Run {
    /// Every case under every method at every budget: by file, session, cut, budget, method.
    pub rows: Vec<Row>,
    /// Cases that were measured.
    pub cases: usize,
    /// Sessions that were read.
    pub sessions: usize,
    /// Files that are no session, or could not be read, and why.
    pub skipped: Vec<(String, String)>,
}

/// Hears how far a run is: files done, of how many, and the rows that are new since.
pub type Progress<'a> = &'a (dyn Fn(usize, usize, &[Row]) + Sync);

/// What identifies a row.
type RowKey = (CaseId, String, String);

fn row_key(row: &Row) -> RowKey {
    (row.case.clone(), row.budget.clone(), row.method.clone())
}

/// What every file of a run is worked on with.
struct Job<'a> {
    plan: &'a Plan,
    known: HashMap<RowKey, &'a Row>,
    files: usize,
    done: AtomicUsize,
    progress: Progress<'a>,
}

#[derive(Default)]
struct OfFile {
    rows: Vec<Row>,
    cases: usize,
    sessions: usize,
    problem: Option<String>,
}

impl Plan {
    /// Runs the plan. Files are worked on in parallel; the rows come in the same order whatever the number of threads.
    pub fn run(&self, progress: Progress<'_>) -> Result<Run, EvalError> {
        let files = files(&self.paths)?;
        let chosen = self.chosen(&files)?;
        let known = self.known.iter().map(|row| (row_key(row), row)).collect();
        let job = Job { plan: self, known, files: files.len(), done: AtomicUsize::new(0), progress };
        let wanted = |id: &CaseId| chosen.as_ref().is_none_or(|chosen| chosen.contains(&session_key(id)));
        let of_files: Vec<Result<OfFile, EvalError>> = files
            .par_iter()
            .map(|file| {
                let result = job.of_file(file, &wanted, true);
                (job.progress)(job.done.fetch_add(1, Ordering::Relaxed) + 1, job.files, &[]);
                result
            })
            .collect();
        let mut run = Run::default();
        for (file, result) in files.iter().zip(of_files) {
            let result = result?;
            run.rows.extend(result.rows);
            run.cases += result.cases;
            run.sessions += result.sessions;
            run.skipped.extend(result.problem.map(|problem| (file.name.clone(), problem)));
        }
        Ok(run)
    }

    /// The sessions of the sample: those with the smallest hashes under the seed, so that a larger sample holds the
    /// smaller ones. `None` without a sample.
    fn chosen(&self, files: &[File]) -> Result<Option<HashSet<String>>, EvalError> {
        let Some(size) = self.sample else { return Ok(None) };
        let silent = |_: usize, _: usize, _: &[Row]| {};
        let job = Job { plan: self, known: HashMap::new(), files: 0, done: AtomicUsize::new(0), progress: &silent };
        let listed: Vec<Result<OfFile, EvalError>> =
            files.par_iter().map(|file| job.of_file(file, &|_| true, false)).collect();
        let mut keys = Vec::new();
        for found in listed {
            keys.extend(found?.rows.iter().map(|row| session_key(&row.case)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.sort_by_key(|key| hash(self.seed, key));
        Ok(Some(keys.into_iter().take(size).collect()))
    }
}

type Wanted<'a> = &'a (dyn Fn(&CaseId) -> bool + Sync);

impl Job<'_> {
    /// The cases of one file; without `measure` one empty row for each.
    fn of_file(&self, file: &File, wanted: Wanted<'_>, measure: bool) -> Result<OfFile, EvalError> {
        let bytes = std::fs::read(&file.path)
            .map_err(|error| EvalError::Read { file: file.path.display().to_string(), error })?;
        let loaded = match read(bytes, ReadOptions::default()) {
            Ok(loaded) => loaded,
            Err(error) => return Ok(OfFile { problem: Some(error.to_string()), ..OfFile::default() }),
        };
        let mut found = OfFile { sessions: loaded.sessions.len(), ..OfFile::default() };
        if !self.plan.filter.admits_format(loaded.format.as_str()) {
            return Ok(found);
        }
        if let Subject::Evidence { questions } = self.plan.subject {
            for (session, chat) in chats(&loaded) {
                let id = CaseId { file: file.name.clone(), session, cut_permille: 1000, part: None };
                if self.plan.filter.admits_session(&id) && wanted(&id) && !chat.questions.is_empty() {
                    found.rows.extend(self.of_chat(id, loaded.format.as_str(), &chat, questions, measure)?);
                    found.cases += 1;
                }
            }
            return Ok(found);
        }
        let of_sessions: Vec<Result<(usize, Vec<Row>), EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let id = CaseId { file: file.name.clone(), session: session.name.clone(), cut_permille: 0, part: None };
                if !self.plan.filter.admits_session(&id) || !wanted(&id) {
                    return Ok((0, Vec::new()));
                }
                self.of_session(&id, loaded.format.as_str(), &session.session, measure)
            })
            .collect();
        for result in of_sessions {
            let (cases, rows) = result?;
            found.cases += cases;
            found.rows.extend(rows);
        }
        Ok(found)
    }

    fn of_session(
        &self,
        id: &CaseId,
        format: &str,
        session: &Session,
        measure: bool,
    ) -> Result<(usize, Vec<Row>), EvalError> {
        let (mut cases, mut rows) = (0, Vec::new());
        let options = self.plan.cuts.first().cloned().unwrap_or_default();
        let mut take = |mut case: Case, own: Option<Vec<Entry>>| {
            case.task = self.plan.labels.of(&case.id.file).map(str::to_owned);
            if self.plan.filter.admits(&case) {
                cases += 1;
                rows.extend(match (measure, own) {
                    (false, _) => vec![empty_row(&case)],
                    (true, None) => self.measure(&case),
                    (true, Some(own)) => self.beside(&case, &own),
                });
            }
        };
        if self.plan.subject == Subject::Recorded {
            for RecordedCase { case, own } in recorded::cases(id, format, session, &options)? {
                take(case, Some(own));
            }
            return Ok((cases, rows));
        }
        for cut in &self.plan.cuts {
            let id = CaseId { cut_permille: (cut.cut * 1000.0).round() as u32, ..id.clone() };
            if let Some(case) = Case::new(id, format, session, cut)? {
                take(case, None);
            }
        }
        Ok((cases, rows))
    }

    /// Every method at every budget.
    fn measure(&self, case: &Case) -> Vec<Row> {
        let budgets = self.plan.budgets.iter().map(|budget| (budget.to_string(), case.budget_tokens(*budget)));
        budgets.flat_map(|(budget, tokens)| self.at_budget(case, &budget, tokens)).collect()
    }

    fn at_budget(&self, case: &Case, budget: &str, tokens: u32) -> Vec<Row> {
        let methods = self.plan.methods.iter();
        methods
            .map(|method| {
                let score = |entries: &[Entry]| case.score(entries, tokens);
                self.row(case, (budget, tokens), method.name(), &|| method.compact(case, tokens), &score)
            })
            .collect()
    }

    /// The agent's own view, and every method at its size.
    fn beside(&self, case: &Case, own: &[Entry]) -> Vec<Row> {
        let tokens = own.iter().map(|entry| tokens_of(&entry.message)).sum();
        let recorded = || Outcome { entries: Some(own.to_vec()), problem: None, micros: 0 };
        let score = |entries: &[Entry]| case.score(entries, tokens);
        let mut rows = vec![self.row(case, (OWN_SIZE, tokens), RECORDED, &recorded, &score)];
        rows.extend(self.at_budget(case, OWN_SIZE, tokens));
        rows
    }

    fn row(
        &self,
        case: &Case,
        budget: (&str, u32),
        method: &str,
        compact: &dyn Fn() -> Outcome,
        score: &dyn Fn(&[Entry]) -> Scores,
    ) -> Row {
        self.part_row(case, case.id.part.as_deref(), budget, method, compact, score)
    }

    /// A row: taken from the earlier run, or measured. `part` says which of several rows of the case it is.
    fn part_row(
        &self,
        case: &Case,
        part: Option<&str>,
        (budget, tokens): (&str, u32),
        method: &str,
        compact: &dyn Fn() -> Outcome,
        score: &dyn Fn(&[Entry]) -> Scores,
    ) -> Row {
        let id = CaseId { part: part.map(str::to_owned), ..case.id.clone() };
        let key = (id.clone(), budget.to_owned(), method.to_owned());
        if let Some(known) = self.known.get(&key).filter(|known| known.budget_tokens == tokens) {
            return Row::clone(known);
        }
        let outcome = compact();
        let row = Row {
            case: id,
            method: method.to_owned(),
            budget: budget.to_owned(),
            budget_tokens: tokens,
            scores: outcome.entries.as_deref().map_or_else(|| Scores::of_nothing(case), score),
            problem: outcome.problem,
            micros: outcome.micros,
            ..empty_row(case)
        };
        (self.progress)(self.done.load(Ordering::Relaxed), self.files, std::slice::from_ref(&row));
        row
    }

    /// A chat: each method once without a question, scored by all of them; and those that take a focus once for each
    /// question that is drawn.
    fn of_chat(
        &self,
        id: CaseId,
        format: &str,
        chat: &Chat,
        most: usize,
        measure: bool,
    ) -> Result<Vec<Row>, EvalError> {
        let mut case = Case::of(id.clone(), format, chat.session.clone(), &[])?;
        case.task = self.plan.labels.of(&case.id.file).map(str::to_owned);
        if !measure {
            return Ok(vec![empty_row(&case)]);
        }
        let mut drawn: Vec<&Question> = chat.questions.iter().collect();
        drawn.sort_by_key(|question| hash(self.plan.seed, &question.text));
        drawn.truncate(most);
        let mut rows = Vec::new();
        for budget in &self.plan.budgets {
            let (name, tokens) = (budget.to_string(), case.budget_tokens(*budget));
            for method in &self.plan.methods {
                let all: Vec<&Question> = chat.questions.iter().collect();
                let score = |entries: &[Entry]| evidence_scores(&case, entries, tokens, &all);
                rows.push(self.row(&case, (&name, tokens), method.name(), &|| method.compact(&case, tokens), &score));
            }
            for method in self.plan.methods.iter().filter(|method| method.takes_focus()) {
                let asked = format!("{} +question", method.name());
                let of_question = |question: &&Question| {
                    let compact = || method.compact_for(&case, tokens, Some(&question.text));
                    let score = |entries: &[Entry]| evidence_scores(&case, entries, tokens, &[question]);
                    self.part_row(&case, Some(&question.text), (&name, tokens), &asked, &compact, &score)
                };
                rows.par_extend(drawn.par_iter().map(of_question));
            }
        }
        Ok(rows)
    }
}

/// The scores of a chat's result, with the evidence turns and the answers of `questions` that it holds verbatim.
fn evidence_scores(case: &Case, entries: &[Entry], budget: u32, questions: &[&Question]) -> Scores {
    let mut scores = case.score(entries, budget);
    let text = conversation(shown(entries));
    let turns: HashMap<&str, String> =
        case.prefix.view().iter().map(|entry| (entry.message.id.as_str(), entry.message.plain_text())).collect();
    let mut evidence: Vec<bool> = Vec::new();
    for question in questions {
        let held = question.turns.iter().filter_map(|turn| turns.get(turn.as_str()));
        evidence.extend(held.map(|turn| text.contains(turn.trim())));
    }
    let whole = conversation(shown(case.prefix.view()));
    let answers = questions.iter().filter_map(|question| question.answer.as_deref());
    // An answer that the chat does not hold word for word cannot survive.
    let answers: Vec<bool> =
        answers.filter(|answer| whole.contains(*answer)).map(|answer| text.contains(answer)).collect();
    (scores.evidence, scores.answers) = (Kept::count(&evidence), Kept::count(&answers));
    scores
}

/// The name of what the agent itself left, among the methods.
const RECORDED: &str = "recorded";
/// The name of a budget that is the size of what the agent itself left.
const OWN_SIZE: &str = "own size";

fn empty_row(case: &Case) -> Row {
    Row {
        case: case.id.clone(),
        format: case.format.clone(),
        task: case.task.clone().unwrap_or_else(|| "unlabelled".to_owned()),
        prefix_tokens: case.prefix_tokens,
        future_calls: case.future_calls,
        method: String::new(),
        budget: String::new(),
        budget_tokens: 0,
        scores: Scores::default(),
        problem: None,
        micros: 0,
    }
}

fn session_key(id: &CaseId) -> String {
    format!("{}\0{}", id.file, id.session)
}

/// A file and what it is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Every file that `paths` name, in order of their names; names are relative to the folder that was named.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<File>, EvalError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, path, &mut files)?;
        } else {
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            files.push(File { name, path: path.clone() });
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), EvalError> {
    let unreadable = |error| EvalError::Read { file: folder.display().to_string(), error };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push(File { name, path });
        }
    }
    Ok(())
}
