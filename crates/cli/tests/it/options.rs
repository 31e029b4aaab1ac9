//! Every option of every command acts: two runs that differ in it give something else, or a test that is named here shows
//! where it acts. A new option fails until it stands in one of the tables.

use std::collections::BTreeMap;
use std::path::Path;

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use serde_json::json;

use crate::place::{Place, chat, example, several};

/// A command, an option, what is run without it, and what with it.
type Pair = (&'static str, &'static str, &'static str, &'static str);

const PAIRS: &[Pair] = &[
    ("compact", "--budget", "chat.json -b 400", "chat.json -b 200"),
    ("compact", "--chain", "chat.json -b 400", "chat.json -b 400 --chain sliding-window"),
    ("compact", "--task", "work.jsonl -b 20k", "work.jsonl -b 20k --task conversation"),
    ("compact", "--mode", "work.jsonl -b 20k --config c.toml", "work.jsonl -b 20k --config c.toml --mode tournament"),
    ("compact", "--config", "chat.json -b 400", "chat.json -b 400 --config c.toml"),
    ("compact", "--agent", "work.jsonl --config c.toml", "work.jsonl --config c.toml --agent a"),
    ("compact", "--from", "chat.json -b 400", "chat.json -b 400 --from claude-code"),
    ("compact", "--to", "chat.json -b 400", "chat.json -b 400 --to anthropic"),
    ("compact", "--session", "all.jsonl -b 400 --session 0", "all.jsonl -b 400 --session 1"),
    ("compact", "--strict", "torn.jsonl -b 400", "torn.jsonl -b 400 --strict"),
    ("compact", "--view", "compacted.jsonl -b 9000", "compacted.jsonl -b 9000 --view full"),
    ("compact", "--focus", "work.jsonl -b 8k --chain summary", "work.jsonl -b 8k --chain summary --focus Halvorsen"),
    (
        "compact",
        "--summarizer",
        "work.jsonl -b 20k --chain summary",
        "work.jsonl -b 20k --chain summary --summarizer off",
    ),
    ("compact", "--preview", "chat.json -b 400", "chat.json -b 400 --preview"),
    ("compact", "--json", "chat.json -b 400 --preview", "chat.json -b 400 --preview --json"),
    ("compact", "--output", "chat.json -b 400", "chat.json -b 400 -o out.json"),
    ("compact", "--force", "chat.json -b 400 -o chat.json", "chat.json -b 400 -o chat.json --force"),
    ("compact", "--report", "chat.json -b 400", "chat.json -b 400 --report r.json"),
    ("compact", "--quiet", "chat.json -b 400", "chat.json -b 400 --quiet"),
    ("check", "--budget", "chat.json", "chat.json --budget 500"),
    ("check", "--window", "chat.json", "chat.json --window 500"),
    ("check", "--model", "chat.json", "chat.json --model gpt-4.1"),
    ("check", "--config", "chat.json", "chat.json --config c.toml"),
    ("check", "--agent", "chat.json --config c.toml", "chat.json --config c.toml --agent a"),
    ("check", "--json", "chat.json", "chat.json --json"),
    ("check", "--from", "chat.json", "chat.json --from claude-code"),
    ("check", "--session", "all.jsonl --session 0", "all.jsonl --session 9"),
    ("check", "--strict", "torn.jsonl", "torn.jsonl --strict"),
    ("check", "--view", "compacted.jsonl", "compacted.jsonl --view full"),
    ("check", "--quiet", "torn.jsonl", "torn.jsonl --quiet"),
    ("inspect", "--config", "work.jsonl", "work.jsonl --config c.toml"),
    ("inspect", "--json", "chat.json", "chat.json --json"),
    ("inspect", "--from", "chat.json", "chat.json --from claude-code"),
    ("inspect", "--session", "all.jsonl --session 0", "all.jsonl --session 1"),
    ("inspect", "--strict", "torn.jsonl", "torn.jsonl --strict"),
    ("inspect", "--view", "compacted.jsonl", "compacted.jsonl --view full"),
    ("inspect", "--quiet", "torn.jsonl", "torn.jsonl --quiet"),
    ("context", "--budget", "chat.json", "chat.json --budget 1200"),
    ("context", "--window", "chat.json", "chat.json --window 500"),
    ("context", "--model", "chat.json", "chat.json --model gpt-4.1"),
    ("context", "--config", "chat.json", "chat.json --config c.toml"),
    ("context", "--agent", "chat.json --config c.toml", "chat.json --config c.toml --agent a"),
    ("context", "--json", "chat.json", "chat.json --json"),
    ("context", "--from", "chat.json", "chat.json --from claude-code"),
    ("context", "--session", "all.jsonl --session 0", "all.jsonl --session 9"),
    ("context", "--quiet", "torn.jsonl", "torn.jsonl --quiet"),
    ("watch", "--budget", "chat.json --once", "chat.json --budget 1200 --once"),
    ("watch", "--window", "chat.json --once", "chat.json --window 500 --once"),
    ("watch", "--model", "chat.json --once", "chat.json --model gpt-4.1 --once"),
    ("watch", "--config", "chat.json --once", "chat.json --config c.toml --once"),
    ("watch", "--agent", "chat.json --config c.toml --once", "chat.json --config c.toml --agent a --once"),
    ("watch", "--json", "chat.json --once", "chat.json --json --once"),
    ("watch", "--from", "chat.json --once", "chat.json --from claude-code --once"),
    ("watch", "--session", "all.jsonl --session 0 --once", "all.jsonl --session 9 --once"),
    ("search", "--also", "work.jsonl jitter", "work.jsonl jitter --also migration"),
    ("search", "--source", "work.jsonl jitter", "work.jsonl jitter --source user"),
    ("search", "--newest", "work.jsonl test", "work.jsonl test --newest"),
    ("search", "--limit", "work.jsonl test", "work.jsonl test --limit 1"),
    ("search", "--characters", "work.jsonl test", "work.jsonl test --characters 600"),
    ("search", "--page", "work.jsonl test", "work.jsonl test --page 2"),
    ("search", "--from", "chat.json a", "chat.json a --from claude-code"),
    ("search", "--session", "all.jsonl a --session 0", "all.jsonl a --session 9"),
    ("search", "--json", "work.jsonl jitter", "work.jsonl jitter --json"),
    ("search", "--quiet", "torn.jsonl hello", "torn.jsonl hello --quiet"),
    ("convert", "--to", "chat.json --to openai-chat", "chat.json --to anthropic"),
    ("convert", "--output", "chat.json --to anthropic", "chat.json --to anthropic -o out.json"),
    ("convert", "--force", "chat.json --to anthropic -o chat.json", "chat.json --to anthropic -o chat.json --force"),
    ("convert", "--from", "chat.json --to anthropic", "chat.json --to anthropic --from claude-code"),
    ("convert", "--session", "all.jsonl --to anthropic --session 0", "all.jsonl --to anthropic --session 1"),
    ("convert", "--strict", "torn.jsonl --to anthropic", "torn.jsonl --to anthropic --strict"),
    ("convert", "--view", "compacted.jsonl --to anthropic", "compacted.jsonl --to anthropic --view full"),
    ("convert", "--quiet", "torn.jsonl --to anthropic", "torn.jsonl --to anthropic --quiet"),
    ("history", "--json", "compacted.jsonl", "compacted.jsonl --json"),
    ("history", "--from", "compacted.jsonl", "compacted.jsonl --from codex-rollout"),
    ("history", "--session", "compacted.jsonl", "compacted.jsonl --session 7"),
    ("history", "--quiet", "torn.jsonl", "torn.jsonl --quiet"),
    ("restore", "--epoch", "compacted.jsonl", "compacted.jsonl --epoch 7"),
    ("restore", "--handle", "compacted.jsonl", "compacted.jsonl --handle 00000000"),
    ("restore", "--to", "compacted.jsonl", "compacted.jsonl --to anthropic"),
    ("restore", "--output", "compacted.jsonl", "compacted.jsonl -o out.jsonl"),
    (
        "restore",
        "--force",
        "compacted.jsonl --to anthropic -o compacted.jsonl",
        "compacted.jsonl --to anthropic -o compacted.jsonl --force",
    ),
    ("restore", "--from", "compacted.jsonl", "compacted.jsonl --from codex-rollout"),
    ("restore", "--session", "compacted.jsonl", "compacted.jsonl --session 7"),
    ("restore", "--quiet", "compacted.jsonl -o out.jsonl", "compacted.jsonl -o out.jsonl --quiet"),
    ("strategies", "--config", "", "--config c.toml"),
    ("strategies", "--json", "", "--json"),
    ("brief", "--from", "chat.json", "chat.json --from claude-code"),
    ("brief", "--session", "all.jsonl --session 0", "all.jsonl --session 1"),
    ("brief", "--tokens", "work.jsonl --tokens 6k", "work.jsonl --tokens 3k"),
    ("brief", "--quiet", "torn.jsonl", "torn.jsonl --quiet"),
    ("init", "--output", "", "-o other.toml"),
    ("init", "--force", "-o c.toml", "-o c.toml --force"),
    ("eval", "--format", "work.jsonl -m baseline:newest -b 0.3", "work.jsonl -m baseline:newest -b 0.3 --format pi"),
    (
        "eval",
        "--task",
        "work.jsonl -m baseline:newest -b 0.3",
        "work.jsonl -m baseline:newest -b 0.3 --task conversation",
    ),
    ("replay", "--format", "work.jsonl", "work.jsonl --format pi"),
    ("replay", "--only", "work.jsonl", "work.jsonl --only other*"),
];

/// An option that acts where one run of the command does not show it: the file and the test that do.
type Elsewhere = (&'static str, &'static str, &'static str, &'static str);

const MODEL: &str = "crates/cli/tests/it/model.rs";
const MOVING: &str = "crates/cli/tests/it/moving.rs";
const THIS: &str = "crates/cli/tests/it/options.rs";
const BENCH: &str = "crates/cli/tests/it/bench.rs";
const BENCH_MODEL: &str = "crates/cli/tests/it/bench_model.rs";
const EVAL: &str = "crates/cli/tests/it/eval.rs";
const EVAL_SUBJECTS: &str = "crates/cli/tests/it/eval_subjects.rs";
const REPLAY: &str = "crates/cli/tests/it/replay.rs";
const TUNES: &str = "tuning_writes_a_configuration";
const SERVE: &str = "crates/cli/tests/it/serve.rs";
const CUSTOM: &str = "tests/custom.rs";

const ELSEWHERE: &[Elsewhere] = &[
    ("move", "--to", MOVING, "a_session_goes_on_in_every_other_agent"),
    ("move", "--cwd", MOVING, "a_session_goes_on_in_every_other_agent"),
    ("move", "--budget", MOVING, "a_moved_session_is_compacted_to_the_budget"),
    ("move", "--dry-run", MOVING, "what_is_shown_first_and_what_is_refused"),
    ("move", "--strict", MOVING, "what_is_shown_first_and_what_is_refused"),
    ("move", "--output", MOVING, "a_file_can_be_named"),
    ("move", "--session", MOVING, "a_session_is_read_and_compacted_as_is_asked"),
    ("move", "--from", MOVING, "a_session_is_read_and_compacted_as_is_asked"),
    ("move", "--config", MOVING, "a_session_is_read_and_compacted_as_is_asked"),
    ("move", "--agent", MOVING, "a_session_is_read_and_compacted_as_is_asked"),
    ("move", "--quiet", MOVING, "a_session_is_read_and_compacted_as_is_asked"),
    ("compact", "--keep", "crates/cli/tests/it/by_hand.rs", "a_range_says_what_stays_and_why"),
    ("compact", "--drop", "crates/cli/tests/it/by_hand.rs", "a_range_says_what_stays_and_why"),
    ("watch", "--once", "crates/cli/tests/it/watch.rs", "once_shows_it_and_ends"),
    ("watch", "--quiet", "crates/cli/tests/it/watch.rs", "quiet_waits_without_words"),
    ("count", "--counter", "crates/cli/tests/it/count.rs", "a_text_and_messages_are_counted"),
    ("compact", "--channel", MODEL, "channels_models_and_agents_are_chosen_by_name"),
    ("compact", "--model", MODEL, "channels_models_and_agents_are_chosen_by_name"),
    ("compact", "--model-url", MODEL, "a_model_writes_without_any_configuration"),
    ("compact", "--model-kind", THIS, "a_model_without_a_configuration_is_asked_as_its_options_say"),
    ("compact", "--model-window", THIS, "a_model_without_a_configuration_is_asked_as_its_options_say"),
    ("compact", "--key-variable", MODEL, "keys_come_from_the_environment_and_never_show"),
    ("bench", "--methods", BENCH, "a_page_is_written"),
    ("bench", "--command", BENCH, "another_compactor_is_a_command"),
    ("bench", "--command-timeout", EVAL, "another_compactor_is_a_command"),
    ("bench", "--prices", BENCH_MODEL, "what_the_summaries_cost_is_told"),
    ("bench", "--model", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("bench", "--model-url", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("bench", "--model-kind", BENCH_MODEL, "a_model_of_another_service_is_asked_as_its_options_say"),
    ("bench", "--model-window", BENCH_MODEL, "a_model_of_another_service_is_asked_as_its_options_say"),
    ("bench", "--key-variable", BENCH_MODEL, "a_service_that_will_not_answer_is_told_before_anything_is_measured"),
    ("bench", "--model-cache", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("eval", "--prices", BENCH_MODEL, "what_the_summaries_cost_is_told"),
    ("eval", "--model", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("eval", "--model-url", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("eval", "--model-kind", BENCH_MODEL, "a_model_of_another_service_is_asked_as_its_options_say"),
    ("eval", "--model-window", BENCH_MODEL, "a_model_of_another_service_is_asked_as_its_options_say"),
    ("eval", "--key-variable", BENCH_MODEL, "a_service_that_will_not_answer_is_told_before_anything_is_measured"),
    ("eval", "--model-cache", BENCH_MODEL, "a_model_is_measured_beside_the_methods"),
    ("fit", "--plugin", FIT, "what_was_decided_for_a_plugin_outlives_the_process"),
    ("bench", "--html", BENCH, "a_page_is_written"),
    ("bench", "--json", BENCH, "counts_are_the_same_each_time"),
    ("eval", "--methods", EVAL, "settings_are_set"),
    ("eval", "--command", EVAL, "another_compactor_is_a_command"),
    ("eval", "--command-timeout", EVAL, "another_compactor_is_a_command"),
    ("eval", "--budgets", EVAL, "settings_are_set"),
    ("eval", "--what", EVAL_SUBJECTS, "recorded_summaries"),
    ("mcp", "--beside", MCP, "beside_an_agent"),
    ("mcp", "--needs", MCP, "an_agent_without_the_service_that_it_needs"),
    (
        "restore",
        "--at",
        "crates/cli/tests/it/history.rs",
        "what_left_is_found_by_its_place_in_a_session_that_is_too_long_to_be_searched",
    ),
    ("brief", "--config", FIT, "a_configuration_counts"),
    ("fit", "--stdio", FIT, "calls_that_fail"),
    ("fit", "--config", FIT, "a_configuration_counts"),
    ("fit", "--agent", FIT, "a_configuration_counts"),
    ("setup", "--undo", SETUP, "every_agent_in_a_fresh_home_and_back"),
    ("setup", "--dry-run", SETUP, "every_agent_in_a_fresh_home_and_back"),
    ("setup", "--yes", SETUP, "every_agent_in_a_fresh_home_and_back"),
    ("setup", "--scope", SETUP, "every_agent_in_a_fresh_home_and_back"),
    ("setup", "--model-summary", SETUP, "an_option_that_changes_later"),
    ("setup", "--service", SETUP, "another_address_takes_the_place_of_the_earlier"),
    ("setup", "--quiet", SETUP, "an_option_that_changes_later"),
    ("mcp", "--session", MCP, "what_cannot_be_served"),
    ("mcp", "--from", MCP, "what_cannot_be_served"),
    ("mcp", "--store", MCP, "what_cannot_be_served"),
    ("mcp", "--store-variable", MCP, "what_cannot_be_served"),
    ("mcp", "--url", MCP, "what_cannot_be_served"),
    ("mcp", "--token-variable", MCP, "what_cannot_be_served"),
    ("mcp", "--config", MCP, "what_cannot_be_served"),
    ("mcp", "--agent", MCP, "what_cannot_be_served"),
    ("eval", "--compare", EVAL, "tables_by_kind_are_printed"),
    ("eval", "--by", EVAL, "tables_by_kind_are_printed"),
    ("eval", "--cut", EVAL, "rows_and_other_files_are_not_lost"),
    ("eval", "--min-tokens", EVAL, "settings_are_set"),
    ("eval", "--min-calls", EVAL, "settings_are_set"),
    ("eval", "--min-needed", EVAL, "settings_are_set"),
    ("eval", "--only", EVAL, "what_is_wrong_is_told"),
    ("eval", "--sample", EVAL_SUBJECTS, "a_larger_sample_holds_the_smaller_one"),
    ("eval", "--seed", EVAL_SUBJECTS, "a_larger_sample_holds_the_smaller_one"),
    ("eval", "--reasoning", EVAL_SUBJECTS, "reasoning_is_left_where_it_is_asked_for"),
    ("mcp", "--tenant", MCP, "a_tenants_session_in_a_store"),
    ("serve", "--agent", SERVE, "an_agents_settings_count"),
    ("serve", "--archive-size", SERVE, "what_left_is_kept_up_to_a_size"),
    ("eval", "--left-out", EVAL, "what_is_left_out_is_told"),
    ("tune", "--left-out", REPLAY, "too_few_sessions_are_refused"),
    ("eval", "--jsonl", EVAL, "cases_are_written"),
    ("eval", "--html", EVAL, "cases_are_written"),
    ("eval", "--json", EVAL, "tables_by_kind_are_printed"),
    ("replay", "--policies", REPLAY, "a_session_is_replayed"),
    ("replay", "--window", REPLAY, "every_compaction_has_a_line"),
    ("replay", "--model", REPLAY, "prices_of_ones_own"),
    ("replay", "--prices", REPLAY, "prices_of_ones_own"),
    ("replay", "--min-tokens", REPLAY, "what_is_wrong_is_told"),
    ("replay", "--timeline", REPLAY, "every_compaction_has_a_line"),
    ("replay", "--json", REPLAY, "lines_hold_sessions_and_totals"),
    ("tune", "--verify", REPLAY, TUNES),
    ("tune", "--strategies", REPLAY, TUNES),
    ("tune", "--budgets", REPLAY, TUNES),
    ("tune", "--trials", REPLAY, TUNES),
    ("tune", "--min-tokens", REPLAY, TUNES),
    ("tune", "--min-calls", REPLAY, TUNES),
    ("tune", "--min-needed", REPLAY, TUNES),
    ("tune", "--settings", REPLAY, "what_is_wrong_is_told"),
    ("tune", "--weights", REPLAY, "what_is_wrong_is_told"),
    ("serve", "--listen", SERVE, "what_it_does_not_start_with"),
    ("serve", "--config", SERVE, "a_failure_is_logged_and_told_without_the_operators_address"),
    ("serve", "--store", SERVE, "where_sessions_are_kept"),
    ("serve", "--store-variable", SERVE, "what_it_does_not_start_with"),
    ("serve", "--token-file", SERVE, "it_answers_proxies_and_stops"),
    ("serve", "--token-variable", SERVE, "what_it_does_not_start_with"),
    ("serve", "--item-key-variable", SERVE, "what_it_does_not_start_with"),
    ("serve", "--item-key-file", SERVE, "what_it_does_not_start_with"),
    ("serve", "--upstream", SERVE, "it_answers_proxies_and_stops"),
    ("serve", "--channel-host", SERVE, "what_it_does_not_start_with"),
    ("serve", "--log", SERVE, "a_failure_is_logged_and_told_without_the_operators_address"),
    ("serve", "--max-body", SERVE, "what_it_does_not_start_with"),
    ("serve", "--requests-per-minute", "crates/cli/tests/it/serve_killed.rs", "a_killed_service_leaves_sessions_whole"),
    ("init", "--strategy", CUSTOM, "the_skeleton_compiles_and_its_tests_pass"),
    ("init", "--dir", CUSTOM, "the_skeleton_compiles_and_its_tests_pass"),
    ("init", "--epitome", CUSTOM, "the_skeleton_compiles_and_its_tests_pass"),
];

/// Options whose effect is that of a limit or of a filter of the library below, with the test of that: it names no option.
/// A command, an option, the file, the test, and what stands in it for the option.
type Below = (&'static str, &'static str, &'static str, &'static str, &'static str);

const BELOW: &[Below] = &[
    ("tune", "--output", REPLAY, TUNES, "-o one.toml"),
    (
        "tune",
        "--seed",
        "crates/eval/src/tune/search_tests.rs",
        "halves_hold_each_kind_in_equal_parts",
        "another seed, another split",
    ),
    (
        "serve",
        "--work-timeout",
        FAULTS,
        "a_compaction_that_takes_too_long_does_not_hold_the_request_up",
        "work_timeout",
    ),
    ("serve", "--upstream-timeout", FAULTS, "a_provider_that_is_down_slow_or_breaks_off", "upstream_timeout"),
    ("mcp", "--listen", "crates/mcp/tests/served.rs", "over_http_too_and_for_this_machine_only", "http"),
    ("serve", "--max-parts", HOSTILE, "more_parts_than_a_request_may_have", "parts"),
    ("serve", "--max-connections", HOSTILE, "health_is_answered_where_all_connections_are_taken", "connections: 1"),
    (
        "serve",
        "--max-connections-per-address",
        HOSTILE,
        "health_is_answered_where_all_connections_are_taken",
        "connections_per_address: 1",
    ),
    ("serve", "--body-timeout", HOSTILE, "uploads_that_stop_coming", "body_timeout"),
    (
        "serve",
        "--rate-scope",
        "crates/server/tests/it/instances_rates.rs",
        "a_full_bucket_is_one_for_all",
        "RateScope::Instance",
    ),
    ("serve", "--write-timeout", HOSTILE, "answers_that_nobody_takes", "write_timeout"),
    ("serve", "--max-sessions", FAULTS, "many_conversations_are_remembered_within_bounds", "sessions: 2"),
    ("serve", "--workers", "crates/server/tests/it/sessions_turns.rs", "other_sessions_go_on", "workers: 1"),
    ("serve", "--max-concurrent", "crates/server/tests/it/limits.rs", "more_than_it_takes_at_once", "concurrent: 1"),
];

const HOSTILE: &str = "crates/server/tests/it/hostile.rs";
const FIT: &str = "crates/cli/tests/it/fit.rs";
const SETUP: &str = "crates/cli/tests/it/setup.rs";
const MCP: &str = "crates/cli/tests/it/mcp.rs";
const FAULTS: &str = "crates/server/tests/it/proxy_faults.rs";

/// Options that say nothing on commands that have nothing to be quiet about.
const QUIET_WITHOUT_WORDS: [&str; 13] = [
    "bench",
    "count",
    "mcp",
    "fit",
    "hook",
    "statusline",
    "strategies",
    "init",
    "completions",
    "serve",
    "eval",
    "replay",
    "tune",
];

fn place() -> Place {
    let place = Place::with("chat.json", chat());
    place.file("all.jsonl", several());
    place.file("work.jsonl", example("session.jsonl"));
    let lines = [
        r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Hello"}}"#,
        r#"{"type":"user","uuid":"u2","sessi"#,
        r#"{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"Again"}}"#,
    ];
    place.file("torn.jsonl", lines.join("\n"));
    place.file(
        "c.toml",
        "[budget]\nwindow = 60_000\n[chains]\ncode = [\"tool-results\", \"sliding-window\"]\nunknown = [\"sliding-window\"]\n\
         [agents.a]\nwindow = 20_000\n[strategies.mine]\ncommand = [\"true\"]\n",
    );
    let ran = place.run("compact work.jsonl -b 20000 -o compacted.jsonl -q");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    place
}

/// Everything that a run leaves, without how long it took.
fn left(command: &str, line: &str, at: &BTreeMap<String, Vec<u8>>) -> String {
    let place = Place::new();
    at.iter().for_each(|(name, bytes)| place.file(name, bytes));
    let ran = place.run(&format!("{command} {line}"));
    let files: Vec<String> = place
        .files()
        .iter()
        .filter(|name| place.path(name).is_file())
        .map(|name| format!("{name}: {}", without_times(&String::from_utf8_lossy(&place.read(name)))))
        .collect();
    format!("{}\n{}\n{}\n{files:?}", ran.code, without_times(ran.text()), without_times(&ran.stderr))
}

/// A text without figures, which tell the time and differ from run to run, and without the spaces that depend on them.
fn without_times(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || matches!(char, ',' | ';' | '}'));
    let is_kept = |word: &&str| {
        let is_figure = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        !is_figure && !matches!(*word, "ms" | "µs" | "s") && !word.contains("_us\":") && !word.contains("uuid")
    };
    words.filter(is_kept).collect::<Vec<_>>().join(" ")
}

#[test]
fn two_runs_that_differ_in_an_option_differ() {
    let place = place();
    let files: BTreeMap<String, Vec<u8>> = place
        .files()
        .into_iter()
        .filter(|name| place.path(name).is_file())
        .map(|name| (name.clone(), place.read(&name)))
        .collect();
    let mut dead = Vec::new();
    for (command, option, without, with) in PAIRS {
        if left(command, without, &files) == left(command, with, &files) {
            dead.push(format!("{command} {option}"));
        }
    }
    assert_eq!(dead, Vec::<String>::new(), "nothing changes with these options");
    // What differs by itself would hide an option that does nothing.
    for line in ["chat.json -b 400 --report r.json", "work.jsonl -b 20k --chain summary"] {
        assert_eq!(left("compact", line, &files), left("compact", line, &files), "{line}");
    }
}

#[test]
fn every_option_is_in_a_table() {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The page has every command, those that the help does not list among them: a test of the crate prints its tables.
    let page = std::fs::read_to_string(root.join("docs/command-line.md")).unwrap();
    let overview = page.split("<!-- printed: end -->").next().unwrap();
    let rows = overview.lines().filter(|line| line.starts_with("| "));
    let commands: Vec<&str> = rows.filter_map(|row| row.rsplit_once("`epitome ")?.1.split('`').next()).collect();
    assert!(commands.contains(&"compact") && commands.contains(&"hook"), "{commands:?}");
    let mut missing = Vec::new();
    for command in commands {
        let help = place.run(&format!("{command} --help"));
        let help = help.text();
        let option = |line: &str| {
            let line = line.trim_start();
            let long = line.strip_prefix('-').map(|_| line.split_whitespace().find(|word| word.starts_with("--")))?;
            Some(long?.trim_end_matches(',').to_owned())
        };
        for option in help.lines().filter_map(option) {
            let is_quiet = option == "--quiet" && QUIET_WITHOUT_WORDS.contains(&command);
            let is_paired = PAIRS.iter().any(|pair| (pair.0, pair.1) == (command, &*option));
            let is_below = BELOW.iter().any(|below| (below.0, below.1) == (command, &*option));
            let elsewhere = ELSEWHERE.iter().find(|it| (it.0, it.1) == (command, &*option));
            if let Some((_, _, file, test)) = elsewhere {
                let source = std::fs::read_to_string(root.join(file)).unwrap();
                assert!(body(&source, test).contains(&option), "{file}: {test} does not use {option}");
            } else if !is_paired && !is_quiet && !is_below && option != "--help" {
                missing.push(format!("{command} {option}"));
            }
        }
    }
    for (command, option, file, test, what) in BELOW {
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(body(&source, test).contains(what), "{command} {option}: {file}: {test} says nothing of {what}");
    }
    assert_eq!(missing, Vec::<String>::new(), "no test shows what these options do");
}

/// The text of a test, to the brace that ends it.
fn body<'s>(source: &'s str, test: &str) -> &'s str {
    let from = source.split_once(&format!("fn {test}(")).map_or("", |(_, from)| from);
    from.split("\n}\n").next().unwrap_or(from)
}

#[test]
fn a_model_without_a_configuration_is_asked_as_its_options_say() {
    let asked = |options: &str| {
        let answer = json!({"choices": [], "content": []});
        let server = ScriptedServer::start(vec![ScriptedAnswer::json(200, answer)]);
        let place = Place::with("work.jsonl", example("session.jsonl"));
        let url = server.url();
        let line = format!("compact work.jsonl -b 20k --chain summary --model-url {url} --model m {options} -q");
        assert_eq!(place.run(&line).code, 0, "the rules step in");
        let requests = server.requests();
        (requests[0].path.clone(), requests[0].body.len())
    };
    let (path, bytes) = asked("--model-kind openai");
    assert!(path.ends_with("/chat/completions"), "{path}");
    let (path, _) = asked("--model-kind anthropic");
    assert!(path.ends_with("/messages"), "{path}");
    let (_, fewer) = asked("--model-window 4000");
    assert!(fewer < bytes, "what is sent fits the window: {fewer} and {bytes} bytes");
}
