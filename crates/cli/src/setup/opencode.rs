//! opencode: a plug-in in its folder of plug-ins.

use super::place::{Place, own_folder};
use super::plan::{Plan, PlannedContent, PlannedFile};
use super::program::in_script;
use crate::failure::Failure;

const PLUGIN: &str = include_str!("../../../../plugins/opencode/epitome.js");

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    let folder = match &place.project {
        Some(project) => project.join(".opencode"),
        None => own_folder("XDG_CONFIG_HOME", ".config")?.join("opencode"),
    };
    let content = PlannedContent::Whole(in_script(PLUGIN, &place.program));
    Ok(Plan {
        files: vec![PlannedFile { path: folder.join("plugin/epitome.js"), content }],
        advice: vec!["opencode loads it when it starts".to_owned()],
    })
}
