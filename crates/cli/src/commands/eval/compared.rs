//! Which methods are held against which.

use epitome_eval::{Baseline, HANDOFF, Plan};

use crate::args::{EvalArgs, SubjectArg};
use crate::failure::Failure;

/// The reference of the differences where none is named.
const REFERENCE: &str = "baseline:identifiers";

/// Pairs of methods.
type Pairs = Vec<(String, String)>;

/// The pairs of methods whose differences are shown: in the short tables, and where there is room for every baseline.
pub(super) fn compared(args: &EvalArgs, plan: &Plan) -> Result<(Pairs, Pairs), Failure> {
    let mut known: Vec<&str> = plan.methods.iter().map(|method| method.name()).collect();
    match args.what {
        SubjectArg::Recorded => known.push("recorded"),
        SubjectArg::Probes => known.push(HANDOFF),
        SubjectArg::Future => {}
    }
    let ours = |name: &&str| !name.starts_with("baseline:") && !["recorded", HANDOFF].contains(name);
    if let Some(asked) = &args.compare {
        if known.contains(&asked.as_str()) {
            let others = known.into_iter().filter(|name| *name != asked);
            let pairs: Pairs = others.map(|other| (other.to_owned(), asked.clone())).collect();
            return Ok((pairs.clone(), pairs));
        }
        let pair = pair(asked, &known)?;
        return Ok((vec![pair.clone()], vec![pair]));
    }
    let reference = match args.what {
        SubjectArg::Future => REFERENCE,
        SubjectArg::Probes => "baseline:newest",
        SubjectArg::Recorded => "recorded",
    };
    let mut against = vec![reference.to_owned()];
    if args.what == SubjectArg::Probes {
        against.push(HANDOFF.to_owned());
    }
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    against.extend(baselines.filter(|name| name != reference));
    let ours: Vec<&str> = known.iter().copied().filter(ours).collect();
    let with = |ours: &str, against: &[String]| -> Pairs {
        against.iter().map(|theirs| (ours.to_owned(), theirs.clone())).collect()
    };
    // Who names several methods asks which of them is better.
    let Some((first, others)) = ours.split_first() else { return Ok((Vec::new(), Vec::new())) };
    let among: Pairs = others.iter().map(|other| ((*other).to_owned(), (*first).to_owned())).collect();
    // The pairs of a method stand together.
    let of_others = among.iter().flat_map(|pair| std::iter::once(pair.clone()).chain(with(&pair.0, &against)));
    let every = of_others.chain(with(first, &against)).collect();
    Ok((if among.is_empty() { with(first, &against[..1]) } else { among }, every))
}

/// The two methods that `asked` names. A setting may hold commas itself: the one between two methods that are measured
/// counts.
fn pair(asked: &str, known: &[&str]) -> Result<(String, String), Failure> {
    let splits: Vec<(&str, &str)> =
        asked.match_indices(',').map(|(at, comma)| (asked[..at].trim(), asked[at + comma.len()..].trim())).collect();
    let is_known = |name: &str| known.contains(&name);
    if let Some((first, second)) = splits.iter().find(|(first, second)| is_known(first) && is_known(second)) {
        return Ok(((*first).to_owned(), (*second).to_owned()));
    }
    let Some((first, second)) = splits.first() else {
        let failure = Failure::usage_text(format!("--compare: `{asked}` is not measured"));
        return Err(failure.with_help("name one method, or two such as default,baseline:newest"));
    };
    let unknown = if is_known(first) { second } else { first };
    let failure = Failure::usage_text(format!("--compare: `{unknown}` is not measured"));
    Err(failure.with_help(format!("measured are {}", known.join(", "))))
}
