//! A fitter that ends and begins again.

use epitome::formats::Wire;
use epitome_fit::{FitOptions, FitRequest, FitStatus, Fitted, Fitter, StateError};

use crate::lists::{chat, fitter, runtime};

const BUDGET: u32 = 4_000;

fn fit(fitter: &Fitter, messages: &[String]) -> Fitted {
    fitter.fit(&FitRequest::new(messages)).unwrap()
}

fn reopen(bytes: &[u8], profile: Wire) -> Result<Fitter, StateError> {
    Fitter::from_state(bytes, &runtime(), Some(profile), FitOptions::within(BUDGET))
}

#[test]
fn the_same_decisions_are_made_after_it() {
    let mut options = FitOptions::within(BUDGET);
    options.secret = [9; 32];
    let first = fitter(Wire::OpenaiChat, options);
    let messages = chat(40);
    let half = 25;
    let before = fit(&first, &messages[..half]);
    assert_eq!(before.status, FitStatus::Compacted);
    let state = first.state().unwrap();
    for second in [reopen(&state, Wire::OpenaiChat).unwrap(), first.copy()] {
        for length in (half..=messages.len()).step_by(2) {
            let (one, other) = (fit(&first, &messages[..length]), fit(&second, &messages[..length]));
            assert_eq!((one.pieces, one.compactions), (other.pieces, other.compactions), "{length}");
        }
        let handle = &before.removals[0].handle;
        assert_eq!(second.retrieve(handle), first.retrieve(handle));
        assert!(second.retrieve(handle).is_some());
    }
    assert_eq!(reopen(&state, Wire::OpenaiChat).unwrap().state().unwrap(), state, "it is the same state");
}

#[test]
fn a_copy_has_a_memory_of_its_own() {
    let first = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    let copy = first.copy();
    fit(&first, &chat(20));
    assert_eq!((first.size().0, copy.size().0), (1, 0));
}

#[test]
fn damage_is_found() {
    let first = fitter(Wire::OpenaiChat, FitOptions::within(BUDGET));
    fit(&first, &chat(14));
    let state = first.state().unwrap();
    let refused = |bytes: &[u8]| reopen(bytes, Wire::OpenaiChat).map(drop).unwrap_err();
    for at in (0..state.len()).step_by(state.len() / 200 + 1) {
        let mut damaged = state.clone();
        damaged[at] ^= 1;
        let error = refused(&damaged);
        let expect = match at {
            0..=10 => matches!(error, StateError::NotAState),
            11 => matches!(error, StateError::Version { found: 0, expected: 1 }),
            _ => matches!(error, StateError::Damaged { .. }),
        };
        assert!(expect, "byte {at}: {error}");
        let error = refused(&state[..at]);
        assert!(matches!(error, StateError::NotAState | StateError::Damaged { .. }), "cut at {at}: {error}");
    }
}

#[test]
fn a_list_that_tells_no_form_is_of_that_of_the_state() {
    let state = fitter(Wire::Gemini, FitOptions::within(BUDGET)).state().unwrap();
    let profile = |named| Fitter::from_state(&state, &runtime(), named, FitOptions::within(BUDGET)).unwrap().profile();
    assert_eq!((profile(None), profile(Some(Wire::Anthropic))), (Wire::Gemini, Wire::Anthropic));
}
