//! The demands of a session that a summary has to repeat.

use std::collections::BTreeSet;

use epitome::Session;
use epitome::session::Message;
use epitome::strategy::Lexicon;
use epitome::strategy::speech::{Demand, demands, spoken_texts, typed_texts};

/// Characters of demands that are handed to the model that writes the summary; the newest come first.
const DEMANDS: usize = 3_000;

/// Characters of one message's, the surest first: a plan that was pasted is not to crowd out everything else.
const OF_ONE_MESSAGE: usize = 1_000;

/// Characters of the longest answer of a person to a tool that is a demand as it is.
const SHORT_ANSWER: usize = 300;

/// Returns what people demanded, oldest first, word for word with its line feeds; each once. Linear in the log.
pub(super) fn demands_in(session: &Session, lexicon: &Lexicon) -> Vec<String> {
    let mut found: Vec<Vec<(f32, &str)>> = session.log().iter().map(|message| demands_of(message, lexicon)).collect();
    // What is under way was asked for in the newest request: there is no later word by which a part of it is done.
    let newest = found.iter().rposition(|demands| !demands.is_empty());
    if let Some((newest, words)) = newest.and_then(|at| Some((at, whole_request(&session.log()[at])?))) {
        found[newest] = vec![(1.0, words)];
    }
    let mut seen = BTreeSet::new();
    let mut room = DEMANDS;
    for demands in found.iter_mut().rev() {
        let mut own = room.min(OF_ONE_MESSAGE);
        let mut surest: Vec<(f32, &str)> = demands.clone();
        surest.sort_by(|one, other| other.0.total_cmp(&one.0));
        let taken: BTreeSet<&str> = surest
            .into_iter()
            .map(|(_, words)| words)
            .filter(|words| {
                let length = words.chars().count();
                let takes = length < own && seen.insert(*words);
                if takes {
                    (own, room) = (own - length, room - length);
                }
                takes
            })
            .collect();
        let mut listed = BTreeSet::new();
        demands.retain(|(_, words)| taken.contains(words) && listed.insert(*words));
    }
    found.into_iter().flatten().map(|(_, words)| words.to_owned()).collect()
}

/// Returns all that a person typed in a message, where it is in one piece and short enough to be repeated.
fn whole_request(message: &Message) -> Option<&str> {
    let mut typed = typed_texts(message).filter(|(_, _, ranges)| !ranges.is_empty());
    let ((_, text, ranges), None) = (typed.next()?, typed.next()) else { return None };
    let [range] = ranges.as_slice() else { return None };
    Some(text[range.clone()].trim()).filter(|words| words.chars().count() < OF_ONE_MESSAGE)
}

/// Returns the demands of a message, each with the probability that it binds: of what a person typed, and of what a person
/// said through a tool. A number alone says nothing here.
fn demands_of<'m>(message: &'m Message, lexicon: &Lexicon) -> Vec<(f32, &'m str)> {
    let of_text = |text: &'m str| {
        demands(lexicon, text).into_iter().map(move |Demand { range, binding }| (binding, text[range].trim()))
    };
    let mut found: Vec<(f32, &str)> = Vec::new();
    for (_, text, ranges) in typed_texts(message) {
        ranges.into_iter().for_each(|range| found.extend(of_text(&text[range])));
    }
    for (_, text, ranges) in spoken_texts(message) {
        for range in ranges {
            let words = text[range].trim();
            match words.chars().count() <= SHORT_ANSWER {
                true => found.push((1.0, words)),
                false => found.extend(of_text(words)),
            }
        }
    }
    found.retain(|(_, words)| words.chars().filter(|char| char.is_alphabetic()).nth(1).is_some());
    found
}
