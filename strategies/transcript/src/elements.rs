//! Splits a long line of JSON between its records and its fields: a part that begins inside one record and ends inside
//! another says of the second what is true of the first.

use std::ops::Range;

use crate::pieces::end_of_piece;

/// Bytes of the longest record that is one part.
const RECORD: usize = 400;
/// Bytes that neighbouring fields of one part have together, and neighbouring small records.
const FIELDS: usize = 260;
const SMALL_RECORDS: usize = 80;
/// How many brackets may stand inside one another for the commas between them to count. It bounds the cost.
const DEPTHS: u32 = 8;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    /// The part that begins its record, by position, where another one does: it says which record this is.
    pub(crate) head: Option<usize>,
}

/// Returns the parts of a line that begins as JSON does, in order and without gaps; what is cut off at its end does not matter.
/// Linear.
pub(crate) fn parts(line: &str) -> Option<Vec<Part>> {
    line.trim_start().starts_with(['{', '[']).then(|| {
        let mut split = Split { line, commas: commas(line), parts: Vec::new() };
        split.add(0..line.len());
        split.parts
    })
}

struct Split<'l> {
    line: &'l str,
    commas: Vec<Comma>,
    parts: Vec<Part>,
}

/// A comma between two fields or records.
struct Comma {
    /// Where the next one starts.
    end: usize,
    /// How many brackets it stands in.
    depth: u32,
}

impl Split<'_> {
    fn add(&mut self, range: Range<usize>) {
        if range.len() <= RECORD {
            return self.push(range);
        }
        let first = self.commas.partition_point(|comma| comma.end <= range.start);
        let last = self.commas.partition_point(|comma| comma.end < range.end);
        let inner = &self.commas[first.min(last)..last];
        let Some(depth) = inner.iter().map(|comma| comma.depth).min() else { return self.add_prose(range) };
        let ends: Vec<usize> = inner.iter().filter(|comma| comma.depth == depth).map(|comma| comma.end).collect();
        let are_records = self.line[ends[0]..].starts_with(['{', '[']);
        let most = if are_records { SMALL_RECORDS } else { FIELDS };
        let mut start = range.start;
        let mut end = start;
        for next in ends.into_iter().chain([range.end]) {
            if next - start > most && end > start {
                self.add_member(start..end, are_records);
                start = end;
            }
            end = next;
        }
        self.add_member(start..end, are_records);
    }

    /// Adds a record, or neighbouring fields.
    fn add_member(&mut self, range: Range<usize>, is_record: bool) {
        let head = self.parts.len();
        self.add(range);
        if is_record {
            for part in self.parts[head + 1..].iter_mut().filter(|part| part.head.is_none()) {
                part.head = Some(head);
            }
        }
    }

    fn add_prose(&mut self, range: Range<usize>) {
        let mut start = range.start;
        while start < range.end {
            let end = start + end_of_piece(&self.line[start..range.end]);
            self.push(start..end);
            start = end;
        }
    }

    fn push(&mut self, range: Range<usize>) {
        self.parts.push(Part { range, head: None });
    }
}

/// Returns the commas of JSON, or of what Python prints, outside of its strings.
fn commas(line: &str) -> Vec<Comma> {
    let bytes = line.as_bytes();
    let mut commas = Vec::new();
    let (mut at, mut depth) = (0, 0_u32);
    let mut quote = None;
    // The byte before, white space aside: an apostrophe opens a string only where one may begin.
    let mut before = b'[';
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), close) if open == *close => quote = None,
            (Some(_), _) => {}
            (None, b'"') => quote = Some(b'"'),
            (None, b'\'') if b"[{,:(".contains(&before) => quote = Some(b'\''),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth = depth.saturating_sub(1),
            (None, b',') if (1..=DEPTHS).contains(&depth) => {
                let blank = bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                commas.push(Comma { end: at + blank, depth });
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = *byte;
        }
    }
    commas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_fields() {
        // Each part, with `^` and the number of the part that begins its record.
        let check = |line: &str, expect: &[&str]| {
            let parts = parts(line).unwrap_or_default();
            let told: Vec<String> = parts
                .iter()
                .map(|part| {
                    let head = part.head.map_or(String::new(), |head| format!("^{head} "));
                    format!("{head}{}", line[part.range.clone()].replace("- ", ""))
                })
                .collect();
            assert_eq!(told, expect, "{line}");
        };
        let long = "- ".repeat(115);
        check("no JSON, however long", &[]);
        check("{\"a\": 1}", &["{\"a\": 1}"]);
        // Records are parts of their own; small ones stand together.
        check(
            &format!(
                "[{{\"id\": 1, \"t\": \"{long}\"}}, {{\"id\": 2, \"t\": \"{long}\"}}, {{\"id\": 3}}, {{\"id\": 4}}]"
            ),
            &["[{\"id\": 1, \"t\": \"\"}, ", "{\"id\": 2, \"t\": \"\"}, ", "{\"id\": 3}, {\"id\": 4}]"],
        );
        // The fields of a long record belong to the part that begins it.
        check(
            &format!(
                "{{\"all\": [{{\"id\": 1}}, {{\"id\": 2, \"a, b\": \"{long}\", \"c\": \"{long}\"}}], \"n\": \"{long}\"}}"
            ),
            &["{\"all\": [{\"id\": 1}, ", "{\"id\": 2, \"a, b\": \"\", ", "^1 \"c\": \"\"}], ", "\"n\": \"\"}"],
        );
        // As Python prints it, with an apostrophe in a string; and cut off.
        check(
            &format!("[{{'name': \"Ann's, or\", 't': '{long}'}}, {{'t': '{long}, it"),
            &["[{'name': \"Ann's, or\", 't': ''}, ", "{'t': ', it"],
        );
        // One long text is split like prose.
        assert_eq!(parts(&format!("{{\"t\": \"{}\"}}", "A sentence. ".repeat(60))).unwrap_or_default().len(), 3);
    }
}
