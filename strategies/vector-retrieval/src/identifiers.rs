//! Exact strings of the question: a unit that contains them is relevant, whatever its vector.

use epitome_strategy::View;

/// Returns for each unit of the view its share of the question's exact strings: 1 for a unit with all of those that any
/// message in front of the position `end` has. Rare strings weigh more than common ones. Linear.
pub(crate) fn identifier_scores(view: &View<'_>, question: &str, end: usize) -> Vec<f32> {
    let mut held = vec![0f32; view.units().len()];
    let atoms = view.facts().atoms();
    let mut weights = vec![0f32; atoms.all().len()];
    for asked in atoms.in_text(question) {
        let atom = &atoms.all()[asked as usize];
        if (atom.first_message as usize) < end {
            weights[asked as usize] = (1.0 + view.len() as f32 / atom.messages.max(1) as f32).ln();
        }
    }
    let total: f32 = weights.iter().sum();
    if total <= 0.0 {
        return held;
    }
    let mut last_unit = vec![usize::MAX; weights.len()];
    for occurrence in atoms.occurrences() {
        let atom = occurrence.atom as usize;
        if weights[atom] > 0.0 {
            let unit = view.unit_of(occurrence.at.message as usize);
            if std::mem::replace(&mut last_unit[atom], unit) != unit {
                held[unit] += weights[atom] / total;
            }
        }
    }
    held.iter_mut().for_each(|share| *share = share.min(1.0));
    held
}
