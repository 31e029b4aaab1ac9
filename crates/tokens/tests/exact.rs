//! The exact counters against `tiktoken-rs`, a port of OpenAI's own code that is known to agree with it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fmt::Arguments;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs, io};

use epitome_strategy::{TokenCounter, Tokens};
use epitome_tokens::ExactCounter;
use proptest::prelude::*;
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

static REFERENCES: LazyLock<[(ExactCounter, CoreBPE); 2]> = LazyLock::new(|| {
    [(ExactCounter::O200kBase, o200k_base().unwrap()), (ExactCounter::Cl100kBase, cl100k_base().unwrap())]
});

#[track_caller]
fn check(text: &str) {
    for (counter, reference) in &*REFERENCES {
        let expected = reference.encode_ordinary(text).len() as Tokens;
        assert_eq!(counter.count(text), expected, "{} of {:?}", counter.name(), text.get(..500).unwrap_or(text));
    }
}

/// Texts whose pieces are easy to cut wrongly.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,12}",
        2 => "[A-Z]{1,6}[a-z]{0,6}",
        2 => "[ \t]{1,5}",
        2 => "[ \t\r\n\u{b}\u{c}\u{85}\u{a0}\u{2028}\u{3000}]{1,6}",
        3 => "'(s|S|ſ|t|T|re|rE|Ve|VE|m|M|ll|lL|LL|d|D|l|r|v|x|’s)",
        2 => "[!-/:-@\\[-`{-~]{1,6}",
        1 => "[/\r\n]{1,5}",
        2 => "[0-9]{1,9}",
        1 => "[\\p{N}]{1,5}",
        1 => "[\\p{Lu}\\p{Lt}]{1,4}",
        1 => "[\\p{Ll}]{1,4}",
        1 => "[\\p{Lm}\\p{Lo}]{1,4}",
        2 => "[\u{300}-\u{36f}\u{20dd}\u{93e}]{1,3}",
        2 => "[一-龥]{1,40}",
        1 => "[ぁ-んァ-ヶー]{1,9}",
        1 => "[가-힣]{1,9}",
        1 => "[а-яА-Я]{1,9}",
        1 => "[א-ת]{1,5}[\u{5b0}-\u{5bd}]{0,2}",
        1 => "[ا-ي٠-٩]{1,6}",
        1 => "[ก-๛]{1,9}",
        1 => "[अ-ह\u{93e}-\u{94d}]{1,6}",
        2 => "(😀|👩‍👩‍👧|🇫🇷|👍🏽|❤️|✨){1,4}",
        1 => "(<\\|endoftext\\|>|<\\|fim_prefix\\|>|<\\|endofprompt\\|>)",
        1 => "\\{\"[a-z_]{1,8}\": (null|true|-?[0-9]{1,4}\\.[0-9]{1,3}|\"[a-z\\\\n]{0,8}\")\\},?",
        1 => "    (let|fn|self\\.|impl|return)[ (;]",
        1 => "[A-Za-z0-9+/]{20,90}={0,2}",
        1 => "\\PC{1,6}",
    ]
}

/// At least 3000 cases; more by the variable `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(3000), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn short_texts_count_as_the_reference(fragments in prop::collection::vec(fragment(), 1..8)) {
        check(&fragments.concat());
    }

    #[test]
    fn any_characters_count_as_the_reference(text in any::<String>()) {
        check(&text);
    }
}

#[test]
fn long_pieces_count_as_the_reference() {
    let base64: String = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg".repeat(3000);
    let mut state = 1_u32;
    let mut letters = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    let random: String = (0..200_000).map(|_| letters()).collect();
    check(&base64);
    check(&random);
    for unit in [
        "a",
        "A",
        " ",
        "\n",
        "\r\n",
        "\t",
        "=",
        "-",
        "0",
        "'",
        "'s",
        "😀",
        "日",
        "日本語の",
        "é",
        "e\u{301}",
        "\u{301}",
        "aA",
        "ab ",
    ] {
        check(&unit.repeat(200_000 / unit.len()));
    }
    // Around the longest token and the longest piece that is merged by scanning.
    for length in (1..20).chain(120..140).chain(250..260) {
        for unit in ["a", " ", "=", "\n", "é", "日", "xq"] {
            check(&unit.repeat(length));
            check(&random[..length]);
        }
    }
}

#[test]
fn sessions_count_as_the_reference() {
    const N_FILES: usize = 12;
    const MAX_BYTES: usize = 400_000;

    let folder = env::var_os("EPITOME_SESSIONS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/dev"), PathBuf::from);
    let Ok(formats) = fs::read_dir(&folder) else {
        note(format_args!("SKIPPED: no session files at {}; set EPITOME_SESSIONS to their folder", folder.display()));
        return;
    };
    // One file of each format.
    let mut formats: Vec<_> = formats.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    formats.sort();
    let mut n_checked = 0;
    for format in formats.into_iter().take(N_FILES) {
        let mut files: Vec<_> = fs::read_dir(format).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        if let Some(path) = files.iter().find(|path| path.extension().is_some_and(|extension| extension == "gz")) {
            let mut text = Vec::new();
            let file = io::BufReader::new(fs::File::open(path).unwrap());
            io::copy(&mut io::Read::take(flate2::read::MultiGzDecoder::new(file), MAX_BYTES as u64), &mut text)
                .unwrap();
            check(&String::from_utf8_lossy(&text));
            n_checked += 1;
        }
    }
    assert!(n_checked > 0, "no session files at {}", folder.display());
    note(format_args!("{n_checked} session files of {} counted as the reference counts them", folder.display()));
}

/// Writes to the terminal even where the test harness keeps the output of tests that pass.
#[expect(clippy::explicit_write, reason = "`eprintln!` is captured")]
fn note(text: Arguments<'_>) {
    writeln!(io::stderr(), "{text}").unwrap();
}
