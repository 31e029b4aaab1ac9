//! What the lines of a text stand under: an item of a list under the item, or the lead-in, that it belongs to, and the words of
//! a section under its heading, a field of a long record under what begins the record.

use crate::companions::introduces;
use crate::passage::{Kind, Line, Passage};
use crate::source::Source;

const NONE: u32 = u32::MAX;

/// For each line the line that it stands under.
#[derive(Debug, Default)]
pub(crate) struct Nesting(Vec<u32>);

impl Nesting {
    /// Finds what the lines of the model's texts, and of documents that it reads or writes, stand under, among those that are
    /// `open` to the choice. A detail without its item reads as one of the item above it, and words without their heading as
    /// words of another section. Linear.
    pub(crate) fn new(source: &Source, open: &[bool]) -> Self {
        let of_record = |line: &Line| line.head.filter(|head| open[*head as usize]).unwrap_or(NONE);
        let mut above: Vec<u32> = source.lines.iter().map(of_record).collect();
        for passage in source.passages.iter().filter(|passage| has_outline(source, passage)) {
            let mut outline = Outline::default();
            let mut current = NONE;
            for number in passage.lines.clone() {
                let line = &source.lines[number as usize];
                if line.starts_line {
                    let parent = outline.place(number, line.text());
                    current = parent.filter(|parent| open[*parent as usize]).unwrap_or(NONE);
                }
                if line.head.is_none() {
                    above[number as usize] = current;
                }
            }
            for heading in outline.below_titles() {
                above[heading as usize] = NONE;
            }
        }
        Self(above)
    }

    /// Returns the line that a line stands under.
    pub(crate) fn parent(&self, line: u32) -> Option<u32> {
        self.0.get(line as usize).copied().filter(|parent| *parent != NONE)
    }

    /// Whether what a line stands under is not `kept`.
    pub(crate) fn is_orphan(&self, line: u32, kept: &[bool]) -> bool {
        self.parent(line).is_some_and(|parent| !kept[parent as usize])
    }
}

/// The lines that the next one may stand under.
#[derive(Default)]
struct Outline {
    /// Lines with their indentation, the outermost first.
    open: Vec<(usize, u32)>,
    /// The line that introduces the items below it.
    lead: Option<u32>,
    /// The headings of the section with their depths, the outermost first.
    headings: Vec<(usize, u32)>,
    /// The headings under others, with the depths of these.
    below: Vec<(u32, usize)>,
    /// How many headings there are of each depth.
    of_depth: [u32; BOLD_DEPTH + 1],
    is_code: bool,
}

impl Outline {
    /// Returns the line that `text`, the next one, stands under.
    fn place(&mut self, number: u32, text: &str) -> Option<u32> {
        let words = text.trim_start();
        if words.starts_with("```") {
            self.is_code = !self.is_code;
            return self.heading();
        }
        if self.is_code || words.is_empty() {
            return self.heading();
        }
        let indentation = text.len() - words.len();
        self.open.retain(|(outer, _)| *outer < indentation);
        let parent = self.open.last().map(|(_, line)| *line);
        self.open.push((indentation, number));
        if is_item(words) {
            return parent.or(self.lead).or_else(|| self.heading());
        }
        if parent.is_some() {
            return parent;
        }
        if let Some(depth) = heading_depth(words) {
            self.lead = None;
            self.headings.retain(|(outer, _)| *outer < depth);
            let above = self.headings.last().copied();
            self.headings.push((depth, number));
            self.of_depth[depth] += 1;
            self.below.extend(above.map(|(depth, _)| (number, depth)));
            return above.map(|(_, line)| line);
        }
        self.lead = introduces(words).then_some(number);
        self.heading()
    }

    fn heading(&self) -> Option<u32> {
        self.headings.last().map(|(_, line)| *line)
    }

    /// Returns the headings under one that is the only one of its depth, the title of a text: what stands below can be taken for
    /// nothing else's, so that it need not come with the title.
    fn below_titles(&self) -> impl Iterator<Item = u32> + '_ {
        self.below.iter().filter(|(_, above)| self.of_depth[*above] == 1).map(|(heading, _)| *heading)
    }
}

/// Whether the lines of a passage have an outline: the model's texts, and documents in Markdown that a call names.
fn has_outline(source: &Source, passage: &Passage) -> bool {
    match (passage.kind, passage.action) {
        (Kind::Said | Kind::Answer, _) => true,
        (Kind::Argument | Kind::Output, Some(action)) => {
            let request = source.request(&source.actions[action as usize]).to_ascii_lowercase();
            let mut words = request.split(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | ';' | ','));
            words.any(|word| [".md", ".mdx", ".markdown"].iter().any(|ending| word.ends_with(ending)))
        }
        _ => false,
    }
}

/// The depth of a heading that is nothing but bold words: under all that have signs of number.
const BOLD_DEPTH: usize = 7;

/// Returns the depth of a heading of Markdown: a line behind signs of number, or nothing but bold words.
fn heading_depth(line: &str) -> Option<usize> {
    let signs = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..BOLD_DEPTH).contains(&signs) && line[signs..].starts_with(' ') {
        return Some(signs);
    }
    let bold = line.trim_end().strip_prefix("**").and_then(|line| line.strip_suffix("**"));
    bold.filter(|words| !words.contains("**")).map(|_| BOLD_DEPTH)
}

/// Whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits) && [". ", ") "].iter().any(|mark| line[digits..].starts_with(mark));
    numbered || ["- ", "* ", "• ", "+ "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_stand_under() {
        let check = |text: &str, expect: &[Option<u32>]| {
            let mut outline = Outline::default();
            let mut placed: Vec<_> =
                (0..).zip(text.lines()).map(|(number, line)| outline.place(number, line)).collect();
            outline.below_titles().for_each(|heading| placed[heading as usize] = None);
            assert_eq!(placed, expect, "{text}");
        };
        check("One.\nTwo.", &[None, None]);
        check(
            "1. **Option 1:**\n   - HAT084\n   - $112\n2. **Option 2:**\n   - HAT290\n     at 14:00",
            &[None, Some(0), Some(0), None, Some(3), Some(4)],
        );
        check("Rules:\n- no floats\n- no commits\nThat is all.\n- so", &[None, Some(0), Some(0), None, None]);
        check("## Open\n- one\n- two\nWords.\n- three", &[None, Some(0), Some(0), Some(0), Some(0)]);
        check(
            "**Open**\nThese are:\n- one\nNext:\n**Done**\n1. two",
            &[None, Some(0), Some(1), Some(0), None, Some(4)],
        );
        check("**One**\nWords of it.\nMore.\n## Two\nWords.", &[None, Some(0), Some(0), None, Some(3)]);
        check("# A\n### B\nWords.\n# C\n### B\nWords.", &[None, Some(0), Some(1), None, Some(3), Some(4)]);
        check("# A\n## B\nWords.\n## C\n### D\n## E", &[None, None, Some(1), None, Some(3), None]);
        check("See:\n```\nfn a() {\n    b()\n}\n```\nDone.", &[None; 7]);
        check("# See\n```\n# no heading\n```\nDone.", &[None, Some(0), Some(0), Some(0), Some(0)]);
    }
}
