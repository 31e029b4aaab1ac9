#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn what_ships_is_what_a_folder_may_hold() {
    let prompts = Prompts::load(None).unwrap();
    for (language, folder) in [(Language::English, "en"), (Language::Chinese, "zh")] {
        let texts = prompts.texts(language);
        let mut problems = Vec::new();
        for shipped in &SHIPPED {
            check(Path::new(shipped.name), shipped, texts.get(shipped.name), &mut problems);
        }
        assert!(problems.is_empty(), "{folder}: {problems:?}");
    }
}

#[test]
fn values_are_put_in_and_not_looked_at_again() {
    let prompts = Prompts::load(None).unwrap();
    let texts = prompts.texts(Language::English);
    let values = [("transcript", "a {layout} b {unknown}"), ("layout", "LAYOUT"), ("rules", "{words}")];
    let filled = texts.fill("summarize", &values);
    assert!(filled.contains("a {layout} b {unknown}") && filled.ends_with("LAYOUT\n\n{words}"), "{filled}");
}

#[test]
fn folders_of_prompts() {
    let check = |files: &[(&str, &str)], expect: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = folder.path().display().to_string();
        let problems: Vec<String> = match Prompts::load(Some(folder.path())) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|problem| problem.to_string().replace(&root, "")).collect(),
        };
        assert_eq!(problems.len(), expect.len(), "{problems:?}");
        for (problem, expect) in problems.iter().zip(expect) {
            assert!(problem.starts_with(expect), "{problem}");
        }
    };
    check(&[], &[]);
    check(&[("en/brief.md", "Be short."), ("zh/.hidden", "")], &[]);
    check(&[("en/sumarize.md", "")], &["`/en/sumarize.md` is not a prompt; prompts are en/NAME.md"]);
    check(&[("readme.md", "")], &["`/readme.md` is not a prompt"]);
    check(
        &[("en/retry.md", "{answer} {word}")],
        &[
            "`/en/retry.md` does not hold `{problem}`",
            "`/en/retry.md` does not hold `{words}`",
            "`/en/retry.md` holds `{word}`, which means nothing there",
        ],
    );
    let missing = Prompts::load(Some(Path::new("/no/such/folder"))).unwrap_err();
    assert!(missing[0].to_string().starts_with("cannot read `/no/such/folder`"), "{missing:?}");
}

#[test]
fn a_file_replaces_its_prompt_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("en")).unwrap();
    std::fs::write(folder.path().join("en/sections.md"), "Two:\n## Aim\n## Rest\n").unwrap();
    let (own, shipped) = (Prompts::load(Some(folder.path())).unwrap(), Prompts::load(None).unwrap());
    assert_eq!(own.texts(Language::English).get("sections"), "Two:\n## Aim\n## Rest");
    assert_eq!(own.texts(Language::English).get("rules"), shipped.texts(Language::English).get("rules"));
    assert_eq!(own.texts(Language::Chinese), shipped.texts(Language::Chinese));
}
