//! Claude Code's record of a compaction: what stays through it, and when it was made.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::Trigger;

use crate::json::{self, Object};
use crate::time;

/// A compaction whose summary has not come yet.
#[derive(Debug, Clone)]
pub(super) struct Boundary {
    pub(super) trigger: Trigger,
    pub(super) tokens_before: Option<u32>,
    pub(super) tokens_after: Option<u32>,
    /// When it was made: what is older was said in front of it.
    at: Option<i64>,
    preserved: HashSet<Arc<str>>,
    segment: Option<Range<usize>>,
}

impl Boundary {
    /// Reads the record. `line_of` gives the line of a uuid.
    pub(super) fn read(record: &Object<'_>, line_of: impl Fn(&str) -> Option<usize>) -> Self {
        let data = record.object("compactMetadata").unwrap_or_default();
        let preserved = data.object("preservedMessages").unwrap_or_default();
        let uuids = preserved.list("allUuids").or_else(|| preserved.list("uuids")).unwrap_or_default();
        let segment = data.object("preservedSegment").and_then(|segment| {
            let line = |name: &str| line_of(&segment.text(name)?);
            Some(line("headUuid")?..line("tailUuid")? + 1)
        });
        let manual = data.text("trigger").as_deref() == Some("manual");
        Self {
            at: time_of(record),
            trigger: if manual { Trigger::Manual } else { Trigger::Recorded },
            tokens_before: data.number("preTokens"),
            tokens_after: data.number("postTokens"),
            segment: segment.filter(|_| uuids.is_empty()),
            preserved: uuids.into_iter().filter_map(json::string).map(|uuid| Arc::from(&*uuid)).collect(),
        }
    }

    /// Whether the record of this uuid, at this line, stays.
    pub(super) fn preserves(&self, line: usize, uuid: &str) -> bool {
        self.preserved.contains(uuid) || self.segment.as_ref().is_some_and(|lines| lines.contains(&line))
    }

    /// Whether a record is older, and no summary. A message takes a request of its own, what is attached may come with it.
    pub(super) fn is_behind(&self, record: &Object<'_>, is_message: bool) -> bool {
        let (Some(time), Some(at)) = (time_of(record), self.at) else { return false };
        (time < at || is_message && time == at) && !record.is_true("isCompactSummary")
    }
}

/// When a record was made, in milliseconds since 1970.
pub(super) fn time_of(record: &Object<'_>) -> Option<i64> {
    record.text("timestamp").and_then(|text| time::parse(&text))
}
