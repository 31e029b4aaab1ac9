#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn cues_are_found() {
    let check = |text: &str, expect: &[(Cue, &str)]| {
        let found: Vec<(Cue, &str)> =
            Lexicon::shipped().find(text).map(|found| (found.cue, &text[found.range])).collect();
        assert_eq!(found, expect, "{text}");
    };
    check("We DECIDED to wait.", &[(Cue::Decision, "DECIDED")]);
    check("undecided", &[]);
    check("max_error", &[]);
    check("an important errand", &[(Cue::Important, "important")]);
    check("resolved", &[(Cue::Completion, "resolved"), (Cue::Fix, "resolved")]);
    check("我们决定改天", &[(Cue::Decision, "决定")]);
    check("必须用第二种", &[(Cue::Instruction, "必须")]);
    check("a KeyError there", &[(Cue::Error, "KeyError")]);
    check("you must not push", &[(Cue::Instruction, "must not")]);
    check("- [ ] buy milk", &[(Cue::Plan, "- [ ]")]);
}

#[test]
fn words_can_be_added() {
    let more = BTreeMap::from([(Cue::Decision, vec!["beschlossen".to_owned(), r"/ADR-\d+/".to_owned()])]);
    let lexicon = Lexicon::extended(&more).unwrap();
    assert_eq!(lexicon.counts("Beschlossen in ADR-12, decided in ADR-13").of(Cue::Decision), 4);
    assert!(lexicon.words(Cue::Decision).any(|word| word == "beschlossen"));
    for bad in ["", "  ", "/(/", "/x*/", r"/\b/", "/(?P<a>x)/"] {
        let more = BTreeMap::from([(Cue::Error, vec![bad.to_owned()])]);
        assert!(Lexicon::extended(&more).is_err(), "{bad:?}");
    }
}

#[test]
fn every_cue_speaks_both_languages() {
    for (cue, name) in Cue::ALL {
        assert_eq!((cue.as_str(), Cue::by_name(name)), (name, Some(cue)));
        let words: Vec<&str> = Lexicon::shipped().words(cue).collect();
        assert!(words.iter().any(|word| word.is_ascii()), "{name} has no English word");
        assert!(words.iter().any(|word| word.chars().any(crate::text::is_cjk)), "{name} has no Chinese word");
    }
}
