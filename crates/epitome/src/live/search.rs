//! Search over everything that was said in a live session.

use epitome_recall::{Page, Query, QueryProblem};

use super::LiveSession;

impl LiveSession {
    /// The passages of the log that match a query, the best first: text out of the context is found like text in it.
    /// Each says whether the context holds it, and the handle to [`recall`](Self::recall) the text that left with it.
    ///
    /// The first search reads the log; a later one reads the messages since. Then it takes a few milliseconds for a
    /// million tokens. A session that is never searched pays nothing.
    ///
    /// Errors where the query is beyond its limits: [`Query::check`].
    pub fn search(&mut self, query: &Query) -> Result<Page, QueryProblem> {
        let log = self.session.log();
        self.index.append(log.get(self.index.messages()..).unwrap_or_default());
        let mut page = self.index.search(query)?;
        page.locate(&self.session);
        Ok(page)
    }
}
