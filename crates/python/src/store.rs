//! A store of sessions as Python has it.

use std::sync::Arc;

use epitome::live::SharedSession;
use epitome::store::{self, Paging, SessionFilter, SessionMetadata, StoreError, Tenant};
use pyo3::prelude::*;

use crate::callables::PendingExceptions;
use crate::engine::Engine;
use crate::failure::{Failure, Raise};
use crate::objects::object_from;
use crate::open_store::OpenStore;
use crate::session::Session;
use crate::session_backend::{SessionBackend, begin};
use crate::session_bytes::SessionBytes;

/// A store of sessions: that of the service, at the same address.
#[pyclass(frozen, module = "epitome_context._epitome")]
#[derive(Debug)]
pub(crate) struct Store(Arc<OpenStore>);

impl Store {
    /// Asks the store while the interpreter's lock is released.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        work: impl AsyncFnOnce(&store::Store, &Tenant) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let OpenStore { store, tenant, .. } = &*self.0;
        let answer = py.detach(|| self.0.wait(work(store, tenant)));
        answer.map_err(|error| Failure::from(error).raise(py, &PendingExceptions::default()))
    }
}

#[pymethods]
impl Store {
    /// Opens the store at an address, for a tenant.
    #[new]
    fn new(py: Python<'_>, address: String, tenant: String) -> PyResult<Self> {
        let opened = py.detach(|| OpenStore::open(&address, &tenant));
        Ok(Self(Arc::new(opened.map_err(|failure| failure.raise(py, &PendingExceptions::default()))?)))
    }

    /// Stores a new session: empty, or one that is there already.
    #[allow(clippy::too_many_arguments)] // the arguments of one Python call, by their names
    fn create(
        &self,
        py: Python<'_>,
        engine: &Engine,
        id: &str,
        data: Option<SessionBytes<'_>>,
        format: Option<String>,
        session: Option<String>,
        title: Option<String>,
        agent: Option<String>,
    ) -> PyResult<Session> {
        let input = data.map(|data| data.input());
        let about = SessionMetadata { title, agent, ..SessionMetadata::default() };
        let opened = &self.0;
        engine.parts.without_python(py, |parts| {
            let (live, profile) = begin(parts, input, format.as_deref(), session.as_deref())?;
            let created = SharedSession::create(live, &opened.store, &opened.tenant, id, &about);
            Ok(Session::over(SessionBackend::Shared(opened.wait(created)?, Arc::clone(opened)), parts, profile))
        })
    }

    /// Opens a session.
    fn open(&self, py: Python<'_>, engine: &Engine, id: &str, format: Option<String>) -> PyResult<Session> {
        let opened = &self.0;
        engine.parts.without_python(py, |parts| {
            let (live, profile) = begin(parts, None, format.as_deref(), None)?;
            let shared = opened.wait(SharedSession::open(live, &opened.store, &opened.tenant, id))?;
            Ok(Session::over(SessionBackend::Shared(shared, Arc::clone(opened)), parts, profile))
        })
    }

    /// A page of the sessions, the last changed first, and where the next one begins.
    fn sessions<'py>(
        &self,
        py: Python<'py>,
        title: Option<String>,
        agent: Option<String>,
        after: Option<String>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<String>)> {
        let filter = SessionFilter { title, agent, ..SessionFilter::default() };
        let paging = Paging { after, ..Paging::default() };
        let page = self.ask(py, async move |store, tenant| store.sessions(tenant, &filter, &paging).await)?;
        Ok((object_from(py, &page.items)?, page.next))
    }

    /// What the store keeps about a session.
    fn info<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        let info = self.ask(py, async move |store, tenant| store.session_info(tenant, id).await)?;
        object_from(py, &info)
    }

    /// Deletes a session; whether there was one.
    fn delete(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        self.ask(py, async move |store, tenant| store.delete_session(tenant, id).await)
    }

    /// Closes the store, for its sessions too.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.store.close());
    }
}
