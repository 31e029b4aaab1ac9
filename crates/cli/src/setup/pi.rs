//! Pi: an extension in its folder of extensions.

use super::place::Place;
use super::plan::{Plan, PlannedContent, PlannedFile};
use super::program::in_script;
use super::version::Version;
use crate::failure::Failure;

const EXTENSION: &str = include_str!("../../../../plugins/pi/epitome.ts");

/// The first version of the package's present name, by which the extension imports it. Source: the package registry.
const PACKAGE: Version = Version([0, 74, 0]);

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    place.needs("Pi", PACKAGE, "have what the extension imports")?;
    let folder = place.folder(".pi", "PI_CODING_AGENT_DIR", ".pi/agent")?;
    let content = PlannedContent::Whole(in_script(EXTENSION, &place.program));
    Ok(Plan {
        files: vec![PlannedFile { path: folder.join("extensions/epitome.ts"), content }],
        advice: vec!["Pi loads it when it starts, or with /reload".to_owned()],
        ..Plan::default()
    })
}
