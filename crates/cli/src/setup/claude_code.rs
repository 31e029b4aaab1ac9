//! Claude Code: a plug-in in its folder of skills, where it is loaded without a marketplace, and the status line.

use serde_json::{Value, json};

use super::document::Syntax;
use super::place::Place;
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use super::program::{as_json, in_shell_script, quoted};
use super::version::Version;
use crate::failure::Failure;

const MANIFEST: &str = include_str!("../../../../plugins/claude-code/.claude-plugin/plugin.json");
const SERVERS: &str = include_str!("../../../../plugins/claude-code/.mcp.json");
const HOOKS: &str = include_str!("../../../../plugins/claude-code/hooks/hooks.json");
const SCRIPT: &str = include_str!("../../../../plugins/claude-code/hooks/ask.sh");
const MODULE: &str = include_str!("../../../../plugins/claude-code/hooks/compact.ts");

/// The first version that loads plug-ins from the folder of skills. Source: its changelog.
const PLUGINS: Version = Version([2, 1, 157]);

/// The first version that runs function hooks. One that is older may refuse the whole file of hooks for its `modules`.
/// Source: 2.1.250 reads the key, 2.1.259 runs the modules where `CLAUDE_CODE_ENABLE_FUNCTION_HOOKS` is set.
const MODULES: Version = Version([2, 1, 259]);

/// The first version that runs them without that variable. Source: the documentation of mods, "version requirements".
const MODULES_ON: Version = Version([2, 1, 287]);

pub(super) fn plan(place: &Place) -> Result<Plan, Failure> {
    place.needs("Claude Code", PLUGINS, "load plug-ins from its folder of skills")?;
    let folder = place.folder(".claude", "CLAUDE_CONFIG_DIR", ".claude")?;
    let plugin = folder.join("skills/epitome");
    let whole =
        |name: &str, text: String| PlannedFile { path: plugin.join(name), content: PlannedContent::Whole(text) };
    let program = place.program.as_str();
    // The path of a program is that of one machine: what a project shares with others does not name it.
    let settings = if place.project.is_some() { "settings.local.json" } else { "settings.json" };
    let line = json!({"type": "command", "command": format!("{} statusline", quoted(program))});
    let values = vec![PlannedValue::new(&["statusLine"], line, OtherValue::Keep)];
    let by_model = place.model_summary || place.is_before(MODULES);
    let mut files = vec![
        whole(".claude-plugin/plugin.json", MANIFEST.to_owned()),
        whole(".mcp.json", servers(program)?),
        whole("hooks/hooks.json", hooks(by_model)?),
        whole("hooks/ask.sh", in_shell_script(SCRIPT, program)),
    ];
    if !by_model {
        files.push(whole("hooks/compact.ts", MODULE.to_owned()));
    }
    files.push(PlannedFile { path: folder.join(settings), content: PlannedContent::Values(Syntax::Json, values) });
    let mut advice = vec!["Claude Code loads it with its next session; /plugin lists it, /mcp its tools".to_owned()];
    advice.extend(word_on_version(place));
    Ok(Plan { files, folders: vec![plugin], advice })
}

/// What a person has to know of an older version.
fn word_on_version(place: &Place) -> Option<String> {
    let own = place.version.filter(|_| !place.model_summary)?;
    if own < MODULES {
        return Some(format!(
            "Claude Code {own} cannot compact by the plug-in ({MODULES} can): its model goes on to write the summaries, with exact \
             words added. Update it, and run this again"
        ));
    }
    (own < MODULES_ON).then(|| {
        format!(
            "Claude Code {own} compacts by the plug-in where CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=1 is set, {MODULES_ON} without it"
        )
    })
}

fn servers(program: &str) -> Result<String, Failure> {
    let mut servers: Value = serde_json::from_str(SERVERS)?;
    servers["mcpServers"]["epitome"]["command"] = program.into();
    as_json(&servers)
}

fn hooks(by_model: bool) -> Result<String, Failure> {
    let mut file: Value = serde_json::from_str(HOOKS)?;
    if let (true, Some(fields)) = (by_model, file.as_object_mut()) {
        fields.remove("modules");
    }
    as_json(&file)
}
