use super::*;

/// The kinds of a text's lines, one letter each: `.` outside, `F` file, `@` hunk, `+`, `-`, ` ` context; `none` when the
/// text holds no diff; then the paths.
fn check(text: &str, expect: &str) {
    let shown = match Diff::parse(text) {
        None => "none".to_owned(),
        Some(diff) => {
            let covered: String = diff.lines.iter().map(|line| &text[line.range.clone()]).collect();
            assert_eq!(covered, text, "the lines cover the text");
            let letter = |line: &Line| match line.kind {
                LineKind::Outside => '.',
                LineKind::File => 'F',
                LineKind::Hunk => '@',
                LineKind::Added => '+',
                LineKind::Removed => '-',
                LineKind::Context => ' ',
            };
            let kinds: String = diff.lines.iter().map(letter).collect();
            format!("{kinds}|{}", diff.paths.join(","))
        }
    };
    assert_eq!(shown, expect, "{text}");
}

#[test]
fn git_diffs() {
    check(
        "commit 1\n\n    message\n\ndiff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@ fn f()\n a\n-b\n+c\n",
        "....FFFF@ -+|x.rs",
    );
    check("diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "FFF@-+|x");
    check(
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\ndone",
        "FFF@- + .|x",
    );
    check(
        "diff --git a/old b/new\nsimilarity index 98%\nrename from old\nrename to new\ndiff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n",
        "FFFFFF|new,p.png",
    );
}

#[test]
fn lines_that_look_like_headers() {
    // A removed SQL comment, and an added line that starts with pluses.
    check("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- old comment\n-+++ b\n++++ new\n+b\n", "FF@--++|x.sql");
    check("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- c\n+++ d\n@@ -1 +1 @@\n-x\n+y\n", "FF@-+FF@-+|b,d");
}

#[test]
fn diffs_without_counts_and_cut_off() {
    check("--- a\n+++ b\n@@ -1,9 +1,9 @@\n x\n-y\nthe end", "FF@ -.|b");
    check("@@\n-x\n+y\n\nand so on", "@-+ .|");
}

#[test]
fn combined_diffs() {
    check("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n++b\n -c\n", "FFFF@ +-|x");
}

#[test]
fn patches() {
    check(
        "Apply:\n*** Begin Patch\n*** Update File: a.rs\n@@ fn f\n x\n-y\n+z\n*** Add File: b.rs\n+new\n*** End Patch\nbye",
        ".FF@ -+F+F.|a.rs,b.rs",
    );
}

#[test]
fn texts_without_a_diff() {
    check("", "none");
    check("# title\n\n---\n\n- one\n- two\n+ three\n", "none");
    check("a @@ b\n@@variable = 1\n@@ not a hunk @@\n", "none");
}
