//! The ages of a view's units.

use epitome_strategy::View;

use crate::Settings;

/// Milliseconds of a minute.
const MINUTE: f64 = 60_000.0;

/// The age of each unit in half-lives, the newest 0, and what it is measured by.
pub(crate) struct Ages {
    pub(crate) of_units: Vec<f64>,
    pub(crate) by: &'static str,
}

/// Returns the ages of a view's units. Linear in the view.
pub(crate) fn ages(view: &View<'_>, settings: &Settings) -> Ages {
    match times(view) {
        Some(times) => Ages { of_units: by_time(&times, settings), by: "timestamps" },
        None => Ages { of_units: by_position(view, settings), by: "position" },
    }
}

fn by_time(times: &[i64], settings: &Settings) -> Vec<f64> {
    let (first, last) = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0));
    let half_life = match settings.half_life_minutes {
        0.0 => (last - first) as f64 * settings.half_life_share,
        minutes => minutes * MINUTE,
    };
    times.iter().map(|time| (last - time) as f64 / half_life).collect()
}

/// Returns ages by the share of the tokens that came after a unit.
fn by_position(view: &View<'_>, settings: &Settings) -> Vec<f64> {
    let total = f64::from(view.total_tokens().max(1));
    let mut newer = view.total_tokens();
    let age = |unit: usize| {
        newer -= view.unit_tokens(unit);
        f64::from(newer) / total / settings.half_life_share
    };
    (0..view.units().len()).map(age).collect()
}

/// Returns the time of each unit, never before its predecessor's; `None` where fewer than half of the messages have
/// one, or where all have the same. A message without a time has that of the nearest earlier one, at the start that of
/// the first.
fn times(view: &View<'_>) -> Option<Vec<i64>> {
    let known = view.messages().filter(|message| message.timestamp.is_some()).count();
    let mut latest = view.messages().find_map(|message| message.timestamp)?;
    let time = |unit: &epitome_strategy::Unit| {
        let newest = unit.entries.clone().filter_map(|position| view.message(position).timestamp);
        latest = newest.fold(latest, i64::max);
        latest
    };
    let times: Vec<i64> = view.units().iter().map(time).collect();
    (known * 2 >= view.len() && times.first() < times.last()).then_some(times)
}
