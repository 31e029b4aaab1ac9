//! Records that services gave: an order with its status, an account with its name. Tools of agents that read files and run
//! commands give none.

use std::collections::HashMap;

use epitome_strategy::Value;
use epitome_strategy::text::clip;
use epitome_strategy::tools::ToolKind;

use super::ComposedMemory;
use super::steps::CallStep;
use crate::memory::MemoryKind;

/// The most of them, those that were touched last.
const MOST: usize = 5;

/// The worth of a record that was looked up; and of one that a call has changed.
const LOOKED_UP: f64 = 2.1;
const CHANGED: f64 = 2.35;

/// The endings of keys of exact names.
const NAMING: &[&str] = &["id", "number", "no", "key", "code", "ticket", "username"];

/// Keys that say the most of a record, the most telling ones first.
const TELLING: &[&str] = &[
    "status",
    "state",
    "title",
    "name",
    "summary",
    "subject",
    "type",
    "email",
    "membership",
    "origin",
    "destination",
    "flight_type",
    "cabin",
    "flights",
    "passengers",
    "items",
    "address",
    "date",
    "due",
    "created_at",
    "total",
    "amount",
    "price",
    "payment",
    "insurance",
    "assignee",
    "priority",
    "url",
];

/// The beginnings of the names of calls that change something.
const CHANGING: &[&str] = &[
    "update", "cancel", "book", "create", "modify", "return", "exchange", "send", "add", "delete", "remove", "set",
    "change", "transfer", "refund", "schedule", "place", "submit", "pay",
];

/// The largest number of values of a record that are remembered.
const MOST_VALUES: usize = 7;

/// The newest state of each record by the exact name that the call gave it. Linear in what was printed.
pub(super) fn compose(steps: &[CallStep<'_>]) -> Vec<ComposedMemory> {
    let mut newest: HashMap<String, ComposedMemory> = HashMap::new();
    for step in steps.iter().filter(|step| matches!(step.call.kind, ToolKind::Other | ToolKind::Lookup) && !step.failed)
    {
        let (Some(arguments), Some(output)) = (&step.json, step.output) else { continue };
        let Ok(record) = serde_json::from_str::<Value>(output) else { continue };
        let Some((key, name)) = name_of_record(&record).or_else(|| name_of_record(arguments)) else { continue };
        let values = values(&record, &name);
        if values.is_empty() {
            continue;
        }
        let verb = step.call.name.rsplit("__").next().unwrap_or(step.call.name);
        let changes = CHANGING.iter().any(|start| verb.starts_with(start));
        let by = if changes { format!(", after `{verb}`") } else { String::new() };
        let text = format!("{} {name}{by}: {}", key.replace('_', " "), values.join("; "));
        let Some(text) = clip(&text, super::LONGEST_MEMORY - 2).filter(|text| !text.ends_with('…')) else { continue };
        let worth = if changes { CHANGED } else { LOOKED_UP };
        newest.insert(name, (step.message(), text, (MemoryKind::Identifier, worth)));
    }
    let mut told: Vec<ComposedMemory> = newest.into_values().collect();
    told.sort_by(|left, right| right.2.1.total_cmp(&left.2.1).then(right.0.cmp(&left.0)));
    told.truncate(MOST);
    told.extend(tables(steps));
    told
}

/// The structure of a database that was queried: tables, and the columns of each.
fn tables(steps: &[CallStep<'_>]) -> Vec<ComposedMemory> {
    let mut told: HashMap<String, ComposedMemory> = HashMap::new();
    for step in steps.iter().filter(|step| step.call.kind == ToolKind::Lookup && !step.failed) {
        let (Some(query), Some(output)) = (query_of(step), step.output) else { continue };
        let lower = query.trim().trim_end_matches(';').to_lowercase();
        let table = ["describe ", "desc ", "show columns from "].iter().find_map(|verb| lower.strip_prefix(verb));
        let names = first_values(output);
        let listed = names.join(", ");
        let text = match table {
            Some(table) if names.len() > 1 => {
                format!("Table {} of the database has the columns {listed}.", table.trim_matches('`'))
            }
            None if lower.starts_with("show tables") && !names.is_empty() => {
                format!("The database has the tables {listed}.")
            }
            _ => continue,
        };
        told.insert(lower, (step.message(), text, (MemoryKind::Fact, LOOKED_UP)));
    }
    let mut told: Vec<ComposedMemory> = told.into_values().collect();
    told.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    told.truncate(MOST);
    told
}

/// The query that a call puts to a database.
pub(super) fn query_of<'s>(step: &'s CallStep<'_>) -> Option<&'s str> {
    match &step.json {
        Some(json) => ["query", "sql", "statement"].iter().find_map(|key| json.get(*key)?.as_str()),
        None => Some(step.call.arguments),
    }
}

/// The first value of each row of a result, as drivers print rows: `[('id', 'int'), ('name', 'text')]`.
fn first_values(output: &str) -> Vec<&str> {
    let rows = output.split("('").skip(1);
    rows.filter_map(|row| row.split_once('\'')).map(|(value, _)| value).collect()
}

/// The exact name of a record with its key: `reservation_id` and `4WQ150`. What people call it counts before what only a
/// machine does.
fn name_of_record(record: &Value) -> Option<(String, String)> {
    let fields = record.as_object()?;
    let rank = |key: &str| match key {
        "identifier" | "number" | "key" => Some(0),
        "id" => Some(2),
        _ => {
            let last = key.rsplit('_').next().unwrap_or(key).to_lowercase();
            (NAMING.contains(&last.as_str()) || key.ends_with("Id")).then_some(1)
        }
    };
    let names = fields
        .iter()
        .filter_map(|(key, value)| Some((rank(key)?, key, value.as_str().filter(|value| is_exact(value))?)));
    names.min_by_key(|(rank, ..)| *rank).map(|(_, key, value)| (key.clone(), value.to_owned()))
}

fn is_exact(text: &str) -> bool {
    (3..=60).contains(&text.len())
        && text.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && !text.contains(' ')
}

/// The values of a record: its distinctive values first, then others, lists of exact names too.
fn values(record: &Value, name: &str) -> Vec<String> {
    let Some(fields) = record.as_object() else { return Vec::new() };
    let rank = |key: &str| TELLING.iter().position(|telling| key == *telling).unwrap_or(TELLING.len());
    let mut told: Vec<(usize, String)> = fields
        .iter()
        .filter(|(key, _)| !is_of_the_machine(key))
        .filter_map(|(key, value)| Some((rank(key), key, short(value).filter(|value| value != name)?)))
        .map(|(rank, key, value)| (rank, format!("{}: {value}", key.replace('_', " "))))
        .collect();
    told.sort_by_key(|(rank, _)| *rank);
    told.into_iter().take(MOST_VALUES).map(|(_, text)| text).collect()
}

/// Whether a key belongs to the machine's own bookkeeping.
fn is_of_the_machine(key: &str) -> bool {
    key == "id"
        || key == "uuid"
        || ["_at", "At", "_by", "By", "_hash", "uuid", "BranchName"].iter().any(|end| key.ends_with(end))
}

/// The exact values of an object in a list: numbers, days, names written large; at most four.
fn of_object(item: &Value) -> Option<String> {
    let values = item.as_object()?.values().filter_map(Value::as_str);
    let exact = values.filter(|value| {
        value.len() <= 24 && (is_exact(value) || value.starts_with(char::is_uppercase)) && !is_uuid(value)
    });
    let exact: Vec<&str> = exact.take(4).collect();
    (!exact.is_empty()).then(|| exact.join(" "))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.matches('-').count() == 4
}

/// A value in a few words; `None` for what takes more.
fn short(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) if (1..=8).contains(&items.len()) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned).or_else(|| of_object(item)));
            texts.collect::<Option<Vec<_>>>()?.join(", ")
        }
        Value::Object(fields) if fields.len() <= 3 => {
            let words = fields.values().map(|field| field.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
            words.into_iter().filter(|word| !is_uuid(word)).collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };

    let fits = !is_uuid(&text) && !text.trim().is_empty() && text.chars().count() <= 120 && !text.contains('\n');
    fits.then_some(text)
}
