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
    case("").target(50_000).expect("declined: the goal is met");
    let prose = "user: go\nassistant: - a list … x2000 lines\nuser: on";
    PlanCase::new::<DiffTruncation>(prose, "").expect("declined: no diff takes more than 400 tokens");
}
