//! Exact strings of the question: a unit that contains them is relevant, whatever its vector.

use epitome_strategy::View;

/// Returns for each unit of the view its share of the question's exact strings: 1 for a unit with all of those that any
/// message in front of the position `end` has. Rare strings weigh more than common ones. Linear.
pub(crate) fn identifier_scores(view: &View<'_>, question: &str, end: usize) -> Vec<f32> {
    let mut held = vec![0f32; view.units().len()];
    let strings = view.facts().exact_strings();
    let mut weights = vec![0f32; strings.all().len()];
    for asked in strings.in_text(question) {
        let string = &strings.all()[asked as usize];
        if (string.first_message as usize) < end {
            weights[asked as usize] = (1.0 + view.len() as f32 / string.messages.max(1) as f32).ln();
        }
    }
    let total: f32 = weights.iter().sum();
    if total <= 0.0 {
        return held;
    }
    let mut last_unit = vec![usize::MAX; weights.len()];
    for occurrence in strings.occurrences() {
        let string = occurrence.string as usize;
        if weights[string] > 0.0 {
            let unit = view.unit_of(occurrence.at.message as usize);
            if std::mem::replace(&mut last_unit[string], unit) != unit {
                held[unit] += weights[string] / total;
            }
        }
    }
    held.iter_mut().for_each(|share| *share = share.min(1.0));
    held
}
