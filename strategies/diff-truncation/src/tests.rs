#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use epitome_testkit::PlanCase;

/// A commit that changes a source file, a lock file and renames a picture.
const COMMIT: &str = "
user: review the last commit
call Bash c1 {\"command\":\"git show\"}
result c1:
  commit 4f1c
      make the lexer fallible
  diff --git a/Cargo.lock b/Cargo.lock
  --- a/Cargo.lock
  +++ b/Cargo.lock
  @@ -1,60 +1,60 @@
  -version = {n} … x60 lines
  +version = {n} … x60 lines
  diff --git a/src/lexer.rs b/src/lexer.rs
  --- a/src/lexer.rs
  +++ b/src/lexer.rs
  @@ -1,43 +1,44 @@ impl Lexer {
   context {n} … x20 lines
  -    let old = {n}; … x2 lines
  +    let new = {n}; … x2 lines
  +    fn next(&mut self) -> Option<Token> {
   context {n} … x20 lines
  -    }
  +    }
  diff --git a/old.png b/new.png
  similarity index 100%
  rename from old.png
  rename to new.png
user: on
";

fn check(settings: &str, target: Tokens, expect: &str) {
    let planned = PlanCase::new::<DiffTruncation>(COMMIT, settings).target(target).window(1000).run();
    let kept = match &planned.plan.edits[..] {
        [Edit::Excerpt { message, block, keep, reason }] => {
            let session = epitome_testkit::session(COMMIT);
            let block = &session.view()[*message as usize].message.blocks[*block as usize];
            let text = block.excerptable().map_or("", AsRef::as_ref);
            let pieces = keep.iter().map(|range| text[range.start as usize..range.end as usize].trim_end());
            let pieces = pieces.collect::<Vec<_>>().join("\n…\n");
            assert!(planned.after <= target.max(1), "{} is over {target}", planned.after);
            format!("{pieces}\n{}", reason.detail)
        }
        _ => planned.text,
    };
    let expect: Vec<&str> = expect.lines().map(|line| line.strip_prefix("        ").unwrap_or(line)).collect();
    assert_eq!(kept.lines().collect::<Vec<_>>(), expect, "\n{kept}\n");
}

#[test]
fn headers_stay_and_changes_that_matter_go_first() {
    check(
        "min_tokens=160",
        230,
        "\
        commit 4f1c
            make the lexer fallible
        diff --git a/Cargo.lock b/Cargo.lock
        --- a/Cargo.lock
        +++ b/Cargo.lock
        @@ -1,60 +1,60 @@
        …
        diff --git a/src/lexer.rs b/src/lexer.rs
        --- a/src/lexer.rs
        +++ b/src/lexer.rs
        @@ -1,43 +1,44 @@ impl Lexer {
         context 1
         context 2
         context 3
         context 4
         context 5
         context 6
         context 7
         context 8
         context 9
         context 10
        …
         context 20
        -    let old = 1;
        -    let old = 2;
        +    let new = 1;
        +    let new = 2;
        +    fn next(&mut self) -> Option<Token> {
         context 1
        …
         context 20
        -    }
        +    }
        diff --git a/old.png b/new.png
        similarity index 100%
        rename from old.png
        rename to new.png
        3 files, +64 −63 lines; kept +4 −3; 647 tokens cut to 199",
    );
}

/// A diff of `files` files, each with its row in the `--stat`; the fifth of them defines something.
fn many_files(files: usize) -> String {
    let mut lines: Vec<String> = (1..=files).map(|file| format!(" src/part_{file}.rs | 2 +-")).collect();
    lines.push(format!(" {files} files changed, {files} insertions(+), {files} deletions(-)"));
    for file in 1..=files {
        let new = if file == 5 { "fn five() {}".to_owned() } else { format!("let new_{file} = 1;") };
        lines.extend([
            format!("diff --git a/src/part_{file}.rs b/src/part_{file}.rs"),
            format!("index 1f{file}..2f{file} 100644"),
            format!("--- a/src/part_{file}.rs"),
            format!("+++ b/src/part_{file}.rs"),
            format!("@@ -10,3 +10,3 @@ impl Part{file} {{"),
            "     let before = 0;".to_owned(),
            format!("-let old_{file} = 1;"),
            format!("+{new}"),
            "     let after = 0;".to_owned(),
        ]);
    }
    lines.join("\n  ")
}

/// What stays of a diff of `files` files in about `room` tokens: its lines that say `expect`.
fn check_many(files: usize, room: Tokens, expect: &str) {
    let session = format!(
        "\nuser: look\ncall Bash c1 {{\"command\":\"git diff\"}}\nresult c1:\n  {}\nuser: on\n",
        many_files(files)
    );
    let settings = format!("min_tokens={room}");
    let planned = PlanCase::new::<DiffTruncation>(&session, &settings).target(room).window(100).run();
    let [Edit::Excerpt { message, block, keep, .. }] = &planned.plan.edits[..] else { panic!("{}", planned.text) };
    let session = epitome_testkit::session(&session);
    let text = session.view()[*message as usize].message.blocks[*block as usize].excerptable().unwrap().to_string();
    let kept: String = keep.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
    let (mut names, mut changes, mut stray, mut last) = (0, 0, 0, String::new());
    for line in kept.lines() {
        if let Some((_, path)) = line.split_once(" b/src/part_") {
            (names, last) = (names + 1, path.trim_end_matches(".rs").to_owned());
        } else if line.starts_with("+let ") || line.starts_with("-let ") {
            changes += 1;
            stray += usize::from(!line.contains(&format!("_{last} ")));
        }
    }
    let has = |what: &str| if kept.contains(what) { "yes" } else { "no" };
    let found = format!(
        "names {}, changes {}, stray {stray}, definition {}, total {}, stat rows {}, index {}",
        if names == files { "all" } else { "some" },
        if changes > 5 { "some" } else { "none" },
        has("+fn five"),
        has("files changed"),
        if kept.matches(" | 2").count() < 4 { "few" } else { "many" },
        has("index ")
    );
    assert_eq!(found, expect, "{kept}");
}

#[test]
fn headers_leave_room_for_changes() {
    // The names fit into half of the room, the hunk headers do not.
    check_many(20, 1_000, "names all, changes some, stray 0, definition yes, total yes, stat rows few, index no");
    // Not even the names do.
    check_many(80, 900, "names some, changes some, stray 0, definition yes, total yes, stat rows few, index no");
    check_many(400, 600, "names some, changes some, stray 0, definition yes, total yes, stat rows few, index no");
}

#[test]
fn a_diff_is_cut_no_further_than_the_goal_needs() {
    let planned = PlanCase::new::<DiffTruncation>(COMMIT, "min_tokens=160").target(700).window(1000).run();
    assert!(planned.after <= 700 && planned.after > 600, "{}", planned.after);
}

#[test]
fn what_is_left_alone() {
    let case = |settings| PlanCase::new::<DiffTruncation>(COMMIT, settings);
    case("").window(100_000).expect("declined: no diff takes more than 10000 tokens");
    case("max_share=0.0 min_tokens=5000").expect("declined: no diff takes more than 5000 tokens");
    let prose = "user: go\nassistant: - a list … x2000 lines\nuser: on";
    PlanCase::new::<DiffTruncation>(prose, "").expect("declined: no diff takes more than 400 tokens");
}
