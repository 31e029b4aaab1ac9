//! opencode: a plug-in in its folder of plug-ins.

use super::place::{Place, own_folder};
use super::plan::{Plan, PlannedContent, PlannedFile};
use super::program::in_script;
use super::version::Version;
use crate::failure::Failure;

const PLUGIN: &str = include_str!("../../../../plugins/opencode/epitome.js");

/// The first version that calls `experimental.chat.messages.transform`. Source: the hook is among the types of
/// `@opencode-ai/plugin` 1.0.152, and not of 1.0.150.
const TRANSFORM: Version = Version([1, 0, 152]);

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    place.needs("opencode", TRANSFORM, "let a plug-in change its requests")?;
    let folder = match &place.project {
        Some(project) => project.join(".opencode"),
        None => own_folder("XDG_CONFIG_HOME", ".config")?.join("opencode"),
    };
    let content = PlannedContent::Whole(in_script(PLUGIN, &place.program));
    Ok(Plan {
        files: vec![PlannedFile { path: folder.join("plugin/epitome.js"), content }],
        advice: vec!["opencode loads it when it starts".to_owned()],
        ..Plan::default()
    })
}
