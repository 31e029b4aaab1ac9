//! The hits of a search, for a person.

use std::fmt::Write as _;

use epitome::recall::Passage;
use serde::Serialize;

use crate::render::style::{FAINT, NAME, STRONG, without_styles};
use crate::render::text::{clip, columns};

/// A passage with the session that it is of.
#[derive(Debug, Serialize)]
pub(crate) struct Hit {
    #[serde(flatten)]
    pub(crate) passage: Passage,
    #[serde(flatten)]
    pub(crate) location: HitLocation,
}

/// The place of a session among several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct HitLocation {
    /// The file, in a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The session, in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
}

/// The passages, each under a line with its place.
pub(crate) fn page(hits: &[Hit], width: usize) -> String {
    let mut out = String::new();
    for (number, hit) in hits.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        heading(&mut out, hit, width);
        for line in hit.passage.text.lines() {
            let plain: String = line.chars().map(|char| if is_safe(char) { char } else { '·' }).collect();
            let _ = writeln!(out, "  {plain}");
        }
    }
    out
}

/// Whether a terminal prints the character instead of obeying it.
fn is_safe(char: char) -> bool {
    char == '\t' || !char.is_control()
}

fn heading(out: &mut String, hit: &Hit, width: usize) {
    let passage = &hit.passage;
    let mut line = String::new();
    for name in [&hit.location.path, &hit.location.session].into_iter().flatten() {
        let _ = write!(line, "{NAME}{name}{NAME:#}  ");
    }
    let _ = write!(line, "{STRONG}#{} {}{STRONG:#}", passage.number, passage.speaker());
    if let Some(tool) = &passage.tool {
        let _ = write!(line, " {tool}");
    }
    let mut rest = format!("{:.2}", passage.score);
    for number in &passage.taken_back {
        let _ = write!(rest, "  #{number} taken back");
    }
    match (&passage.handle, passage.in_context) {
        (Some(handle), _) => {
            // The passage may be named after a message that is still there, and have text of a neighbour that is not.
            let neighbour = passage.left.filter(|left| *left != passage.number);
            let subject = neighbour.map_or_else(String::new, |left| format!("#{left} "));
            let _ = write!(rest, "  {subject}left the context, recall {handle}");
        }
        (None, Some(false)) => rest.push_str("  left the context"),
        (None, _) => {}
    }
    let _ = write!(line, "  {FAINT}{rest}{FAINT:#}");
    if let Some(file) = &passage.file {
        let room = width.saturating_sub(columns(&without_styles(&line)) + 2).max(20);
        let _ = write!(line, "  {}", clip(file, room));
    }
    let _ = writeln!(out, "{line}");
}
