//! The evidence by one command: everything that is measured of a method on a folder of probed sessions, with those that are
//! held out apart. `docs/evaluation.md` defines each figure.

mod continued;
mod demands;
mod figures;
mod jobs;
mod recorded;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::formats::LoadedSession;
use rayon::prelude::*;
use serde::Serialize;

pub use crate::tables::terms::BenchSheet;
pub use figures::{BenchFigure, Figures};
pub use tables::{bench_report, bench_sheets};

use continued::{BenchPrices, continue_session};

use crate::EvalError;
use crate::cases::budget::BudgetSpec;
use crate::cases::case::CaseOptions;
use crate::cases::files::File;
use crate::cases::probes::{ProbedCase, folders};
use crate::cases::select::Filter;
use crate::cases::text::distinct;
use crate::figures::account::MethodAccount;
use crate::figures::metric::Family;
use crate::figures::row::Row;
use crate::replay::Prices;
use crate::run::measure::HANDOFF;
use crate::run::method::Method;
use crate::run::outcome::Run;
use crate::run::plan::{Plan, Subject};

/// The budgets of everything but demands.
const BUDGETS: [BudgetSpec; 3] = [BudgetSpec::Share(0.3), BudgetSpec::Share(0.15), BudgetSpec::Share(0.08)];
/// The budgets of demands.
const OF_DEMANDS: [BudgetSpec; 3] = [BudgetSpec::Share(0.15), BudgetSpec::Share(0.08), BudgetSpec::Share(0.04)];
/// The groups of sessions, in the order of the tables: all, where none is held out.
const GROUPS: [&str; 3] = ["held out", "others", "all"];
/// The file that names the sessions on which nothing is tuned, a line each.
const HELD_OUT: &str = "held-out.txt";
/// The model whose prices are used.
const MODEL: &str = "claude-sonnet-5";

/// What is measured.
#[derive(Debug)]
pub struct Bench {
    /// A folder of probed sessions.
    pub folder: PathBuf,
    /// The methods, in the order of the tables.
    pub methods: Vec<Arc<Method>>,
    /// The prices of requests, and of the models that write summaries.
    pub prices: Prices,
}

/// The figures of a method at a budget, over a group of sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchRow {
    /// `held out`, `others`, or `all` where none is held out.
    pub group: &'static str,
    /// The budget as a share of the session's tokens.
    pub budget: String,
    /// The method.
    pub method: String,
    /// How many sessions.
    pub sessions: usize,
    /// The figures that were measured.
    pub figures: Figures,
    /// The mean time of a compaction, in milliseconds; `None` where nothing was compacted.
    pub milliseconds: Option<f64>,
}

/// The result of a bench.
#[derive(Debug)]
pub struct BenchRun {
    /// By group, budget, method.
    pub rows: Vec<BenchRow>,
    /// The models that wrote summaries and the compactions that failed, of each method where there are any.
    pub accounts: Vec<MethodAccount>,
    /// The questions, as `epitome eval --what probes` measures them.
    pub probes: Run,
}

/// A session with everything that is measured on it.
#[derive(Debug)]
struct BenchSession {
    probed: ProbedCase,
    group: &'static str,
    whole: Option<(String, LoadedSession)>,
    trials: Vec<demands::Trial>,
}

/// What was figures of a session under a method at a budget.
struct Part {
    session: String,
    budget: String,
    method: String,
    figures: Figures,
}

impl Bench {
    /// Measures everything. `progress` is called with the parts that are done and of how many. The result is the same
    /// whatever the number of threads, but for times.
    pub fn run(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<BenchRun, EvalError> {
        let files = folders(std::slice::from_ref(&self.folder))?;
        let held_out = self.held_out(&files)?;
        let prices = BenchPrices { of_requests: self.prices.price(MODEL)?.clone(), table: self.prices.clone() };
        let of_probes = plan(Subject::Probes, self.methods.clone(), vec![self.folder.clone()]);
        let read = |(number, file): (usize, &File)| -> Result<BenchSession, EvalError> {
            let probed = ProbedCase::read(file)?;
            let group = match held_out.is_empty() {
                true => GROUPS[2],
                false => GROUPS[usize::from(!held_out.contains(&probed.folder.name))],
            };
            let (whole, trials) = (recorded::whole_session(&file.path)?, demands::trials(&probed, number)?);
            Ok(BenchSession { probed, group, whole, trials })
        };
        let sessions = files.par_iter().enumerate().map(read).collect::<Result<Vec<_>, EvalError>>()?;
        let probes = of_probes.run(&|_, _, _| {})?;
        let mut parts: Vec<Part> =
            probes.rows.iter().map(|row| Part::new(row, Figures::of_row(row, Family::Probes))).collect();
        let jobs: Vec<(&BenchSession, &Arc<Method>)> =
            sessions.iter().flat_map(|session| self.methods.iter().map(move |method| (session, method))).collect();
        let done = AtomicUsize::new(0);
        let measured = jobs.par_iter().map(|(session, method)| {
            let found = session.measure(method, &prices);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
            found
        });
        parts.extend(measured.collect::<Result<Vec<_>, EvalError>>()?.into_iter().flatten());
        Ok(BenchRun { rows: self.rows(&sessions, &parts), accounts: self.accounts(&parts), probes })
    }

    /// Returns the names in the file of those held out; none without it. The error names one that is no session's.
    fn held_out(&self, files: &[File]) -> Result<Vec<String>, EvalError> {
        let path = self.folder.join(HELD_OUT);
        let file = path.display().to_string();
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let read = epitome_shelf::read_plain_text(&path);
        let text = read.map_err(|error| EvalError::Read { file: file.clone(), error })?;
        let names: Vec<String> = text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
        let is_known = |name: &String| files.iter().any(|file| file.name.split('/').next() == Some(name));
        match names.iter().find(|name| !is_known(name)) {
            Some(name) => {
                let problem = format!("`{name}` is no folder of a probed session: take the line out, or correct it");
                Err(EvalError::Probes { file, problem })
            }
            None => Ok(names),
        }
    }

    /// Returns what each method took beside its figures.
    fn accounts(&self, parts: &[Part]) -> Vec<MethodAccount> {
        let of_method = |method: &Arc<Method>| {
            let mut sum = Figures::default();
            parts.iter().filter(|part| part.method == method.name()).for_each(|part| sum.add_all(&part.figures));
            sum.compactions().account(method.name(), &self.prices)
        };
        self.methods.iter().filter_map(of_method).collect()
    }

    /// Returns the sums of the parts, by group, budget and method.
    fn rows(&self, sessions: &[BenchSession], parts: &[Part]) -> Vec<BenchRow> {
        let methods: Vec<&str> = self.methods.iter().map(|method| method.name()).chain([HANDOFF]).collect();
        let budgets = distinct(BUDGETS.iter().chain(&OF_DEMANDS).map(ToString::to_string));
        let mut rows = Vec::new();
        for group in GROUPS {
            let of: Vec<&str> = sessions
                .iter()
                .filter(|session| session.group == group)
                .map(|session| session.probed.folder.name.as_str())
                .collect();
            for (budget, method) in budgets.iter().flat_map(|it| methods.iter().map(move |method| (it, *method))) {
                let is_it = |part: &&Part| {
                    part.budget == *budget && part.method == method && of.contains(&part.session.as_str())
                };
                let mut sum = Figures::default();
                parts.iter().filter(is_it).for_each(|part| sum.add_all(&part.figures));
                if sum != Figures::default() {
                    let (milliseconds, figures) = (sum.milliseconds(), sum.with_whole_price());
                    let (budget, method) = (budget.clone(), method.to_owned());
                    rows.push(BenchRow { group, budget, method, sessions: of.len(), figures, milliseconds });
                }
            }
        }
        rows
    }
}

impl BenchSession {
    /// Measures everything but the questions.
    fn measure(&self, method: &Arc<Method>, prices: &BenchPrices) -> Result<Vec<Part>, EvalError> {
        let id = &self.probed.case.id;
        let part = |budget: BudgetSpec, figures: Figures| Part {
            session: id.session.clone(),
            budget: budget.to_string(),
            method: method.name().to_owned(),
            figures,
        };
        let mut parts = Vec::new();
        for budget in BUDGETS {
            let mut figures = Figures::default();
            continue_session(&self.probed, method, self.probed.budget(budget), prices, &mut figures)?;
            parts.push(part(budget, figures));
        }
        for budget in OF_DEMANDS {
            let mut figures = Figures::default();
            for trial in &self.trials {
                trial.measure(&self.probed, method, self.probed.budget(budget), &mut figures);
            }
            parts.push(part(budget, figures));
        }
        if let Some((format, whole)) = &self.whole {
            let rows =
                plan(Subject::Future, vec![Arc::clone(method)], Vec::new()).rows_of(id, format, &whole.session)?;
            parts.extend(rows.iter().map(|row| Part::new(row, Figures::of_row(row, Family::Strings))));
            for (budget, figures) in recorded::own_count(id, format, &whole.session, method, &BUDGETS)? {
                parts.push(part(budget, figures));
            }
        }
        Ok(parts)
    }
}

impl Part {
    fn new(row: &Row, figures: Figures) -> Self {
        let (session, budget, method) = (row.case.session.clone(), row.budget.clone(), row.method.clone());
        Self { session, budget, method, figures }
    }
}

/// A run of `epitome eval` at the budgets of the bench.
fn plan(subject: Subject, methods: Vec<Arc<Method>>, paths: Vec<PathBuf>) -> Plan {
    Plan {
        subject,
        paths,
        methods,
        budgets: BUDGETS.to_vec(),
        cuts: vec![CaseOptions::default()],
        filter: if subject == Subject::Probes { Filter::NONE } else { Filter::default() },
        sample: None,
        seed: 1,
    }
}
