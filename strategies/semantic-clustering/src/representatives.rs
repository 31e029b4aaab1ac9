//! Chooses the representatives of a cluster, and the order in which its members leave.

use std::ops::Range;

use epitome_strategy::{Embeddings, UnitKind, View};

use crate::clusters::{Cluster, Points};

/// An exchange of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Positions of its units in the view.
    pub units: Range<usize>,
    /// Whether it is a representative.
    pub represents: bool,
    /// Its similarity to the most similar representative; for a representative, to the cluster's middle.
    pub likeness: f32,
}

/// Returns all members in the order in which they leave: those without a vector, then those that are most similar to a
/// representative, then the representatives, those of small clusters first. Of equals the oldest.
pub(crate) fn rank(
    view: &View<'_>,
    points: &Points,
    clusters: &[Cluster],
    per_cluster: usize,
    usage_weight: f32,
) -> Vec<Member> {
    let mut represented: Vec<Member> = Vec::new();
    let mut representatives: Vec<(usize, Member)> = Vec::new();
    for cluster in clusters {
        let chosen = choose(view, points, cluster, per_cluster, usage_weight);
        let member = |point: usize, represents, likeness| Member {
            units: points.exchanges[point].clone(),
            represents,
            likeness,
        };
        for point in &cluster.members {
            let row = points.row(*point);
            if chosen.contains(point) {
                let likeness = Embeddings::similarity(row, &cluster.middle);
                representatives.push((cluster.members.len(), member(*point, true, likeness)));
            } else {
                let likenesses = chosen.iter().map(|other| Embeddings::similarity(row, points.row(*other)));
                represented.push(member(*point, false, likenesses.fold(f32::MIN, f32::max)));
            }
        }
    }
    represented
        .sort_by(|left, right| right.likeness.total_cmp(&left.likeness).then(left.units.start.cmp(&right.units.start)));
    representatives.sort_by_key(|(size, member)| (*size, member.units.start));
    let unknown = points.unknown.iter().map(|units| Member { units: units.clone(), represents: false, likeness: 0.0 });
    unknown.chain(represented).chain(representatives.into_iter().map(|(_, member)| member)).collect()
}

/// Returns the representatives of a cluster: the best point, and then good ones that differ from the chosen ones.
fn choose(view: &View<'_>, points: &Points, cluster: &Cluster, per_cluster: usize, usage_weight: f32) -> Vec<usize> {
    let worth = |point: &usize| {
        let near = Embeddings::similarity(points.row(*point), &cluster.middle);
        near + usage_weight * points.exchanges[*point].clone().map(|unit| usage(view, unit)).fold(0.0, f32::max)
    };
    let mut left: Vec<(usize, f32, f32)> = cluster.members.iter().map(|point| (*point, worth(point), 0.0)).collect(); // (point, worth, likeness to a chosen one)
    let mut chosen = Vec::new();
    while chosen.len() < per_cluster {
        // The last maximum: of equals the newest, which is the most recent state.
        let best = (0..left.len()).max_by(|one, other| {
            let value = |at: &usize| left[*at].1 - left[*at].2;
            value(one).total_cmp(&value(other))
        });
        let Some(best) = best else { break };
        let (point, ..) = left.remove(best);
        for (other, _, alike) in &mut left {
            *alike = alike.max(Embeddings::similarity(points.row(*other), points.row(point)));
        }
        chosen.push(point);
    }
    chosen
}

/// Returns how much a unit is needed, from 0 to 1: 1 for typed text; for others, how much later units use of what they
/// introduced.
fn usage(view: &View<'_>, unit: usize) -> f32 {
    if view.units()[unit].kind == UnitKind::User {
        return 1.0;
    }
    let used = view.facts().references().used_later(unit);
    used / (1.0 + used)
}
