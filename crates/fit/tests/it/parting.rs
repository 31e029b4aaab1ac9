//! Lists that do not just grow.

use epitome::formats::Wire;
use epitome::live::Overflow;
use epitome_fit::{FitOptions, FitRequest, FitStatus, Fitted, Fitter};

use crate::lists::{List, chat, fitter};

const BUDGET: u32 = 4_000;

fn fit(fitter: &Fitter, messages: &[String]) -> (Fitted, Vec<String>) {
    let fitted = fitter.fit(&FitRequest::new(messages)).unwrap();
    let sent = fitted.to_messages(messages).unwrap().into_iter().map(String::from).collect();
    (fitted, sent)
}

fn said(text: &str) -> [String; 2] {
    [format!(r#"{{"role":"assistant","content":"{text}"}}"#), r#"{"role":"user","content":"Go on."}"#.to_owned()]
}

#[test]
fn a_branch_keeps_what_was_decided_before_it() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let trunk = chat(12);
    let (first, at_trunk) = fit(&fitter, &trunk);
    assert_eq!(first.status, FitStatus::Compacted);
    for name in ["one", "other"] {
        let mut branch = trunk.clone();
        for turn in 0..4 {
            branch.extend(said(&format!("This is {name}, {turn}.")));
            let (fitted, sent) = fit(&fitter, &branch);
            assert_eq!((fitted.status, fitted.compactions), (FitStatus::Replayed, 1), "{name} {turn}");
            assert!(sent.starts_with(&at_trunk), "{name} {turn}");
        }
    }
}

#[test]
fn decisions_behind_a_changed_message_are_made_anew_and_then_stay() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let mut messages = chat(12);
    fit(&fitter, &messages);
    messages[0] = r#"{"role":"user","content":"Something else: who wrote the parser?"}"#.to_owned();
    let (fitted, sent) = fit(&fitter, &messages);
    assert_eq!(fitted.status, FitStatus::Compacted);
    assert_eq!(sent[0], messages[0], "nothing of the other conversation is in it");
    messages.extend(said("It was Ann."));
    let (fitted, longer) = fit(&fitter, &messages);
    assert_eq!(fitted.status, FitStatus::Replayed);
    assert!(longer.starts_with(&sent));
}

/// The conversation is known from its later decision, which the list does not have.
#[test]
fn a_list_that_parts_between_two_decisions_keeps_the_first() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let messages = chat(40);
    let mut compacted_at = Vec::new();
    for length in (1..=messages.len()).step_by(2) {
        let (fitted, sent) = fit(&fitter, &messages[..length]);
        if fitted.status == FitStatus::Compacted {
            compacted_at.push((length, sent));
        }
    }
    let [(first, at_first), .., (last, _)] = &compacted_at[..] else { panic!("two compactions are made") };
    assert!(last > first);
    let mut parted = messages[..*first].to_vec();
    for turn in 0..3 {
        parted.extend(said(&format!("Otherwise, {turn}.")));
        let (fitted, sent) = fit(&fitter, &parted);
        assert_eq!((fitted.status, fitted.compactions), (FitStatus::Replayed, 1), "{turn}");
        assert!(sent.starts_with(at_first), "{turn}");
    }
    // And the other conversation continues unchanged.
    let (fitted, _) = fit(&fitter, &messages);
    assert_eq!(fitted.compactions as usize, compacted_at.len());
}

#[test]
fn a_refusal_of_an_earlier_list_leaves_the_newer_conversation_alone() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let messages = chat(40);
    let mut compacted_at = Vec::new();
    let mut newest = Vec::new();
    for length in (1..=messages.len()).step_by(2) {
        let (fitted, sent) = fit(&fitter, &messages[..length]);
        if fitted.status == FitStatus::Compacted {
            compacted_at.push(length);
        }
        newest = sent;
    }
    let earlier = FitRequest::new(&messages[..compacted_at[0]]);
    let refused = fitter.fit_after(&earlier, Overflow { limit: Some(2_000), actual: None }).unwrap();
    assert_eq!((refused.status, refused.budget), (FitStatus::Compacted, 2_000));
    let again = fitter.fit(&earlier).unwrap();
    assert_eq!((again.status, &again.pieces, again.budget), (FitStatus::Replayed, &refused.pieces, 2_000));
    let (fitted, sent) = fit(&fitter, &messages);
    assert_eq!((fitted.status, fitted.compactions as usize), (FitStatus::Replayed, compacted_at.len()));
    assert!(compacted_at.len() > 1 && fitted.budget == BUDGET && sent == newest);
}

#[test]
fn a_shorter_list_is_sent_as_it_came_where_it_fits() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let messages = chat(12);
    fit(&fitter, &messages);
    let (fitted, sent) = fit(&fitter, &messages[..3]);
    assert!(fitted.is_unchanged() && sent == messages[..3]);
}

#[test]
fn keys_tell_conversations_apart() {
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let messages = chat(12);
    let of = |key: &'static str| fitter.fit(&FitRequest { key, ..FitRequest::new(&messages) }).unwrap();
    let statuses = [of("ann").status, of("bob").status, of("ann").status];
    assert_eq!(statuses, [FitStatus::Compacted, FitStatus::Compacted, FitStatus::Replayed]);
}

#[test]
fn a_request_names_the_form_of_its_list() {
    let shared = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    for round in 0..2 {
        for profile in Wire::ALL {
            let list = List::example(profile);
            let request = FitRequest { profile: Some(profile), ..list.request(list.messages.len()) };
            let (ours, alone) = (shared.fit(&request).unwrap(), fitter(profile, FitOptions::within(BUDGET)));
            let theirs = alone.fit(&list.request(list.messages.len())).unwrap();
            let expect = if round == 0 { FitStatus::Compacted } else { FitStatus::Replayed };
            assert_eq!(
                (ours.status, ours.profile, ours.pieces),
                (expect, profile, theirs.pieces),
                "{profile:?} {round}"
            );
        }
    }
    assert_eq!(shared.profile(), Wire::ALL[0], "the first that was named");
}

#[test]
fn what_is_used_least_recently_is_forgotten() {
    let mut options = FitOptions::within(BUDGET);
    options.conversations = 2;
    let fitter = fitter(Wire::OpenaiChat, options);
    let messages = chat(12);
    let of = |key: &'static str| fitter.fit(&FitRequest { key, ..FitRequest::new(&messages) }).unwrap().status;
    assert_eq!(["ann", "bob", "eve"].map(of), [FitStatus::Compacted; 3]);
    assert_eq!(fitter.size().0, 2);
    assert_eq!(["eve", "ann"].map(of), [FitStatus::Replayed, FitStatus::Compacted]);
}
