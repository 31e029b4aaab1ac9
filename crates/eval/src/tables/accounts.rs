//! The table of what methods took beside their results.

use crate::figures::account::{MethodAccount, ModelAccount};
use crate::tables::sheet::{Sheet, SheetCell};
use crate::tables::terms::{BenchSheet, Better, LegendLine};

/// The columns behind the method and the model.
const COLUMNS: [(&str, Better, &str); 7] = [
    ("compactions", Better::Neither, "all compactions of the method"),
    ("failed", Better::Less, "those without a result: each keeps nothing"),
    (
        "answers",
        Better::Less,
        "answers of the model to requests for summaries, those included that its cache folder kept",
    ),
    ("read", Better::Less, "tokens that it read, by the figures of its service"),
    ("cached", Better::Neither, "of these, the tokens that came from the provider's cache"),
    ("written", Better::Less, "tokens that it wrote"),
    ("dollars", Better::Less, "their price; – where the price table does not have the model (--prices)"),
];

/// Returns the table, with the reasons of failures behind its columns; `None` where there is nothing to tell.
pub fn accounts_sheet(accounts: &[MethodAccount]) -> Option<BenchSheet> {
    if accounts.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    for account in accounts {
        match account.models.as_slice() {
            [] => rows.push(cells(account, None)),
            models => rows.extend(models.iter().map(|model| cells(account, Some(model)))),
        }
    }
    let headings = ["method", "model"].into_iter().chain(COLUMNS.iter().map(|(name, _, _)| *name));
    let columns = COLUMNS.iter().map(|(name, better, said)| LegendLine {
        name: (*name).to_owned(),
        better: *better,
        said: (*said).to_owned(),
    });
    let reasons = accounts.iter().flat_map(|account| {
        account.reasons.iter().map(|reason| LegendLine {
            name: "failed".to_owned(),
            better: Better::Neither,
            said: format!("{}, {} of {}: {}", account.method, reason.compactions, account.compactions, reason.reason),
        })
    });
    Some(BenchSheet {
        name: "summaries by models, and failures".to_owned(),
        sheet: Sheet { headings: headings.map(str::to_owned).collect(), metrics: Vec::new(), rows },
        legend: columns.chain(reasons).collect(),
    })
}

fn cells(account: &MethodAccount, model: Option<&ModelAccount>) -> Vec<SheetCell> {
    let none = || "–".to_owned();
    let figure = |of: fn(&ModelAccount) -> u64| model.map_or_else(none, |model| of(model).to_string());
    let cells = [
        account.method.clone(),
        model.map_or_else(none, |model| model.usage.model.to_string()),
        account.compactions.to_string(),
        account.failed.to_string(),
        figure(|model| model.usage.answers),
        figure(|model| model.usage.input_tokens),
        figure(|model| model.usage.cached_tokens),
        figure(|model| model.usage.output_tokens),
        model.and_then(|model| model.dollars).map_or_else(none, |dollars| format!("{dollars:.2}")),
    ];
    cells.into_iter().map(SheetCell::from).collect()
}
