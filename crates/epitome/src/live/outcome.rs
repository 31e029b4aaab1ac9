//! Outcomes of [`maintain`](super::LiveSession::maintain), which keeps a session within its budget.

use epitome_engine::{Check, Report};
use epitome_session::Session;

/// The outcome of [`maintain`](super::LiveSession::maintain).
#[derive(Debug)]
pub enum MaintainOutcome {
    /// Nothing was due.
    Nothing(Check),
    /// A compaction was made, or rolled back: the report says which.
    Compacted(Box<Report>),
    /// A compaction is suggested, and is prepared in the background ([`prepare_in`](super::LiveSession::prepare_in)):
    /// the session stays as it is until there is no room left.
    Preparing(Check),
    /// A compaction was due, and none was made, because too little can leave for it to be worth one: the report says what
    /// stays. It is not tried again until more has come.
    NotWorthwhile(Check, Box<Report>),
    /// A compaction was refused, and there is room to go on without it.
    Refused(Check),
    /// A compaction was refused and there is no room left: the settings ask for a new session. It has the system
    /// prompt, the original task and the newest user message; the old session is as it was.
    NewSession(Box<Session>),
}
