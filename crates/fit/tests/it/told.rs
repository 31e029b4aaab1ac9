//! The report of a compaction, by the numbers of the list.

use epitome::formats::Wire;
use epitome::live::Overflow;
use epitome_fit::{FitOptions, FitPiece, FitRequest, FitStatus, RequestPart, fit};
use serde_json::Value;

use crate::lists::{List, chat, fitter, runtime, said};

/// Each piece has the numbers of its own messages.
#[test]
fn numbers_are_those_of_the_list() {
    for profile in Wire::ALL {
        let list = List::example(profile);
        for budget in [6_000, 12_000, 40_000] {
            let fitted =
                fit(&runtime(), profile, FitOptions::once(budget), &list.request(list.messages.len())).unwrap();
            assert_eq!(fitted.status, FitStatus::Compacted, "{profile:?} {budget}");
            let mut seen = vec![false; list.messages.len()];
            let mut see = |number: usize| assert!(!std::mem::replace(&mut seen[number], true), "twice: {number}");
            for piece in &fitted.pieces {
                match piece {
                    FitPiece::Keep { start, end } => (*start..*end).for_each(&mut see),
                    FitPiece::Edit { index, message, texts } => {
                        see(*index);
                        check_edit(&list.messages[*index], message, texts.as_deref());
                    }
                    FitPiece::Insert { message, .. } => {
                        let value: Value = serde_json::from_str(message).unwrap();
                        assert!(value.is_object(), "{message}");
                    }
                }
            }
            let report: Value = serde_json::from_str(&fitted.report_json()).unwrap();
            assert_eq!(report["status"], "compacted");
            for receipt in report["report"]["messages"].as_array().unwrap() {
                let id = receipt["id"].as_str().unwrap();
                let number = &report["ids"][id];
                assert!(
                    number.is_null() || (number.as_u64().unwrap() as usize) < list.messages.len(),
                    "{id}: {number}"
                );
            }
        }
    }
}

/// The texts of an edit, put into the message that came, give the message that is sent.
fn check_edit(came: &str, sent: &str, texts: Option<&[epitome_fit::TextChange]>) {
    let (mut came, sent): (Value, Value) = (serde_json::from_str(came).unwrap(), serde_json::from_str(sent).unwrap());
    assert_eq!(came["role"], sent["role"]);
    let Some(texts) = texts else { return };
    for change in texts {
        *came.pointer_mut(&change.pointer).unwrap() = Value::from(change.text.as_str());
    }
    assert_eq!(came, sent);
}

#[test]
fn edits_are_told_as_edits() {
    let config = "[select]\nmode = \"fixed\"\nchain = \"only\"\n[chains]\nonly = [\"tool-results\"]\n";
    let registry = epitome::registry();
    let runtime = epitome::Config::parse(config, "test.toml", &registry).unwrap().build(&registry).unwrap();
    for profile in Wire::ALL {
        let list = List::example(profile);
        let fitted = fit(&runtime, profile, FitOptions::once(50_000), &list.request(list.messages.len())).unwrap();
        let edits = fitted.pieces.iter().filter(|piece| matches!(piece, FitPiece::Edit { texts: Some(_), .. })).count();
        let inserts = fitted.pieces.iter().filter(|piece| matches!(piece, FitPiece::Insert { .. })).count();
        assert!(edits > 10 && inserts == 0, "{profile:?}: {edits} edits, {inserts} inserts");
    }
}

#[test]
fn what_left_comes_back_by_its_handle() {
    let messages = chat(30);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(4_000));
    let fitted = fitter.fit(&FitRequest::new(&messages)).unwrap();
    assert!(!fitted.removals.is_empty());
    for removal in &fitted.removals {
        assert!(!removal.messages.is_empty() && !removal.reason.is_empty(), "{removal:?}");
        let item = fitter.retrieve(&removal.handle).unwrap();
        assert!(format!("{item:?}").len() > 10);
    }
    assert_eq!(fitter.retrieve("00000000"), None);
}

#[test]
fn a_refusal_comes_back_by_its_handle() {
    let text = "I cannot help with that, for the parser is not mine to change. ".repeat(40);
    let refusal = |number: usize| {
        let text = format!("{number}: {text}");
        serde_json::json!({"role": "assistant", "content": null, "refusal": text}).to_string()
    };
    let messages: Vec<String> = (0..20)
        .flat_map(|number| [said(Wire::OpenaiChat, "user", &format!("and {number}?")), refusal(number)])
        .collect();
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(3_000));
    let fitted = fitter.fit(&FitRequest::new(&messages)).unwrap();
    let brought: Vec<String> =
        fitted.removals.iter().map(|removal| format!("{:?}", fitter.retrieve(&removal.handle))).collect();
    for number in 0..20 {
        let is_sent = fitted.to_messages(&messages).unwrap().iter().any(|json| **json == messages[2 * number + 1]);
        let has_text = |item: &String| item.contains(&format!("{number}: I cannot help"));
        assert!(is_sent || brought.iter().any(has_text), "{number}: {brought:?}");
    }
    assert!(!brought.is_empty());
}

#[test]
fn a_system_prompt_beside_a_chat_is_not_of_the_list() {
    let messages = chat(20);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(4_000));
    for length in [1, 21, 41] {
        let request =
            FitRequest { system: RequestPart::Json("\"You are terse.\""), ..FitRequest::new(&messages[..length]) };
        let fitted = fitter.fit(&request).unwrap();
        let sent = fitted.to_messages(&messages[..length]).unwrap();
        assert_eq!(sent[0], messages[0], "{length}");
        assert_eq!(fitted.is_unchanged(), length == 1, "{length}");
        assert!(!sent.iter().any(|message| message.contains("terse")));
    }
}

#[test]
fn a_refusal_makes_it_smaller() {
    let messages = chat(12);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(100_000));
    let first = fitter.fit(&FitRequest::new(&messages)).unwrap();
    assert!(first.is_unchanged());
    let overflow = Overflow { limit: Some(5_000), actual: Some(first.tokens_after) };
    let fitted = fitter.fit_after(&FitRequest::new(&messages), overflow).unwrap();
    assert_eq!(fitted.status, FitStatus::Compacted);
    assert!(fitted.tokens_after <= 5_000, "{}", fitted.tokens_after);
    let next = fitter.fit(&FitRequest::new(&messages)).unwrap();
    assert_eq!((next.status, next.budget), (FitStatus::Replayed, fitted.budget), "the limit counts from here on");
}

#[test]
fn what_is_not_shown_counts_behind_a_limit_that_the_provider_named() {
    let messages = chat(12);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(4_000));
    let overflow = Overflow { limit: Some(3_800), actual: None };
    let refused = fitter.fit_after(&FitRequest::new(&messages), overflow).unwrap();
    assert_eq!((refused.status, refused.budget), (FitStatus::Compacted, 3_800));
    let hidden = FitRequest { tools: RequestPart::Tokens(3_000), ..FitRequest::new(&messages) };
    for attempt in 0..2 {
        let fitted = fitter.fit(&hidden).unwrap();
        let is_told = fitted.status == FitStatus::Infeasible;
        assert_eq!((fitted.budget, fitted.tokens_after > 800), (800, is_told), "{attempt}: {:?}", fitted.status);
        // A refusal of all of it does not take the hidden part off twice, and the provider's count has it.
        let actual = Some(fitted.tokens_after + 3_000);
        fitter.fit_after(&hidden, Overflow { limit: Some(3_800), actual }).unwrap();
    }
    // More is hidden than there is room for: the limit does not grow by that.
    let too_much = FitRequest { tools: RequestPart::Tokens(9_000), ..FitRequest::new(&messages) };
    fitter.fit_after(&too_much, Overflow { limit: None, actual: None }).unwrap();
    assert_eq!(fitter.fit(&FitRequest::new(&messages)).unwrap().budget, 3_800);
}
