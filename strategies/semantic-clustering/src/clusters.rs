//! Clusters of exchanges by the nearness of their vectors.

use std::ops::Range;

use epitome_strategy::{Embeddings, Origin, Role, UnitKind, View};
use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{KMeans, KMeansInit};
use ndarray::Array2;
use rand_xoshiro::Xoshiro256Plus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// The most points: clustering costs points × clusters × dimensions × rounds. Above it, neighbours share a point.
const MOST_POINTS: usize = 5_000;
/// The most rounds. Later changes are at the edges of clusters.
const MOST_ROUNDS: u64 = 10;
/// Longer vectors are projected to this many dimensions for the clustering itself: distances change by some percent,
/// which is less than the changes at the edges of clusters. Representatives are chosen by the whole vectors.
const PROJECTED: usize = 64;
/// A fixed seed, so that the clusters are the same each time.
const SEED: u64 = 0x5EED;

/// Returns the exchanges among `units`, in order: a typed message with the answer behind it, which says little alone; any other unit
/// by itself. Linear.
pub(crate) fn exchanges(view: &View<'_>, units: &[usize]) -> Vec<Range<usize>> {
    let is_answer = |unit: usize| {
        let mut messages = view.units()[unit].entries.clone().map(|position| view.message(position));
        messages.all(|message| message.role == Role::Assistant && message.calls().next().is_none())
    };
    let is_typed = |unit: usize| {
        let entries = view.units()[unit].entries.clone();
        view.units()[unit].kind == UnitKind::User && view.message(entries.start).origin == Origin::Typed
    };
    let mut exchanges: Vec<Range<usize>> = Vec::with_capacity(units.len());
    for unit in units.iter().copied() {
        match exchanges.last_mut() {
            Some(last) if last.end == unit && last.len() == 1 && is_typed(last.start) && is_answer(unit) => {
                last.end += 1
            }
            _ => exchanges.push(unit..unit + 1),
        }
    }
    exchanges
}

/// The exchanges that have a vector, with their vectors at length 1.
#[derive(Debug)]
pub(crate) struct Points {
    /// Positions of their units in the view, in order.
    pub exchanges: Vec<Range<usize>>,
    values: Vec<f32>,
    dimensions: usize,
    /// Those whose vector is zero.
    pub unknown: Vec<Range<usize>>,
}

impl Points {
    /// Returns the exchanges by the middle of their units' vectors.
    pub(crate) fn new(exchanges: Vec<Range<usize>>, vectors: &Embeddings) -> Self {
        let dimensions = vectors.dimensions();
        let mut points = Self { exchanges: Vec::new(), values: Vec::new(), dimensions, unknown: Vec::new() };
        for exchange in exchanges {
            let rows = exchange.clone().filter_map(|unit| unit_length(vectors.row(unit)?));
            match unit_length(&sum(dimensions, rows)) {
                Some(row) => {
                    points.exchanges.push(exchange);
                    points.values.extend(row);
                }
                None => points.unknown.push(exchange),
            }
        }
        points
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Returns the vector of the point at `index`.
    pub(crate) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dimensions..(index + 1) * self.dimensions]
    }
}

/// One cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Its points, by position in [`Points::exchanges`], in order.
    pub members: Vec<usize>,
    /// Its middle, at length 1; all zeros where its members cancel out.
    pub middle: Vec<f32>,
}

/// Returns `count` clusters or fewer, none of them empty, in the order of their first members.
///
/// K-means over vectors of length 1, where Euclidean nearness is nearness of direction. The same each time.
pub(crate) fn cluster(points: &Points, count: usize) -> Vec<Cluster> {
    let per_point = points.exchanges.len().div_ceil(MOST_POINTS).max(1);
    let rows: Vec<Vec<f32>> = (0..points.exchanges.len())
        .step_by(per_point)
        .map(|first| middle(points, first..(first + per_point).min(points.exchanges.len())))
        .collect();
    let count = count.clamp(1, rows.len());
    let mut random = Xoshiro256Plus::seed_from_u64(SEED);
    let rows = project_rows(rows, &mut random);
    let dimensions = rows.first().map_or(0, Vec::len);
    let first = first_middles(&rows, count, &mut random);
    let count = first.len();
    let array = |rows: &[Vec<f32>]| Array2::from_shape_vec((rows.len(), dimensions), rows.concat());
    let (Ok(records), Ok(first)) = (array(&rows), array(&first)) else { return Vec::new() };
    let dataset = DatasetBase::from(records);
    let parameters = KMeans::params_with_rng(count, random).init_method(KMeansInit::Precomputed(first));
    let fitted = parameters.max_n_iterations(MOST_ROUNDS).n_runs(1).tolerance(1e-3).fit(&dataset);
    let Ok(model) = fitted else { return Vec::new() };
    let labels = model.predict(&dataset.records);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for point in 0..points.exchanges.len() {
        if let Some(members) = labels.get(point / per_point).and_then(|label| members.get_mut(*label)) {
            members.push(point);
        }
    }
    members.retain(|members| !members.is_empty());
    members.sort_by_key(|members| members[0]);
    let with_middle = |members: Vec<usize>| Cluster { middle: middle(points, members.iter().copied()), members };
    members.into_iter().map(with_middle).collect()
}

/// Returns rows of at most [`PROJECTED`] dimensions: longer ones times a matrix of random signs (Achlioptas 2003).
fn project_rows(rows: Vec<Vec<f32>>, random: &mut Xoshiro256Plus) -> Vec<Vec<f32>> {
    let dimensions = rows.first().map_or(0, Vec::len);
    if dimensions <= PROJECTED {
        return rows;
    }
    // One word of random bits holds the signs of one dimension's part in all projected ones.
    let signs: Vec<u64> = (0..dimensions).map(|_| random.next_u64()).collect();
    let scale = 1.0 / (PROJECTED as f32).sqrt();
    let table: Vec<[f32; PROJECTED]> = signs
        .into_iter()
        .map(|bits| std::array::from_fn(|at| if bits >> at & 1 == 1 { scale } else { -scale }))
        .collect();
    let project = |row: Vec<f32>| {
        let mut sum = vec![0f32; PROJECTED];
        for (value, signs) in row.into_iter().zip(&table) {
            sum.iter_mut().zip(signs).for_each(|(sum, sign)| *sum += value * sign);
        }
        sum
    };
    rows.into_iter().map(project).collect()
}

/// Returns `count` rows to start from, fewer where there are not so many different ones: k-means++ (Arthur and
/// Vassilvitskii 2007), each row drawn by its squared distance to the nearest one drawn before. The distances are kept
/// from draw to draw, so the cost is rows × count × dimensions.
fn first_middles(rows: &[Vec<f32>], count: usize, random: &mut Xoshiro256Plus) -> Vec<Vec<f32>> {
    let distance = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(one, other)| f64::from((one - other).powi(2))).sum()
    };
    let Some(mut next) = rows.first() else { return Vec::new() };
    let mut nearest = vec![f64::MAX; rows.len()];
    let mut drawn = Vec::with_capacity(count);
    loop {
        drawn.push(next.clone());
        for (nearest, row) in nearest.iter_mut().zip(rows) {
            *nearest = nearest.min(distance(row, next));
        }
        let total: f64 = nearest.iter().sum();
        if drawn.len() == count || total <= f64::EPSILON {
            return drawn;
        }
        // 53 random bits are a number from 0 to 1.
        let mut left = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * total;
        let at = nearest.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        next = &rows[at.unwrap_or(rows.len() - 1)];
    }
}

/// Returns the middle of some points, at length 1; all zeros where they cancel out.
fn middle(points: &Points, members: impl Iterator<Item = usize>) -> Vec<f32> {
    let sum = sum(points.dimensions, members.map(|member| points.row(member)));
    unit_length(&sum).unwrap_or(sum)
}

fn sum(dimensions: usize, rows: impl Iterator<Item = impl AsRef<[f32]>>) -> Vec<f32> {
    let mut sum = vec![0f32; dimensions];
    for row in rows {
        sum.iter_mut().zip(row.as_ref()).for_each(|(sum, value)| *sum += value);
    }
    sum
}

/// Returns the vector at length 1, where it has a direction.
fn unit_length(row: &[f32]) -> Option<Vec<f32>> {
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    (length.is_finite() && length > 1e-6).then(|| row.iter().map(|value| value / length).collect())
}
