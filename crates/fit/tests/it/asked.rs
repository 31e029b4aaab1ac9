//! Compactions that a conversation's model asks for.

use epitome::formats::{Wire, validate};
use epitome::live::ModelRequest;
use epitome_fit::{FitOptions, FitRequest, FitStatus, Fitted, Fitter};

use crate::lists::{chat, fitter};

const BUDGET: u32 = 20_000;

fn model_request() -> Option<ModelRequest> {
    let keep = vec!["#2".parse().unwrap()];
    let (reason, next_step) = ("part 1 is done".to_owned(), "part 2".to_owned());
    Some(ModelRequest { reason, next_step, keep, has_open_calls: false })
}

fn fit_as_asked(fitter: &Fitter, messages: &[String]) -> Fitted {
    fitter.fit(&FitRequest { asked: model_request(), ..FitRequest::new(messages) }).unwrap()
}

#[test]
fn a_wish_is_weighed_and_its_compaction_stands() {
    let messages = chat(60);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let early = fit_as_asked(&fitter, &messages[..5]);
    let told = early.asked.as_deref().unwrap();
    assert!(early.is_unchanged() && told.starts_with("Not yet: the context is"), "{told}");
    // More than half full, and nothing is due.
    let lengths = (5..messages.len()).step_by(2);
    let full = |length: &usize| fitter.fit(&FitRequest::new(&messages[..*length])).unwrap().tokens_after > BUDGET / 2;
    let length = lengths.into_iter().find(full).unwrap();
    assert!(fitter.fit(&FitRequest::new(&messages[..length])).unwrap().is_unchanged());
    let made = fit_as_asked(&fitter, &messages[..length]);
    let told = made.asked.as_deref().unwrap();
    assert!(told.starts_with("Compacted: ") && told.contains("Kept whole: #1-#2."), "{told}");
    assert_eq!((made.status, made.compactions), (FitStatus::Compacted, 1));
    assert!(made.tokens_after * 3 < made.tokens_before * 2 && made.report.is_some() && !made.removals.is_empty());
    let sent = |fitted: &Fitted, length: usize| {
        let sent: Vec<String> =
            fitted.to_messages(&messages[..length]).unwrap().into_iter().map(String::from).collect();
        assert_eq!(validate(&format!(r#"{{"messages":[{}]}}"#, sent.join(",")), Wire::OpenaiChat), []);
        sent
    };
    let before = sent(&made, length);
    assert!(before.contains(&messages[2]), "what it names is whole");
    let soon = fit_as_asked(&fitter, &messages[..length + 2]);
    let told = soon.asked.as_deref().unwrap();
    assert!(told.starts_with("Not yet: ") && soon.status == FitStatus::Replayed, "{told}");
    assert!(sent(&soon, length + 2).starts_with(&before), "the provider's cache stays warm");
    let after = fitter.fit(&FitRequest::new(&messages[..length + 4])).unwrap();
    assert_eq!((after.status, after.asked), (FitStatus::Replayed, None));
}

#[test]
fn a_wish_in_a_list_that_parted_is_of_that_list() {
    let messages = chat(30);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let made = fit_as_asked(&fitter, &messages[..51]);
    assert_eq!(made.status, FitStatus::Compacted);
    let mut other = messages[..45].to_vec();
    other.push(r#"{"role":"user","content":"Another way, please."}"#.to_owned());
    let parted = fit_as_asked(&fitter, &other);
    assert_eq!(parted.status, FitStatus::Compacted, "{:?}", parted.asked);
    for (list, compacted) in [(&messages[..51], &made), (&other, &parted)] {
        let again = fitter.fit(&FitRequest::new(list)).unwrap();
        assert_eq!((again.status, again.tokens_after), (FitStatus::Replayed, compacted.tokens_after));
    }
}
