//! The sessions of a store.

use std::sync::Arc;

use epitome::recall::{Pool, Query, Share};
use epitome::store::{Paging, SessionFilter, Store, StoreError, StoredSession, Tenant};
use rayon::prelude::*;

use super::{AT_ONCE, HitLocation, hits, refuse_newest, search_session, share_of};
use crate::args::SearchArgs;
use crate::failure::Failure;
use crate::render::search::Hit;
use crate::store::wait;

/// Searches one session of a store, or all of a tenant's.
pub(super) fn search_store(args: &SearchArgs, query: &Query) -> Result<(Vec<Hit>, bool), Failure> {
    wait(async {
        let Some((store, tenant)) = args.store.open().await? else {
            return Err(Failure::usage_text("no store is named").with_help("--store takes its address"));
        };
        if let Some(id) = &args.session {
            let stored = store.session(&tenant, id).await.map_err(|error| {
                let is_unknown = matches!(error, StoreError::NotFound { .. });
                let failure = Failure::usage(error);
                let help = format!("--tenant names whose it is, here `{tenant}`; without --session all are searched");
                if is_unknown { failure.with_help(help) } else { failure }
            })?;
            return search_session(&stored.session, query);
        }
        refuse_newest(args, "the store", "choose one with --session ID")?;
        let (pool, searched) = search_sessions(&store, &tenant, query).await?;
        if searched == 0 {
            let failure = Failure::usage_text(format!("the store holds no session of the tenant `{tenant}`"));
            return Err(failure.with_help("--tenant names another"));
        }
        Ok(hits(pool))
    })
}

/// The hits in all sessions of a tenant, and the number of these.
async fn search_sessions(store: &Store, tenant: &Tenant, query: &Query) -> Result<(Pool<HitLocation>, usize), Failure> {
    let (mut pool, mut searched) = (Pool::new(query.clone()), 0);
    let mut paging = Paging { most: AT_ONCE as u32, after: None };
    loop {
        let page = store.sessions(tenant, &SessionFilter::default(), &paging).await.map_err(Failure::usage)?;
        let mut batch: Vec<(Arc<str>, StoredSession)> = Vec::with_capacity(page.items.len());
        for info in page.items {
            match store.session(tenant, &info.id).await {
                Ok(stored) => batch.push((info.id, stored)),
                Err(StoreError::NotFound { .. }) => {} // it was deleted meanwhile
                Err(error) => return Err(Failure::usage(error)),
            }
        }
        let shares: Result<Vec<Share>, Failure> =
            batch.par_iter().map(|(_, stored)| share_of(&stored.session, query)).collect();
        for ((id, _), share) in batch.into_iter().zip(shares?) {
            searched += 1;
            pool.add(HitLocation { path: None, session: Some(id.to_string()) }, share);
        }
        match page.next {
            Some(next) => paging.after = Some(next),
            None => return Ok((pool, searched)),
        }
    }
}
