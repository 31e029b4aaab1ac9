//! `epitome setup`: what it writes into made-up homes, that it writes nothing else, and that all of it can be taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::place::{Place, Ran};

/// A home and a project.
struct Home(Place);

const SETTINGS: &str = ".claude/settings.json";
const CODEX: &str = ".codex/config.toml";
/// Settings of Codex with a provider of its own.
const AZURE: &str = "model_provider = 'azure' # work\n\n[model_providers.azure] # mine\nname = 'Azure'\n\
                     base_url = 'https://me.openai.azure.com/openai/v1' # ours\nenv_key = \"AZURE_KEY\"\n\
                     query_params = { api-version = \"preview\" }\n";

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(Place::new());
        home.put("project/README.md", "mine\n");
        files.iter().for_each(|(path, content)| home.put(path, content));
        home
    }

    fn put(&self, path: &str, content: &str) {
        let path = self.0.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, line: &str) -> Ran {
        let mut command = self.0.command(line);
        command.current_dir(self.0.path("project")).env("HOME", self.0.path(""));
        // Only an agent that a test makes is there.
        command.env("PATH", self.0.path("bin"));
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"] {
            command.env_remove(name);
        }
        Ran::read(command.stdin(std::process::Stdio::null()).output().unwrap())
    }

    /// Runs a line that succeeds.
    fn ran(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        ran.stderr.clone() + ran.text()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.path(path)).unwrap()
    }

    /// Every file and folder, but those in which the set-up keeps what it did.
    fn all(&self) -> BTreeMap<String, Option<String>> {
        fn look(folder: &Path, base: &Path, found: &mut BTreeMap<String, Option<String>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(base).unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    look(&path, base, found);
                    found.insert(name, None);
                } else {
                    found.insert(name, fs::read_to_string(&path).ok());
                }
            }
        }
        let mut found = BTreeMap::new();
        look(&self.0.path(""), &self.0.path(""), &mut found);
        found.retain(|name, _| !name.starts_with("data"));
        found
    }
}

const AGENTS: [&str; 4] = ["claude-code", "codex", "opencode", "pi"];

#[test]
fn every_agent_in_a_fresh_home_and_back() {
    let check = |agent: &str, options: &str, files: &[&str]| {
        let home = Home::new(&[]);
        let before = home.all();
        let dry = home.ran(&format!("setup {agent} {options} --dry-run"));
        assert!(dry.contains("nothing was changed (--dry-run)"), "{dry}");
        assert_eq!(home.all(), before, "a dry run changes nothing");
        let said = home.ran(&format!("setup {agent} {options} --yes"));
        let after = home.all();
        for file in files {
            assert!(after.contains_key(*file), "{agent}: {file} in {:?}", after.keys());
            assert!(said.contains(file) && dry.contains(file), "{agent}: {file} is shown in {said}");
        }
        let new: Vec<&String> = after.iter().filter(|(_, text)| text.is_some()).map(|(name, _)| name).collect();
        assert_eq!(new.len(), files.len() + 1, "{agent}: {new:?}");
        let program = env!("CARGO_BIN_EXE_epitome");
        assert!(files.iter().any(|file| home.text(file).contains(program)), "{agent}: no file names the program");
        let again = home.ran(&format!("setup {agent} {options} --yes"));
        assert!(again.contains("is set up already"), "{again}");
        assert_eq!(home.all(), after, "{agent}: the second time changes nothing");
        home.ran(&format!("setup {agent} {options} --undo --yes"));
        assert_eq!(home.all(), before, "{agent}: all of it is taken back");
        let nothing = home.ran(&format!("setup {agent} {options} --undo --yes"));
        assert!(nothing.contains("there is nothing to take back"), "{nothing}");
    };
    let plugin = [".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json", "hooks/ask.sh", "hooks/compact.ts"];
    let claude: Vec<String> = plugin.iter().map(|file| format!(".claude/skills/epitome/{file}")).collect();
    let claude: Vec<&str> = claude.iter().map(String::as_str).chain([SETTINGS]).collect();
    check("claude-code", "", &claude);
    let by_model: Vec<&str> = claude.iter().copied().filter(|file| !file.ends_with("compact.ts")).collect();
    check("claude-code", "--model-summary", &by_model);
    let project: Vec<String> = plugin.iter().map(|file| format!("project/.claude/skills/epitome/{file}")).collect();
    let project: Vec<&str> =
        project.iter().map(String::as_str).chain(["project/.claude/settings.local.json"]).collect();
    check("claude-code", "--scope project", &project);
    check("codex", "", &[CODEX]);
    check("opencode", "", &[".config/opencode/plugin/epitome.js"]);
    check("opencode", "--scope project", &["project/.opencode/plugin/epitome.js"]);
    check("pi", "", &[".pi/agent/extensions/epitome.ts"]);
    check("pi", "--scope project", &["project/.pi/extensions/epitome.ts"]);
}

#[test]
fn what_was_there_stays() {
    let check = |agent: &str, path: &str, content: &str| {
        let home = Home::new(&[(path, content), (".codex/other.toml", "x"), (".claude/skills/mine/SKILL.md", "x")]);
        let before = home.all();
        home.ran(&format!("setup {agent} --yes"));
        let text = home.text(path);
        let mut rest = text.as_str();
        for line in content.lines().filter(|line| !line.starts_with("base_url")) {
            let line = line.trim_start_matches('{').trim_end_matches([',', '}']);
            assert!(rest.contains(line), "{line:?} in {text}");
            rest = &rest[rest.find(line).unwrap() + line.len()..];
        }
        assert_ne!(text, content);
        home.ran(&format!("setup {agent} --undo --yes"));
        assert_eq!(home.all(), before, "{agent}: {content}");
    };
    check("claude-code", SETTINGS, "{\n    \"model\": \"opus\", // mine\n    \"hooks\": {\"Stop\": []}\n}\n");
    check("claude-code", SETTINGS, "{}");
    check("claude-code", SETTINGS, "{\"model\":\"opus\"}");
    check("claude-code", SETTINGS, "");
    check("codex", CODEX, "# mine\nmodel = \"gpt-5\" # the best\n\n[mcp_servers.docs]\ncommand = \"docs\"\n");
    check("codex", CODEX, AZURE);
    check("codex", CODEX, "");
}

#[test]
fn the_address_of_the_provider_that_a_person_has() {
    let check = |files: &[(&str, &str)], expect: &[&str], upstream: &str| {
        let home = Home::new(files);
        let before = home.all();
        let said = home.ran("setup codex --yes");
        let text = home.text(CODEX);
        for line in expect {
            let is_there = match line.strip_prefix('!') {
                Some(gone) => !text.contains(gone),
                None => text.lines().any(|own| own == *line),
            };
            assert!(is_there, "{line:?} in {text}");
        }
        assert!(said.contains(&format!("epitome serve --upstream {upstream}\n")), "{said}");
        let again = home.ran("setup codex --yes --service http://127.0.0.1:9000");
        assert!(again.contains(&format!(" --upstream {upstream}\n")), "the person's own address stays known: {again}");
        home.ran("setup codex --undo --yes");
        assert_eq!(home.all(), before);
    };
    let api = "openai_base_url = \"http://127.0.0.1:7777/v1\"";
    check(&[], &[api, "!model_provider"], "https://api.openai.com/v1");
    let own = "openai_base_url = 'https://gate.example/openai/v1/' # gate\n";
    check(&[(CODEX, own)], &[&format!("{api} # gate")], "https://gate.example/openai/v1");
    let auth = ".codex/auth.json";
    let keyed = "{\"OPENAI_API_KEY\": \"k\", \"tokens\": null}";
    check(&[(auth, keyed)], &[api], "https://api.openai.com/v1");
    let plan = "{\"OPENAI_API_KEY\": null, \"tokens\": {\"access_token\": \"made-up\"}}";
    let whole = "openai_base_url = \"http://127.0.0.1:7777\"";
    check(&[(auth, plan)], &[whole], "https://chatgpt.com/backend-api/codex");
    let named = "{\"auth_mode\": \"chatgpt\", \"OPENAI_API_KEY\": \"k\"}";
    check(&[(auth, named)], &[whole], "https://chatgpt.com/backend-api/codex");
    let azure = ["base_url = \"http://127.0.0.1:7777/v1\" # ours", "name = 'Azure'", "!openai_base_url"];
    check(&[(CODEX, AZURE), (auth, plan)], &azure, "https://me.openai.azure.com/openai/v1");
    // Codex knows Azure by its address, or by its name.
    let other_name = AZURE.replace("'Azure'", "\"Work\"");
    let azure = ["base_url = \"http://127.0.0.1:7777/v1\" # ours", "name = \"Azure\""];
    check(&[(CODEX, &other_name)], &azure, "https://me.openai.azure.com/openai/v1");
    let logged_in = "model_provider = \"mine\"\n[model_providers.mine]\nname = \"Mine\"\nrequires_openai_auth = true\n";
    let expect = ["base_url = \"http://127.0.0.1:7777\"", "name = \"Mine\""];
    check(&[(CODEX, logged_in), (auth, plan)], &expect, "https://chatgpt.com/backend-api/codex");
}

#[test]
fn what_is_replaced_is_shown_and_comes_back() {
    let home = Home::new(&[(CODEX, AZURE)]);
    let said = home.ran("setup codex --yes");
    let gone = "-base_url = 'https://me.openai.azure.com/openai/v1' # ours";
    assert!(said.contains(gone) && said.contains("+base_url = \"http://127.0.0.1:7777/v1\" # ours"), "{said}");
    home.ran("setup codex --undo --yes");
    assert_eq!(home.text(CODEX), AZURE);
}

#[test]
fn what_is_replaced_comes_back_into_an_edited_file() {
    let check = |before: &str, edit: &str| {
        let home = Home::new(&[(CODEX, before)]);
        home.ran("setup codex --yes");
        home.put(CODEX, &(home.text(CODEX) + edit));
        home.ran("setup codex --undo --yes");
        assert_eq!(home.text(CODEX), before.to_owned() + edit);
    };
    let azure = AZURE.replace("env_key", "since = 2026-01-02 # a date\nenv_key");
    let edit = "\n[mine]\nkey = 1 # new\n";
    check(&format!("# the best\n{azure}\n[last]\nx = 1\n"), edit);
    check(&format!("\u{feff}{azure}").replace('\n', "\r\n"), &edit.replace('\n', "\r\n"));
    check("openai_base_url = 'https://gate/v1' # work\n\n[last]\nx = 1\n", edit);
}

#[test]
fn the_record_has_no_copy_of_the_settings() {
    let check = |agent: &str, path: &str, content: &str| {
        let home = Home::new(&[(path, content)]);
        home.ran(&format!("setup {agent} --yes"));
        let record = home.text(&format!("data/epitome/setup/{agent}.json"));
        assert!(!record.contains("made-up-token") && record.contains("values"), "{record}");
        home.ran(&format!("setup {agent} --undo --yes"));
        assert_eq!(home.text(path), content);
    };
    check(
        "codex",
        CODEX,
        "openai_base_url = \"https://gate\"\n\n[mcp_servers.docs]\ncommand = \"docs\"\nenv = { K = \"made-up-token\" }\n\n[last]\nx = 1\n",
    );
    check("claude-code", SETTINGS, "{\"env\":{\"K\":\"made-up-token\"}}");
}

#[test]
fn what_a_person_changed_since_stays() {
    let check = |agent: &str, path: &str, content: &str, edit: fn(&str) -> String, expect: &str| {
        let home = Home::new(&[(path, content)]);
        home.ran(&format!("setup {agent} --yes"));
        home.put(path, &edit(&home.text(path)));
        let again = home.ran(&format!("setup {agent} --yes"));
        assert!(again.contains("is set up already"), "{again}");
        let said = home.ran(&format!("setup {agent} --undo --yes"));
        assert_eq!(home.text(path), expect, "{said}");
    };
    let at_the_end = |text: &str| format!("{text}\n[mine]\nkey = 1 # new\n");
    check("codex", CODEX, "model = \"x\"\n", at_the_end, "model = \"x\"\n\n[mine]\nkey = 1 # new\n");
    check("codex", CODEX, AZURE, at_the_end, &format!("{AZURE}\n[mine]\nkey = 1 # new\n"));
    let in_front = |text: &str| text.replacen('{', "{\n  \"mine\": [1], // new", 1);
    check(
        "claude-code",
        SETTINGS,
        "{\n  \"model\": \"opus\"\n}\n",
        in_front,
        "{\n  \"mine\": [1], // new\n  \"model\": \"opus\"\n}\n",
    );
}

#[test]
fn a_value_that_a_person_changed_is_theirs() {
    let home = Home::new(&[(CODEX, "model = \"x\"\n")]);
    home.ran("setup codex --yes");
    home.put(CODEX, &home.text(CODEX).replace("http://127.0.0.1:7777/v1", "https://mine/v1"));
    let said = home.ran("setup codex --undo --yes");
    assert!(said.contains("`openai_base_url` in") && said.contains("was changed since, and stays"), "{said}");
    assert_eq!(home.text(CODEX), "model = \"x\"\nopenai_base_url = \"https://mine/v1\"\n");

    let line = "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}";
    let home = Home::new(&[(SETTINGS, line)]);
    let said = home.ran("setup claude-code --yes");
    assert!(said.contains("`statusLine` in") && said.contains("is yours, and stays"), "{said}");
    assert_eq!(home.text(SETTINGS), line);
    home.ran("setup claude-code --undo --yes");
    assert_eq!(home.text(SETTINGS), line);

    let home = Home::new(&[]);
    home.ran("setup pi --yes");
    home.put(".pi/agent/extensions/epitome.ts", "// mine now\n");
    let refused = home.run("setup pi --yes");
    let words = "was written by epitome, and edited since";
    assert!(refused.code == 2 && refused.stderr.contains(words), "{}", refused.stderr);
    assert_eq!(home.text(".pi/agent/extensions/epitome.ts"), "// mine now\n");
}

#[test]
fn an_edited_file_stays_active_and_known() {
    let check = |agent: &str, file: &str| {
        let home = Home::new(&[]);
        let before = home.all();
        home.ran(&format!("setup {agent} --yes"));
        let ours = home.text(file);
        home.put(file, &(ours + "// mine\n"));
        for options in ["--dry-run", "--yes", "--yes --quiet", ""] {
            let ran = home.run(&format!("setup {agent} --undo {options}"));
            let is_told = ran.stderr.contains("is still active") && ran.stderr.contains(file);
            // Nothing is left to agree on but what is asked the first time.
            assert!(ran.code == 1 && is_told, "{agent} {options}: {} {}", ran.code, ran.stderr);
        }
        assert!(home.text(file).ends_with("// mine\n"));
        let left = home.all().into_values().flatten().count();
        assert_eq!(left, before.values().flatten().count() + 1, "{agent}: all else is taken back");
        let refused = home.run(&format!("setup {agent} --yes"));
        let words = "was written by epitome, and edited since";
        assert!(refused.code == 2 && refused.stderr.contains(words), "{agent}: {}", refused.stderr);
        fs::remove_file(home.0.path(file)).unwrap();
        home.ran(&format!("setup {agent} --undo --yes"));
        assert_eq!(home.all(), before, "{agent}");
        assert!(!home.0.path("data/epitome").exists(), "{agent}: no empty folder is left");
    };
    check("pi", ".pi/agent/extensions/epitome.ts");
    check("opencode", ".config/opencode/plugin/epitome.js");
    check("claude-code", ".claude/skills/epitome/hooks/compact.ts");
}

#[test]
fn a_table_of_ours_that_was_edited_is_not_replaced() {
    let home = Home::new(&[]);
    home.ran("setup codex --yes");
    home.put(CODEX, &home.text(CODEX).replace("args = [", "args = [\"mine\", "));
    let before = home.all();
    let ran = home.run("setup codex --yes");
    let words = "was written by epitome, and edited since";
    assert!(ran.code == 2 && ran.stderr.contains(words), "{} {}", ran.code, ran.stderr);
    assert_eq!(home.all(), before);
}

#[test]
fn another_address_takes_the_place_of_the_earlier() {
    let home = Home::new(&[(CODEX, AZURE)]);
    home.ran("setup codex --yes");
    let said = home.ran("setup codex --yes --service http://127.0.0.1:9000/");
    assert!(said.contains("epitome serve --listen 127.0.0.1:9000 --upstream"), "{said}");
    let text = home.text(CODEX);
    assert!(text.contains("base_url = \"http://127.0.0.1:9000/v1\"") && !text.contains("7777"), "{text}");
    home.ran("setup codex --undo --yes");
    assert_eq!(home.text(CODEX), AZURE);
}

#[test]
fn another_provider_takes_the_place_of_the_earlier() {
    let home = Home::new(&[(CODEX, "# mine\n")]);
    home.ran("setup codex --yes");
    let (chosen, table) = AZURE.split_once('\n').unwrap();
    home.put(CODEX, &format!("{chosen}\n{}{table}", home.text(CODEX)));
    home.ran("setup codex --yes");
    let text = home.text(CODEX);
    assert!(
        !text.contains("openai_base_url") && text.contains("base_url = \"http://127.0.0.1:7777/v1\" # ours"),
        "{text}"
    );
    home.ran("setup codex --undo --yes");
    let text = home.text(CODEX);
    assert!(text.starts_with(chosen) && text.contains(table) && !text.contains("7777"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_older_agent_gets_what_helps_there() {
    use std::os::unix::fs::PermissionsExt as _;
    let check = |agent: &str, program: &str, says: &str, code: i32, words: &str, has_module: bool| {
        let home = Home::new(&[(&format!("bin/{program}"), &format!("#!/bin/sh\necho '{says}'\n"))]);
        let file = home.0.path("bin").join(program);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let ran = home.run(&format!("setup {agent} --yes"));
        assert!(ran.code == code && ran.stderr.contains(words), "{says}: {}", ran.stderr);
        let plugin = home.0.path(".claude/skills/epitome/hooks");
        assert_eq!(plugin.join("compact.ts").exists(), has_module, "{says}");
        let hooks = fs::read_to_string(plugin.join("hooks.json")).unwrap_or_default();
        assert_eq!(hooks.contains("modules"), has_module, "{says}");
    };
    let by_model = "its model goes on to write the summaries";
    check("claude-code", "claude", "2.1.197 (Claude Code)", 0, by_model, false);
    check("claude-code", "claude", "2.1.258 (Claude Code)", 0, by_model, false);
    let variable = "where CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=1 is set";
    check("claude-code", "claude", "2.1.259 (Claude Code)", 0, variable, true);
    check("claude-code", "claude", "2.1.332 (Claude Code)", 0, "is set up", true);
    check("claude-code", "claude", "no version", 0, "is set up", true);
    check("claude-code", "claude", "2.1.156 (Claude Code)", 2, "does not load plug-ins from its folder", false);
    check("opencode", "opencode", "1.0.150", 2, "does not let a plug-in change its requests: 1.0.152 does", false);
    check("opencode", "opencode", "1.18.33", 0, "is set up", false);
    check("pi", "pi", "0.73.1", 2, "Pi 0.73.1 does not have what the extension imports", false);
    check("codex", "codex", "codex-cli 0.114.0", 2, "does not read `openai_base_url`", false);
    check("codex", "codex", "codex-cli 0.171.0", 0, "is set up", false);
}

#[test]
fn an_option_that_changes_later() {
    let home = Home::new(&[]);
    let module = ".claude/skills/epitome/hooks/compact.ts";
    home.ran("setup claude-code --yes");
    assert!(home.0.path(module).exists() && home.text(".claude/skills/epitome/hooks/hooks.json").contains("modules"));
    home.ran("setup claude-code --yes --model-summary");
    assert!(!home.0.path(module).exists() && !home.text(".claude/skills/epitome/hooks/hooks.json").contains("modules"));
    assert_eq!(home.ran("setup claude-code --yes --undo --quiet"), "");
    assert!(!home.0.path(".claude").exists());
}

#[test]
fn what_is_refused_changes_nothing() {
    let check = |agent: &str, files: &[(&str, &str)], options: &str, expect: &str| {
        let home = Home::new(files);
        let before = home.all();
        let ran = home.run(&format!("setup {agent} {options}"));
        assert_eq!(ran.code, 2, "{agent} {files:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expect), "{agent} {files:?}: {}", ran.stderr);
        assert_eq!(home.all(), before);
        assert!(!home.0.path("data").exists(), "nothing is recorded");
    };
    check("claude-code", &[(SETTINGS, "{\"model\": ")], "--yes", "settings.json is left as it is: it is not JSON");
    check("claude-code", &[(SETTINGS, "[]")], "--yes", "not a JSON object");
    check("codex", &[(CODEX, "model = \n")], "--yes", "config.toml is left as it is: it is not TOML");
    check("codex", &[(CODEX, "[openai_base_url]\nmine = 1\n")], "--yes", "`openai_base_url` is a table");
    check("codex", &[(CODEX, "mcp_servers = 1\n")], "--yes", "`mcp_servers` is not a table");
    let server = "[mcp_servers.epitome]\ncommand = \"mine\"\nenv = { K = \"made-up-token\" }\n";
    let words = "config.toml is not what epitome wrote (command = \"mine\")\n";
    check("codex", &[(CODEX, server)], "--yes", words);
    check("codex", &[(CODEX, server)], "--dry-run", "`[mcp_servers.epitome]` in ");
    check("codex", &[(CODEX, server)], "--yes --quiet", "give it another name, or remove it");
    check("codex", &[(CODEX, "model_provider = \"azure\"\n")], "--yes", "there is no `[model_providers.azure]`");
    check("codex", &[(CODEX, "model_provider = \"ollama\"\n")], "--yes", "does not take from its settings");
    let signed =
        "model_provider = \"a\"\n[model_providers.a]\nbase_url = \"https://a/v1\"\naws = { profile = \"p\" }\n";
    check("codex", &[(CODEX, signed)], "--yes", "signs its requests for its own address");
    check("codex", &[(CODEX, "openai_base_url = \"ftp://a\"\n")], "--yes", "is not an address of HTTP");
    check("codex", &[(CODEX, "openai_base_url = \"http://127.0.0.1:7777/v1\"\n")], "--yes", "not epitome's doing");
    check("codex", &[], "--yes --scope project", "leave --scope project out");
    check("codex", &[], "--yes --service localhost:1", "is not the address of a service");
    check("opencode", &[(".config/opencode/plugin/epitome.js", "// mine")], "--yes", "is not what epitome wrote");
    let skill = ".claude/skills/epitome/SKILL.md";
    check("claude-code", &[(skill, "mine")], "--yes", "is there, with `SKILL.md`, and epitome did not write it");
    for agent in AGENTS {
        check(agent, &[], "", "cannot ask for confirmation");
    }
    for address in ["http://a?b", "http://a#b", "http://me@a", "http://a/b"] {
        check("codex", &[], &format!("--yes --service {address}"), "is not the address of a service");
    }
    check("pi", &[], "--yes --service http://127.0.0.1:1", "does not reach its provider through the service");
    check("codex", &[], "--undo --service http://127.0.0.1:1", "cannot be used with");
    let auth = ".codex/auth.json";
    check("codex", &[(auth, "{")], "--yes", "auth.json is not JSON");
    check("pi", &[], "--yes --model-summary", "--model-summary is for claude-code");
    check("nobody", &[], "--yes", "invalid value 'nobody'");
    check("pi", &[], "--yes --dry-run", "cannot be used with");
}

#[cfg(unix)]
#[test]
fn links_and_folders_without_permission() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let home = Home::new(&[("dotfiles/settings.json", "{\"model\": \"opus\"}\n")]);
    fs::create_dir(home.0.path(".claude")).unwrap();
    fs::set_permissions(home.0.path("dotfiles/settings.json"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(home.0.path("dotfiles/settings.json"), home.0.path(SETTINGS)).unwrap();
    home.ran("setup claude-code --yes");
    assert!(fs::symlink_metadata(home.0.path(SETTINGS)).unwrap().is_symlink(), "a link stays a link");
    assert!(home.text("dotfiles/settings.json").contains("statusLine"));
    assert_eq!(fs::metadata(home.0.path("dotfiles/settings.json")).unwrap().mode() & 0o777, 0o600);
    home.ran("setup claude-code --undo --yes");
    assert_eq!(home.text("dotfiles/settings.json"), "{\"model\": \"opus\"}\n");

    let home = Home::new(&[]);
    fs::create_dir(home.0.path(".codex")).unwrap();
    symlink(home.0.path("nowhere.toml"), home.0.path(CODEX)).unwrap();
    let ran = home.run("setup codex --yes");
    assert!(ran.code == 2 && ran.stderr.contains("it is a link to nothing"), "{}", ran.stderr);

    // A file of two names is refused when it is written, the last of five: those before it are taken back.
    let home = Home::new(&[("other.json", "{}\n")]);
    fs::create_dir(home.0.path(".claude")).unwrap();
    fs::hard_link(home.0.path("other.json"), home.0.path(SETTINGS)).unwrap();
    let before = home.all();
    let ran = home.run("setup claude-code --yes");
    assert!(ran.code == 2 && ran.stderr.contains("it has other names (hard links)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert_eq!(home.all(), before);
    assert!(!home.0.path("data").exists(), "nothing is recorded, and no empty folder is left");

    // A folder where a file is to be: nothing is written.
    let home = Home::new(&[(".claude/settings.json/mine", "x")]);
    let before = home.all();
    let ran = home.run("setup claude-code --yes");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(home.all(), before);
    let home = Home::new(&[
        (".claude/skills/epitome/hooks/hooks.json/mine", "x"),
        (".claude/skills/epitome/hooks/other", "x"),
    ]);
    let before = home.all();
    let ran = home.run("setup claude-code --yes");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(home.all(), before);

    // Who may do everything is not kept out by modes.
    let home = Home::new(&[(".pi/agent/settings.json", "{}")]);
    let folder = home.0.path(".pi/agent");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    let is_kept_out = fs::write(folder.join("try"), "x").is_err();
    let ran = home.run("setup pi --yes");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    if is_kept_out {
        assert!(ran.code == 2 && ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
        assert!(!folder.join("extensions").exists());
    }
}

#[test]
fn profiles_with_a_provider_of_their_own_are_named() {
    let config =
        "profile = \"work\"\n\n[profiles.work]\nmodel_provider = \"azure\"\n\n[profiles.home]\nmodel = \"m\"\n";
    let said = Home::new(&[(CODEX, config)]).ran("setup codex --yes");
    assert!(said.contains("the profile `work` names another provider, `azure`") && !said.contains("`home`"), "{said}");
}

#[test]
fn who_is_asked_sees_what_for() {
    let ran = Home::new(&[]).run("setup pi --quiet");
    assert!(ran.code == 2 && ran.text().contains("extensions/epitome.ts"), "{} {}", ran.text(), ran.stderr);
}

#[test]
fn every_folder_of_an_agent_has_a_set_up_of_its_own() {
    let home = Home::new(&[]);
    let before = home.all();
    let run = |folder: &str, options: &str| {
        let mut command = home.0.command(&format!("setup codex --yes {options}"));
        command.current_dir(home.0.path("project")).env("HOME", home.0.path("")).env("CODEX_HOME", folder);
        command.env("PATH", home.0.path("bin"));
        let ran = Ran::read(command.stdin(std::process::Stdio::null()).output().unwrap());
        assert_eq!(ran.code, 0, "{folder}: {}", ran.stderr);
    };
    home.ran("setup codex --yes");
    let one = home.0.path("one").display().to_string();
    run(&one, "");
    // The search of sessions takes a relative folder as the agent does.
    run("two", "");
    for path in [CODEX, "one/config.toml", "project/two/config.toml"] {
        assert!(home.0.path(path).exists(), "{path}");
    }
    run("two", "--undo");
    assert!(
        home.0.path(CODEX).exists() && home.0.path("one/config.toml").exists() && !home.0.path("project/two").exists()
    );
    run(&format!("{one}/"), "--undo");
    home.ran("setup codex --undo --yes");
    assert_eq!(home.all(), before);
}

#[test]
fn an_upgrade_that_ended_before_its_files_were_written() {
    let check = |agent: &str, first: &str, second: &str, path: &str| {
        let home = Home::new(&[(CODEX, AZURE)]);
        let before = home.all();
        home.ran(&format!("setup {agent} --yes {first}"));
        let old = home.all();
        home.ran(&format!("setup {agent} --yes {second}"));
        let new = home.all();
        assert_ne!(old.get(path), new.get(path), "{agent}");
        let back = || {
            old.iter()
                .filter_map(|(name, text)| Some((name, text.as_ref()?)))
                .for_each(|(name, text)| home.put(name, text))
        };
        back();
        home.ran(&format!("setup {agent} --yes {second}"));
        assert_eq!(home.all(), new, "{agent}: it goes on");
        back();
        home.ran(&format!("setup {agent} --yes --undo"));
        assert_eq!(home.all(), before, "{agent}: all of it is taken back");
    };
    check("codex", "", "--service http://127.0.0.1:9000", CODEX);
    check("claude-code", "", "--model-summary", ".claude/skills/epitome/hooks/hooks.json");
    check("claude-code", "--model-summary", "", ".claude/skills/epitome/hooks/hooks.json");
}

#[test]
fn addresses_that_the_service_does_not_listen_at() {
    let said = |address: &str| Home::new(&[]).ran(&format!("setup codex --yes --service {address}"));
    assert!(said("http://127.0.0.1:9000").contains("epitome serve --listen 127.0.0.1:9000 --upstream"));
    for address in ["http://box:9000", "https://127.0.0.1:9000"] {
        let said = said(address);
        assert!(!said.contains("--listen") && said.contains(&format!("the service that {address} leads to")), "{said}");
    }
}
