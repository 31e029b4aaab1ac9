//! `epitome count`, and settings by the environment.

use crate::place::{Place, Ran, chat};

#[test]
fn a_text_and_messages_are_counted() {
    let place = Place::with("chat.json", chat());
    place.file("note.txt", "Hello world");
    let tokens = |line: &str| place.run(line).text().trim().parse::<u32>().unwrap();
    assert_eq!(tokens("count note.txt"), 2);
    assert_eq!(tokens("count note.txt --counter quarters"), 3);
    assert_eq!(place.run_with("count", b"Hello world").text(), "2\n");
    let checked = place.run("check chat.json --json").json();
    assert_eq!(tokens("count chat.json"), checked["counted_tokens"].as_u64().unwrap() as u32);
    let wrong = place.run("count note.txt --counter abacus").all();
    assert!(wrong.contains("--counter takes one of \"model\""), "{wrong}");
}

#[test]
fn settings_by_the_environment_stand_between_the_file_and_the_options() {
    let place = Place::with("chat.json", chat());
    place.file("c.toml", "[budget]\nwindow = 50_000\n");
    let run = |line: &str, variables: &[(&str, &str)]| {
        let mut command = place.command(line);
        command.envs(variables.iter().copied());
        Ran::read(command.output().unwrap())
    };
    let window =
        |line: &str, variables: &[(&str, &str)]| run(line, variables).json()["window_tokens"].as_u64().unwrap();
    let set = [("EPITOME_BUDGET_WINDOW", "60_000")];
    assert_eq!(window("check chat.json --config c.toml --json", &[]), 50_000);
    assert_eq!(window("check chat.json --config c.toml --json", &set), 60_000);
    assert_eq!(window("check chat.json --json", &set), 60_000);
    assert_eq!(window("check chat.json --config c.toml --window 70k --json", &set), 70_000);
    // The product's own variables, and somebody's.
    assert_eq!(window("check chat.json --json", &[("EPITOME_TOKEN", "x"), ("EPITOME_KEY_A", "y")]), 200_000);
    let wrong = run("check chat.json", &[("EPITOME_BUDGET_WINDWO", "1")]).all();
    assert!(wrong.contains("EPITOME_BUDGET_WINDWO: no setting has this name"), "{wrong}");
    assert!(wrong.contains("did you mean EPITOME_BUDGET_WINDOW?"), "{wrong}");
}
