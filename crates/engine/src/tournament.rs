//! Several chains for one compaction: the tournament, and the retries of the quality guard.

use epitome_strategy::{Archive, Goal};
use rayon::prelude::*;

use crate::archive::MemoryArchive;
use crate::block_on::block_on;
use crate::guard::EditRefusal;
use crate::quality::{Attempt, Judge};
use crate::request::Chain;
use crate::run::ChainRunner;

/// The tournament: every candidate is tried, in parallel, and the one that keeps most wins.
pub(crate) fn tournament(judge: &Judge<'_>, candidates: Vec<Chain>, goal: &Goal) -> Result<Attempt, EditRefusal> {
    let attempt = |chain: Chain| {
        let attempt = block_on(attempt(judge, &chain, goal));
        (chain, attempt)
    };
    judge.best(candidates.into_par_iter().map(attempt).collect())
}

/// Runs one chain; where it keeps too little, the candidates after it until one keeps enough. Without thresholds there
/// is one run, straight into the session's archive. Errors where the first chain does.
pub(crate) async fn one_or_retries(
    judge: &Judge<'_>,
    archive: &mut dyn Archive,
    chain: Chain,
    candidates: Vec<Chain>,
    goal: &Goal,
) -> Result<Attempt, EditRefusal> {
    if !judge.min_quality.retries() {
        let run = ChainRunner::new(judge.start.clone(), judge.context, archive).run(&chain, goal.clone()).await?;
        return Ok(judge.attempt(&chain, run, None));
    }
    let others = candidates.into_iter().filter(|other| other.ids() != chain.ids()).collect::<Vec<_>>();
    let first = attempt(judge, &chain, goal).await?;
    // What must stay is the same for every chain: where the first had no result, the others would have none either.
    let mut is_enough = !first.status.is_compaction() || first.passes();
    let mut tried = vec![(chain, Ok(first))];
    for other in others {
        if is_enough {
            break;
        }
        let attempt = attempt(judge, &other, goal).await;
        is_enough = attempt.as_ref().is_ok_and(|attempt| attempt.status.is_compaction() && attempt.passes());
        tried.push((other, attempt));
    }
    judge.best(tried)
}

/// Runs one chain into an archive of its own.
async fn attempt(judge: &Judge<'_>, chain: &Chain, goal: &Goal) -> Result<Attempt, EditRefusal> {
    let mut archived = MemoryArchive::new();
    let run = ChainRunner::new(judge.start.clone(), judge.context, &mut archived).run(chain, goal.clone()).await?;
    Ok(judge.attempt(chain, run, Some(archived)))
}
