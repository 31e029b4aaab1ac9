//! Clusters of units by the nearness of their vectors.

use epitome_strategy::Embeddings;
use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::KMeans;
use ndarray::Array2;
use rand_xoshiro::Xoshiro256Plus;
use rand_xoshiro::rand_core::SeedableRng;

/// Points at most: clustering costs points × clusters × dimensions × rounds. Above it, neighbours are one point.
const MOST_POINTS: usize = 5_000;
/// Rounds at most. What moves after so many is at the edges of clusters.
const MOST_ROUNDS: u64 = 20;
/// The clusters are to be the same each time.
const SEED: u64 = 0x5EED;

/// The units that have a vector, with their vectors at length 1.
#[derive(Debug)]
pub(crate) struct Points {
    /// Positions of units in the view, in order.
    pub units: Vec<usize>,
    values: Vec<f32>,
    dimensions: usize,
    /// Units of which the embedder knows nothing.
    pub unknown: Vec<usize>,
}

impl Points {
    /// Of `units`, those whose vector says something.
    pub(crate) fn of(units: &[usize], vectors: &Embeddings) -> Self {
        let dimensions = vectors.dimensions();
        let mut points = Self { units: Vec::new(), values: Vec::new(), dimensions, unknown: Vec::new() };
        for unit in units {
            let row = vectors.row(*unit).unwrap_or_default();
            match unit_length(row) {
                Some(row) => {
                    points.units.push(*unit);
                    points.values.extend(row);
                }
                None => points.unknown.push(*unit),
            }
        }
        points
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The vector of the point at `index`.
    pub(crate) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dimensions..(index + 1) * self.dimensions]
    }
}

/// One cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Its points, by position in [`Points::units`], in order.
    pub members: Vec<usize>,
    /// Its middle, at length 1; all zeros where its members cancel out.
    pub middle: Vec<f32>,
}

/// `count` clusters or fewer, none of them empty, in the order of their first members.
///
/// K-means++ over vectors of length 1, where Euclidean nearness is nearness of direction.
pub(crate) fn cluster(points: &Points, count: usize) -> Vec<Cluster> {
    let per_point = points.units.len().div_ceil(MOST_POINTS).max(1);
    let rows: Vec<Vec<f32>> = (0..points.units.len())
        .step_by(per_point)
        .map(|first| middle(points, first..(first + per_point).min(points.units.len())))
        .collect();
    let count = count.clamp(1, rows.len());
    let Ok(records) = Array2::from_shape_vec((rows.len(), points.dimensions), rows.concat()) else { return Vec::new() };
    let dataset = DatasetBase::from(records);
    let parameters = KMeans::params_with_rng(count, Xoshiro256Plus::seed_from_u64(SEED));
    let fitted = parameters.max_n_iterations(MOST_ROUNDS).n_runs(1).tolerance(1e-3).fit(&dataset);
    let Ok(model) = fitted else { return Vec::new() };
    let labels = model.predict(&dataset.records);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for point in 0..points.units.len() {
        if let Some(members) = labels.get(point / per_point).and_then(|label| members.get_mut(*label)) {
            members.push(point);
        }
    }
    members.retain(|members| !members.is_empty());
    members.sort_by_key(|members| members[0]);
    let with_middle = |members: Vec<usize>| Cluster { middle: middle(points, members.iter().copied()), members };
    members.into_iter().map(with_middle).collect()
}

/// The middle of some points, at length 1; all zeros where they cancel out.
fn middle(points: &Points, members: impl Iterator<Item = usize>) -> Vec<f32> {
    let mut sum = vec![0f32; points.dimensions];
    for member in members {
        sum.iter_mut().zip(points.row(member)).for_each(|(sum, value)| *sum += value);
    }
    unit_length(&sum).unwrap_or(sum)
}

/// The vector at length 1, where it has a direction.
fn unit_length(row: &[f32]) -> Option<Vec<f32>> {
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    (length.is_finite() && length > 1e-6).then(|| row.iter().map(|value| value / length).collect())
}
