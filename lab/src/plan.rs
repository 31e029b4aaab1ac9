//! Plans of runs.

use std::path::PathBuf;
use std::sync::Arc;

use epitome_eval::{BudgetSpec, CaseOptions, EvalError, Filter, Method, Plan, Subject, methods};

/// The plan of a run over folders of probes, baselines among its methods.
pub fn probe_plan(paths: &[PathBuf], named: &[String], budgets: &[BudgetSpec], seed: u64) -> Result<Plan, EvalError> {
    Ok(plan(Subject::Probes, paths, methods(named, &epitome::registry())?, budgets, seed))
}

/// The plan of a run with the default filter.
pub fn plan(subject: Subject, paths: &[PathBuf], methods: Vec<Arc<Method>>, budgets: &[BudgetSpec], seed: u64) -> Plan {
    Plan {
        subject,
        paths: paths.to_vec(),
        methods,
        budgets: budgets.to_vec(),
        cuts: vec![CaseOptions::default()],
        filter: Filter::default(),
        sample: None,
        seed,
    }
}
