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
}

#[test]
fn words_can_be_added() {
    let more = BTreeMap::from([(Cue::Decision, vec!["beschlossen".to_owned(), r"/ADR-\d+/".to_owned()])]);
    let lexicon = Lexicon::extended(&more).unwrap();
    assert_eq!(lexicon.counts("Beschlossen in ADR-12, decided in ADR-13").count(Cue::Decision), 4);
    assert!(lexicon.words(Cue::Decision).any(|word| word == "beschlossen"));
    for bad in ["", "  ", "/(/", "/x*/", r"/\b/", "/(?P<a>x)/"] {
        let more = BTreeMap::from([(Cue::Error, vec![bad.to_owned()])]);
        assert!(Lexicon::extended(&more).is_err(), "{bad:?}");
    }
}

#[test]
fn some_cues_are_found_without_the_others() {
    let check = |cues: Cues, text: &str, expect: &[(Cue, &str)]| {
        let search = Lexicon::shipped().search(cues);
        let found: Vec<(Cue, &str)> =
            search.find(text).into_iter().map(|found| (found.cue, &text[found.range])).collect();
        assert_eq!(found, expect, "{text}");
        assert_eq!(search.has(text), !expect.is_empty(), "{text}");
        assert_eq!(Lexicon::shipped().has(text, cues), !expect.is_empty(), "{text}");
        assert!(expect.iter().all(|(cue, _)| search.counts(text).has(*cue)), "{text}");
    };
    let decision = Cues::new([Cue::Decision]);
    check(decision, "We DECIDED to wait, it is important.", &[(Cue::Decision, "DECIDED")]);
    check(decision, "undecided, and a KeyError in it", &[]);
    check(Cues::new([Cue::Fix]), "resolved", &[(Cue::Fix, "resolved")]);
    check(Cues::new([Cue::Fix, Cue::Completion]), "resolved", &[(Cue::Completion, "resolved"), (Cue::Fix, "resolved")]);
    check(Cues::new([Cue::Error]), "a KeyError where 共12 passed", &[(Cue::Error, "KeyError")]);
    check(
        Cues::new([Cue::Completion]),
        "a KeyError where 共12 passed",
        &[(Cue::Completion, "passed"), (Cue::Completion, "12 passed")],
    );
    check(Cues::new([]), "We decided: it is important.", &[]);
}

#[test]
fn a_phrase_of_another_cue_hides_what_it_holds() {
    let more =
        BTreeMap::from([(Cue::Conversation, vec!["must dash".to_owned()]), (Cue::Error, vec!["must".to_owned()])]);
    let lexicon = Lexicon::extended(&more).unwrap();
    let search = lexicon.search(Cues::new([Cue::Error]));
    assert_eq!((search.has("I must dash, sorry"), search.has("it must be")), (false, true));
    assert!(Arc::ptr_eq(&search, &lexicon.search(Cues::new([Cue::Error]))), "it is built once");
}

#[test]
fn the_words_that_ship_can_be_searched_for() {
    for (_, word) in parse::entries(include_str!("words.txt")).unwrap() {
        assert_eq!(parse::check_word(&word).as_deref(), Ok(word.as_str()));
    }
    CueSearch::new(Lexicon::shipped(), Cues::ALL).unwrap();
}

#[test]
fn every_cue_speaks_both_languages() {
    for cue in Cue::ALL {
        let words: Vec<&str> = Lexicon::shipped().words(cue).collect();
        assert!(words.iter().any(|word| word.is_ascii()), "{cue} has no English word");
        assert!(words.iter().any(|word| word.chars().any(crate::text::is_cjk)), "{cue} has no Chinese word");
    }
}
