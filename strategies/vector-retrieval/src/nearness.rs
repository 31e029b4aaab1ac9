//! The nearness of units to the question, and the choice among the near ones.

use epitome_strategy::Embeddings;

/// A unit that may stay or leave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    /// Position of the unit in the view.
    pub unit: usize,
    /// How near it is to the question.
    pub nearness: f32,
}

/// The choice compares this many times the units that it keeps: its cost depends on their square, not on the view.
const POOL: usize = 4;

/// Returns the cosine of two vectors; 0 where a vector is missing, zero, or has a value that is not a number.
pub(crate) fn cosine(row: Option<&[f32]>, question: &[f32]) -> f32 {
    let nearness = row.map_or(0.0, |row| Embeddings::similarity(row, question));
    if nearness.is_finite() { nearness } else { 0.0 }
}

/// Returns the `count` nearest that are not near to each other, in the order of choice: maximal marginal relevance
/// (Carbonell and Goldstein 1998). The next one has the greatest `lambda · nearness - (1 - lambda) · similarity`, where
/// the similarity is to the most similar one chosen already. Of equals the newer one; a unit without any nearness to
/// the question is not chosen.
pub(crate) fn nearest(candidates: &[Candidate], vectors: &Embeddings, count: usize, lambda: f64) -> Vec<Candidate> {
    let mut pool: Vec<Candidate> = candidates.iter().copied().filter(|candidate| candidate.nearness > 0.0).collect();
    pool.sort_by(|left, right| right.nearness.total_cmp(&left.nearness).then(right.unit.cmp(&left.unit)));
    pool.truncate(count * POOL);
    let lambda = lambda as f32;
    let mut most_alike = vec![0f32; pool.len()];
    let mut chosen: Vec<Candidate> = Vec::with_capacity(count.min(pool.len()));
    while chosen.len() < count && !pool.is_empty() {
        let value = |at: usize| lambda * pool[at].nearness - (1.0 - lambda) * most_alike[at];
        // The first of equals: the pool is sorted, nearest and newest first.
        let best = (0..pool.len()).rev().max_by(|left, right| value(*left).total_cmp(&value(*right)));
        let Some(best) = best else { break };
        most_alike.remove(best);
        let next = pool.remove(best);
        if let Some(row) = vectors.row(next.unit) {
            for (alike, other) in most_alike.iter_mut().zip(&pool) {
                *alike = alike.max(cosine(vectors.row(other.unit), row));
            }
        }
        chosen.push(next);
    }
    chosen
}
