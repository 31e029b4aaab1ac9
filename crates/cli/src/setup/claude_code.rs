//! Claude Code: a plug-in in its folder of skills, where it is loaded without a marketplace, and the status line.

use serde_json::{Value, json};

use super::document::Syntax;
use super::place::Place;
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use super::program::{as_json, in_shell_script, quoted};
use crate::failure::Failure;

const MANIFEST: &str = include_str!("../../../../plugins/claude-code/.claude-plugin/plugin.json");
const SERVERS: &str = include_str!("../../../../plugins/claude-code/.mcp.json");
const HOOKS: &str = include_str!("../../../../plugins/claude-code/hooks/hooks.json");
const SCRIPT: &str = include_str!("../../../../plugins/claude-code/hooks/ask.sh");
const MODULE: &str = include_str!("../../../../plugins/claude-code/hooks/compact.ts");

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    let folder = place.folder(".claude", "CLAUDE_CONFIG_DIR", ".claude")?;
    let plugin = folder.join("skills/epitome");
    let whole =
        |name: &str, text: String| PlannedFile { path: plugin.join(name), content: PlannedContent::Whole(text) };
    let program = place.program.as_str();
    // The path of a program is that of one machine: what a project shares with others does not name it.
    let settings = if place.project.is_some() { "settings.local.json" } else { "settings.json" };
    let line = json!({"type": "command", "command": format!("{} statusline", quoted(program))});
    let values = vec![PlannedValue::new(&["statusLine"], line, OtherValue::Keep)];
    let mut files = vec![
        whole(".claude-plugin/plugin.json", MANIFEST.to_owned()),
        whole(".mcp.json", servers(program)?),
        whole("hooks/hooks.json", hooks(place)?),
        whole("hooks/ask.sh", in_shell_script(SCRIPT, program)),
    ];
    if !place.model_summary {
        files.push(whole("hooks/compact.ts", MODULE.to_owned()));
    }
    files.push(PlannedFile { path: folder.join(settings), content: PlannedContent::Values(Syntax::Json, values) });
    Ok(Plan {
        files,
        advice: vec!["Claude Code loads it with its next session; /plugin lists it, /mcp its tools".to_owned()],
    })
}

fn servers(program: &str) -> Result<String, Failure> {
    let mut servers: Value = serde_json::from_str(SERVERS)?;
    servers["mcpServers"]["epitome"]["command"] = program.into();
    as_json(&servers)
}

fn hooks(place: &Place) -> Result<String, Failure> {
    let mut file: Value = serde_json::from_str(HOOKS)?;
    if let (true, Some(fields)) = (place.model_summary, file.as_object_mut()) {
        fields.remove("modules");
    }
    as_json(&file)
}
