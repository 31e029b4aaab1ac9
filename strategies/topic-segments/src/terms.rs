//! The terms of a passage: words, names, pairs of Chinese characters, as a sparse vector.

use std::collections::HashMap;

use epitome_strategy::cut::is_stop_word;
use epitome_strategy::text::is_cjk;

/// Numbers for terms, in the order of first occurrence.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    numbers: HashMap<String, u32>,
    /// The terms, by number.
    pub(crate) names: Vec<String>,
}

/// How often a passage has each term: sorted by the term's number.
pub(crate) type Vector = Vec<(u32, f32)>;

impl Terms {
    /// Adds the terms of the first `most` bytes of `text` to `counts`, each `weight` times. Linear in these bytes.
    pub(crate) fn read(&mut self, text: &str, most: usize, weight: f32, counts: &mut HashMap<u32, f32>) {
        let text = &text[..text.floor_char_boundary(most)];
        for word in text.split(|char: char| !char.is_alphanumeric() && char != '_') {
            if word.chars().any(is_cjk) {
                let chars: Vec<char> = word.chars().filter(|char| is_cjk(*char)).collect();
                for pair in chars.windows(2) {
                    self.add(pair.iter().collect(), weight, counts);
                }
            } else if word.len() >= 3 && word.len() <= 40 && !word.bytes().all(|byte| byte.is_ascii_digit()) {
                let word = word.to_lowercase();
                if !is_stop_word(&word) {
                    self.add(stem(word), weight, counts);
                }
            }
        }
    }

    fn add(&mut self, term: String, weight: f32, counts: &mut HashMap<u32, f32>) {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(term).or_insert_with_key(|term| {
            self.names.push(term.clone());
            next
        });
        *counts.entry(number).or_default() += weight;
    }
}

/// Returns a word without its plural `s`: enough for `file` and `files` to be one term.
fn stem(mut word: String) -> String {
    if word.len() > 4 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    word
}

/// Returns the counts as a vector: many of one term count less than as many different ones.
pub(crate) fn vector(counts: HashMap<u32, f32>) -> Vector {
    let mut vector: Vector = counts.into_iter().map(|(term, count)| (term, 1.0 + count.max(1.0).ln())).collect();
    vector.sort_unstable_by_key(|(term, _)| *term);
    vector
}

/// Returns the weight of each term: more for a term of fewer vectors; next to nothing for a term of all.
pub(crate) fn weights(vectors: &[&Vector], terms: usize) -> Vec<f32> {
    let mut having = vec![0u32; terms];
    for (term, _) in vectors.iter().copied().flatten() {
        having[*term as usize] += 1;
    }
    let count = vectors.len() as f32;
    having.into_iter().map(|having| ((count + 1.0) / (having as f32).max(1.0)).ln()).collect()
}

/// Weighs a vector's terms.
pub(crate) fn weigh(vector: &mut Vector, weights: &[f32]) {
    for (term, value) in vector {
        *value *= weights[*term as usize];
    }
}

/// Returns the sum of vectors.
pub(crate) fn sum<'v>(vectors: impl IntoIterator<Item = &'v Vector>) -> Vector {
    let mut all: Vector = vectors.into_iter().flatten().copied().collect();
    all.sort_by_key(|(term, _)| *term); // stable: sums of the same numbers in the same order
    let mut sum: Vector = Vec::with_capacity(all.len());
    for (term, value) in all {
        match sum.last_mut() {
            Some((last, total)) if *last == term => *total += value,
            _ => sum.push((term, value)),
        }
    }
    sum
}

/// Returns the cosine of two vectors; 0 where one is empty.
pub(crate) fn cosine(left: &Vector, right: &Vector) -> f32 {
    let norm = |vector: &Vector| vector.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
    let product: f32 = shared_terms(left, right).map(|(left, right)| left * right).sum();
    let norms = norm(left) * norm(right);
    if norms > 0.0 { product / norms } else { 0.0 }
}

/// Returns the share of a vector's terms that `before` does not have.
pub(crate) fn novelty(vector: &Vector, before: &Vector) -> f32 {
    let known = shared_terms(vector, before).count();
    if vector.is_empty() { 0.0 } else { 1.0 - known as f32 / vector.len() as f32 }
}

/// Returns the values of terms that both vectors have.
fn shared_terms(left: &Vector, right: &Vector) -> impl Iterator<Item = (f32, f32)> {
    let mut right = right.iter().peekable();
    left.iter().filter_map(move |(term, value)| {
        while right.next_if(|(other, _)| other < term).is_some() {}
        right.next_if(|(other, _)| other == term).map(|(_, other)| (*value, *other))
    })
}
