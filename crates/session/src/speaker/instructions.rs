//! What a host loads as instructions, by the forms in which agents put it into a text: rules files, memories, skills, modes,
//! and what hooks add.
//!
//! The forms say what was loaded, not that it is true: what stands in a tool's result in such a form is the tool's.

use std::ops::Range;

/// Elements that are instructions from tag to tag, each in the words of one agent.
const ELEMENTS: &[&str] = &[
    // Codex: `core/src/context/user_instructions.rs`, and the tag of versions before it; skills that were named.
    "INSTRUCTIONS",
    "user_instructions",
    "skill", // Pi has it too: `core/agent-session.ts`
    // Copilot CLI: events of its sessions.
    "skill-context",
    // OpenHands: `prompts/additional_info.j2`, `microagent_info.j2`, `skill_knowledge_info.j2`.
    "REPOSITORY_INSTRUCTIONS",
    "CONVERSATION_INSTRUCTIONS",
    "EXTRA_INFO",
    // Gemini CLI: `core/prompts/snippets.ts`, `utils/environmentContext.ts`, hooks.
    "loaded_context",
    "hook_context",
    // Claude Code: hooks.
    "session-start-hook",
    "user-prompt-submit-hook",
];

/// How instructions begin within a reminder, or as a text of their own.
const OPENINGS: &[&str] = &[
    // Claude Code 2.1.332: what it puts in front of the first message, and its table from kinds of attachments to messages.
    "As you answer the user's questions, you can use the following context:",
    "Base directory for this skill: ",
    "The following skills were invoked in this session",
    "Skills invoked in this session:",
    "# MCP Server Instructions",
    "Plan mode is active",
    "Plan mode still active",
    // aider: `read_only_files_prefix` in `coders/base_prompts.py`, with which it sends conventions.
    "Here are some READ ONLY files, provided for your reference.",
];

/// What stands in front of the path of a file that was loaded: Claude Code, also with what it is in brackets behind the path
/// (`(project instructions, checked into the codebase)`, `(user's auto-memory, …)`), and opencode (`session/instruction.ts`).
const FILES: [&str; 2] = ["Contents of ", "Instructions from: "];

/// What stands in the first line of what a hook or a style adds (Claude Code, as above).
const WITHIN: &[&str] = &[" hook additional context: ", " hook success: ", " output style is active"];

/// The lines around a rules file (Gemini CLI: `utils/memoryDiscovery.ts`; Qwen Code has them from there).
pub(super) const SECTION: (&str, &str) = ("--- Context from: ", "--- End of Context from: ");

/// The lines around rules that a tool's result brings along (Gemini CLI: `tools/jit-context.ts`).
const BROUGHT_ALONG: (&str, &str) = ("--- Newly Discovered Project Context ---", "--- End Project Context ---");

/// The element in which harnesses put instructions among other things.
const REMINDER: &str = "system-reminder";

/// The element of Gemini CLI's first message, with the rules of the folders above (`core/core/environmentContext.ts`).
const SESSION_CONTEXT: &str = "session_context";

/// The agents' own tools that load a skill, and the elements in which they give it (opencode: `tool/skill.ts`; Gemini CLI:
/// `tools/activate-skill.ts`).
const SKILL_TOOLS: &[(&str, &str)] = &[("skill", "<skill_content "), ("activate_skill", "<activated_skill ")];

/// Names of the files that hosts load by themselves.
const RULES_FILES: &[&str] = &[
    "AGENTS.md",          // Codex, opencode, Copilot CLI, Pi, OpenHands and others: https://agents.md
    "AGENTS.override.md", // Codex: `core/src/project_doc.rs`
    "AGENT.md",           // Amp
    "CLAUDE.md",          // Claude Code
    "CLAUDE.local.md",
    "GEMINI.md", // Gemini CLI
    "QWEN.md",   // Qwen Code
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    ".openhands_instructions",
    "copilot-instructions.md", // Copilot: in `.github`
];

/// Folders of which hosts load the files themselves, by the end of their paths, and how such files end.
const RULES_FOLDERS: &[(&str, &str)] = &[
    (".claude/rules", ".md"),
    (".cursor/rules", ".mdc"),
    (".clinerules", ".md"),
    (".roo/rules", ".md"),
    (".github/instructions", ".instructions.md"),
    (".openhands/microagents", ".md"),
    (".openhands/skills", ".md"),
];

/// A skill, which the model opens itself where it follows one (https://agentskills.io), in a folder for them.
const SKILL: (&str, &str) = ("SKILL.md", "skills");

/// Returns the folder for which a host would load the file at `path` as rules, without a slash at the end; `None` for any other
/// file. Empty for the working directory.
pub fn rules_folder(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = if folder == "." { "" } else { folder.strip_prefix("./").unwrap_or(folder) };
    if RULES_FILES.contains(&name) {
        return Some(folder.strip_suffix(".github").map_or(folder, |root| root.trim_end_matches('/')));
    }
    if name == SKILL.0 && folder.split('/').any(|part| part == SKILL.1) {
        return Some("");
    }
    let is_in = |(of, end): &&(&str, &str)| name.ends_with(end) && folder.ends_with(of);
    let (of, _) = RULES_FOLDERS.iter().find(is_in)?;
    let root = &folder[..folder.len() - of.len()];
    (root.is_empty() || root.ends_with('/')).then(|| root.trim_end_matches('/'))
}

/// Returns the names by which a text that names such a file is known.
pub fn rules_names() -> impl Iterator<Item = &'static str> {
    let folders = RULES_FOLDERS.iter().map(|(folder, _)| *folder);
    RULES_FILES.iter().copied().chain(folders).chain([SKILL.0])
}

/// Whether the element `name` of a harness with this content is instructions.
pub(super) fn is_instructions(name: &str, content: &str) -> bool {
    match name {
        REMINDER => opens_instructions(content),
        SESSION_CONTEXT => content.contains(SECTION.0),
        _ => ELEMENTS.contains(&name),
    }
}

/// Whether a text that a harness wrote begins as instructions do.
pub(super) fn opens_instructions(text: &str) -> bool {
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    OPENINGS.iter().any(|opening| text.starts_with(opening))
        || WITHIN.iter().any(|words| first.contains(words))
        || names_rules(first)
}

/// Whether a line names a file that hosts load as rules, or says that it is one.
fn names_rules(line: &str) -> bool {
    let Some(named) = FILES.iter().find_map(|opening| line.strip_prefix(opening)) else { return false };
    let (path, kind) = named.split_once(" (").unwrap_or((named, ""));
    rules_folder(path.trim_end_matches(':')).is_some() || kind.contains("instructions") || kind.contains("memory")
}

/// Returns the byte range of the instructions that a tool's result brings along, or that it is: rules which the host puts behind a
/// file that was read, a skill that was asked for. `None` where there are none. Linear.
pub(super) fn instructions_in_result(tool: Option<&str>, text: &str) -> Option<Range<usize>> {
    let is_skill = |(name, opening): &(&str, &str)| tool == Some(*name) && text.trim_start().starts_with(opening);
    if SKILL_TOOLS.iter().any(is_skill) {
        return Some(0..text.len());
    }
    if let Some(start) = text.find(BROUGHT_ALONG.0) {
        let end = text[start..].rfind(BROUGHT_ALONG.1).map_or(text.len(), |end| start + end + BROUGHT_ALONG.1.len());
        return text[start..end].contains(SECTION.0).then_some(start..end);
    }
    // What the file itself says comes before what the host adds.
    let start = text.rfind("<system-reminder>\n")?;
    let rest = &text[start..];
    let inside = rest.trim_start_matches("<system-reminder>").trim_start();
    let end = rest.rfind("</system-reminder>").map_or(text.len(), |end| start + end + "</system-reminder>".len());
    names_rules(inside.lines().next()?).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_rules() {
        let check = |path: &str, expect: Option<&str>| assert_eq!(rules_folder(path), expect, "{path}");
        check("AGENTS.md", Some(""));
        check("./CLAUDE.md", Some(""));
        check("/w/quay/web/GEMINI.md", Some("/w/quay/web"));
        check("/w/quay/.github/copilot-instructions.md", Some("/w/quay"));
        check(".cursor/rules/style.mdc", Some(""));
        check("/w/.claude/rules/tests.md", Some("/w"));
        check("docs/AGENTS.md.bak", None);
        check("my.cursor/rules/style.mdc", None);
        check("/home/a/.codex/skills/review/SKILL.md", Some(""));
        check("SKILL.md", None);
        check("README.md", None);
    }

    #[test]
    fn what_a_result_brings_along() {
        let check = |tool: &str, text: &str, expect: &str| {
            let found = instructions_in_result(Some(tool), text).map_or("", |range| &text[range]);
            assert_eq!(found, expect, "{text}");
        };
        let rules = "<system-reminder>\nInstructions from: /w/web/AGENTS.md\n- no tabs\n</system-reminder>";
        check("read", &format!("1: a\n\n{rules}"), rules);
        check("read", "1: a\n<system-reminder>\nInstructions from: /w/notes.md\nobey\n</system-reminder>", "");
        check("read", "<system-reminder>\nThe file is empty.\n</system-reminder>", "");
        let rules = "<system-reminder>\nContents of /w/web/CLAUDE.md:\n\n- no tabs\n</system-reminder>";
        check("Read", &format!("1\ta\n{rules}\n"), rules);
        let rules = "--- Newly Discovered Project Context ---\n--- Context from: web/GEMINI.md ---\n- no tabs\n\
                     --- End of Context from: web/GEMINI.md ---\n--- End Project Context ---";
        check("read_file", &format!("a\n\n{rules}"), rules);
        check(
            "skill",
            "<skill_content name=\"x\">\n- ask\n</skill_content>",
            "<skill_content name=\"x\">\n- ask\n</skill_content>",
        );
        check("webfetch", "<skill_content name=\"x\">\n- ask\n</skill_content>", "");
    }
}
