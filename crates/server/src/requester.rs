//! The caller of a request, and work done on its behalf.

use std::sync::Arc;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use epitome::strategy::Cancellation;

use crate::auth::Caller;
use crate::http::{ApiError, Problem};
use crate::state::Core;

/// The caller of a request, before the core of the service.
#[derive(Debug)]
pub(crate) struct Requester {
    pub(crate) core: Arc<Core>,
    pub(crate) caller: Caller,
}

impl FromRequestParts<Arc<Core>> for Requester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, core: &Arc<Core>) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Caller>().ok_or(Problem::Unauthorized)?;
        Ok(Self { core: Arc::clone(core), caller: caller.clone() })
    }
}

impl Requester {
    /// The answer of work that a worker does when it is the tenant's turn.
    pub(crate) async fn answer<T: Send + 'static>(
        self,
        work: impl FnOnce(&Self, &Cancellation) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Json<T>, ApiError> {
        let core = Arc::clone(&self.core);
        let tenant = Arc::clone(&self.caller.tenant);
        core.workers.run(&tenant, move |cancellation| work(&self, cancellation)).await?.map(Json)
    }
}
