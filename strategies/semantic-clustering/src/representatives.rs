//! Who stays for a cluster, and in which order its members leave.

use epitome_strategy::{Embeddings, UnitKind, View};

use crate::clusters::{Cluster, Points};

/// A unit of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    /// Position of the unit in the view.
    pub unit: usize,
    /// Whether it stays for others.
    pub represents: bool,
    /// How alike it is to the representative that is most like it; for a representative, to the cluster's middle.
    pub likeness: f32,
}

/// All members in the order in which they leave: units of which nothing is known, then those that a representative is most
/// like, then the representatives, those of small clusters first. Of equals the oldest.
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
        let member = |point: usize, represents, likeness| Member { unit: points.units[point], represents, likeness };
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
    represented.sort_by(|left, right| right.likeness.total_cmp(&left.likeness).then(left.unit.cmp(&right.unit)));
    representatives.sort_by_key(|(size, member)| (*size, member.unit));
    let unknown = points.unknown.iter().map(|unit| Member { unit: *unit, represents: false, likeness: 0.0 });
    unknown.chain(represented).chain(representatives.into_iter().map(|(_, member)| member)).collect()
}

/// The points that stay for a cluster: the best, and then those that are good and unlike the chosen ones.
fn choose(view: &View<'_>, points: &Points, cluster: &Cluster, per_cluster: usize, usage_weight: f32) -> Vec<usize> {
    let worth = |point: &usize| {
        let near = Embeddings::similarity(points.row(*point), &cluster.middle);
        near + usage_weight * usage(view, points.units[*point])
    };
    let mut left: Vec<(usize, f32, f32)> = cluster.members.iter().map(|point| (*point, worth(point), 0.0)).collect(); // (point, worth, likeness to a chosen one)
    let mut chosen = Vec::new();
    while chosen.len() < per_cluster {
        // The last maximum: of equals the newest, which says the latest.
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

/// How much a unit is asked for, from 0 to 1: what a person typed is; for others, how much later units use of what they
/// introduced.
fn usage(view: &View<'_>, unit: usize) -> f32 {
    if view.units()[unit].kind == UnitKind::User {
        return 1.0;
    }
    let used = view.facts().references().used_later(unit);
    used / (1.0 + used)
}
