//! The plan of a run, out of the arguments.

use epitome_eval::{BudgetSpec, CaseOptions, Filter, Plan, Subject};

use crate::args::{EvalArgs, SubjectArg};
use crate::commands::measure::{each_once, measured_methods};
use crate::failure::Failure;

/// The budgets where none are named.
const BUDGETS: [BudgetSpec; 3] = [BudgetSpec::Share(0.4), BudgetSpec::Share(0.2), BudgetSpec::Share(0.1)];
/// The same for probes.
const PROBE_BUDGETS: [BudgetSpec; 3] = [BudgetSpec::Share(0.3), BudgetSpec::Share(0.15), BudgetSpec::Share(0.08)];

/// The plan that the arguments ask for; every mistake in them is an error before anything is measured.
pub(super) fn plan(args: &EvalArgs) -> Result<Plan, Failure> {
    let default = if args.what == SubjectArg::Probes { PROBE_BUDGETS } else { BUDGETS };
    let named: &[BudgetSpec] = if args.budgets.is_empty() { &default } else { &args.budgets };
    let budgets = each_once(named, ToString::to_string);
    if args.what == SubjectArg::Recorded && !args.budgets.is_empty() {
        let failure = Failure::usage_text("--budgets: beside recorded summaries the budget is the size of each");
        return Err(failure.with_help("leave it out"));
    }
    // Before anything is measured, and rows are written of it.
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        let missing = format!("cannot read {}: there is no such file or folder", missing.display());
        return Err(Failure::usage_text(missing).with_help("check the path"));
    }
    Ok(Plan {
        paths: args.paths.clone(),
        methods: measured_methods(&args.methods, &args.commands, &args.model)?,
        budgets,
        cuts: each_once(&args.cut, |cut| (cut * 1000.0).round())
            .iter()
            .map(|cut| CaseOptions { cut: *cut, with_reasoning: args.reasoning })
            .collect(),
        filter: Filter {
            min_tokens: args.least.min_tokens,
            min_calls: args.least.min_calls,
            min_needed: args.least.min_needed,
            task: args.task,
            format: args.filter.format.map(|format| format.as_str().to_owned()),
            only: args.filter.only.clone(),
        },
        sample: args.sample,
        seed: args.seed,
        subject: match args.what {
            SubjectArg::Future => Subject::Future,
            SubjectArg::Probes => Subject::Probes,
            SubjectArg::Recorded => Subject::Recorded,
        },
    })
}
