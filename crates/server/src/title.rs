//! Titles of conversations.

use epitome::Session;

/// The length of a title that is made, in characters.
const LENGTH: usize = 80;

/// A title from the session's beginning: the first line that a person typed. `None` where nobody typed anything.
pub(crate) fn title_of(session: &Session) -> Option<String> {
    let first = session.log().iter().find(|message| message.is_typed())?.plain_text();
    let line = first.lines().map(str::trim).find(|line| !line.is_empty())?;
    let short: String = line.chars().filter(|char| !char.is_control()).take(LENGTH).collect();
    Some(if line.chars().count() > LENGTH { format!("{short}…") } else { short })
}
