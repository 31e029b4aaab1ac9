//! Exact strings of the question: a unit that contains them is relevant, whatever its vector.

use std::collections::HashSet;

use epitome_strategy::View;

/// Returns for each unit of the view its share of the question's exact strings: 1 for a unit with all of those that any
/// message in front of the position `end` has. Rare strings weigh more than common ones. Linear.
pub(crate) fn identifier_scores(view: &View<'_>, question: &str, end: usize) -> Vec<f32> {
    let mut held = vec![0f32; view.units().len()];
    let words = words(question);
    let atoms = view.facts().atoms();
    let messages = view.len() as f32;
    let weight_of = |text: &str, first_message: u32, count: u32| {
        let is_old = (first_message as usize) < end && words.contains(text);
        if is_old { (1.0 + messages / count.max(1) as f32).ln() } else { 0.0 }
    };
    let weights: Vec<f32> =
        atoms.all().iter().map(|atom| weight_of(atom.text, atom.first_message, atom.messages)).collect();
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

/// Returns the strings of a question that may be atoms: its words, the text between backquotes, and the parts of paths,
/// `key=value` and `file:line`.
fn words(question: &str) -> HashSet<&str> {
    let mut words = HashSet::new();
    let is_part = |char: char| char.is_ascii_alphanumeric() || "_-./:@#~%+=&?$".contains(char);
    for word in question.split(|char: char| !is_part(char)) {
        let word = word.trim_end_matches(['.', ':', '?', '-', '=', '&', '+', '%', '#', '$', '@']);
        let word = word.trim_start_matches([':', '?', '-', '=', '&', '+', '%', '#', '$']);
        words.insert(word);
        words.extend(word.split([':', '=']));
        words.extend(word.rsplit('/').next());
    }
    words.extend(question.split('`').skip(1).step_by(2));
    words
}
