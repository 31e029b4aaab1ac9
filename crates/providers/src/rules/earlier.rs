//! Earlier summaries among the messages: their lines, taken apart again so that they merge and do not nest.

use std::sync::Arc;

use epitome_strategy::{Message, Origin};

use super::languages;
use super::lines::{SummarySection, clip};
use super::speech::{exactness, is_finding, is_standing, sentences};
use super::wording::{Counts, FILE_VERBS, section_of};

/// The most lines that are carried over from summaries of another making.
const MOST_FOREIGN: usize = 60;

/// The content of earlier summaries.
#[derive(Debug, Default)]
pub(crate) struct EarlierContent {
    pub(crate) lines: Vec<CarriedLine>,
    /// Files with the number of times they were written, edited, read and deleted, and the names defined in them.
    pub(crate) files: Vec<(String, [u32; 4], Vec<String>)>,
    pub(crate) counts: Counts,
    /// The languages of the code that they name.
    pub(crate) languages: Vec<String>,
}

/// A line of an earlier summary.
#[derive(Debug)]
pub(crate) struct CarriedLine {
    pub(crate) section: SummarySection,
    pub(crate) text: String,
    pub(crate) value: f32,
}

/// Reads every summary among the messages.
pub(crate) fn read(messages: &[Arc<Message>]) -> EarlierContent {
    let mut earlier = EarlierContent::default();
    for message in messages.iter().filter(|message| message.origin == Origin::Summary) {
        let text = message.plain_text();
        let is_ours = text.lines().any(|line| line.strip_prefix("## ").and_then(section_of).is_some());
        if is_ours {
            earlier.read_own(&text);
        } else {
            earlier.read_foreign(&text);
        }
    }
    earlier
}

impl EarlierContent {
    fn read_own(&mut self, text: &str) {
        let mut section = None;
        for line in text.lines().map(str::trim) {
            if let Some(heading) = line.strip_prefix("## ") {
                section = section_of(heading);
                continue;
            }
            let (Some(section), Some(line)) = (section, line.strip_prefix("- ")) else { continue };
            if let Some(counts) = Counts::read(line) {
                self.counts.user += counts.user;
                self.counts.assistant += counts.assistant;
                self.counts.tool += counts.tool;
            } else if let Some(languages) = languages::read(line) {
                self.languages.extend(languages);
            } else if section == SummarySection::Files {
                self.read_file(line);
            } else if let Some(task) = line.strip_prefix("[x] ") {
                let value = worth(SummarySection::Actions);
                self.lines.push(CarriedLine { section: SummarySection::Actions, text: task.to_owned(), value });
            } else if section != SummarySection::Context {
                let line = line.strip_prefix("[ ] ").unwrap_or(line);
                self.lines.push(CarriedLine { section, text: line.to_owned(), value: worth(section) });
            }
        }
    }

    /// `a.rs: edited 3×, read (fn parse)`, or `read: a.rs, b.rs`.
    fn read_file(&mut self, line: &str) {
        for list in ["read: ", "读取："] {
            if let Some(paths) = line.strip_prefix(list) {
                self.files.extend(paths.split(", ").map(|path| (path.to_owned(), [0, 0, 1, 0], Vec::new())));
                return;
            }
        }
        // A model's statement about a file keeps its own words.
        let as_it_is = || CarriedLine {
            section: SummarySection::Files,
            text: line.to_owned(),
            value: worth(SummarySection::Files),
        };
        let Some((path, done)) = line.rsplit_once(": ") else {
            self.lines.push(as_it_is());
            return;
        };
        let (done, details) = match done.split_once(" (") {
            Some((done, details)) => (done, details.trim_end_matches(')').split(", ").map(str::to_owned).collect()),
            None => (done, Vec::new()),
        };
        let mut times = [0; 4];
        for word in done.split(", ") {
            let (verb, count) = word.split_once(' ').unwrap_or((word, "1"));
            let known = FILE_VERBS.iter().position(|(english, chinese)| verb == *english || verb == *chinese);
            if let Some(known) = known {
                times[known] = count.trim_end_matches('×').parse().unwrap_or(1);
            }
        }
        if times == [0; 4] {
            self.lines.push(as_it_is());
            return;
        }
        self.files.push((path.to_owned(), times, details));
    }

    /// A summary that a model or another tool wrote: its sentences, the first ones worth most.
    fn read_foreign(&mut self, text: &str) {
        let text = text.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n");
        for (index, sentence) in sentences(&text).into_iter().take(MOST_FOREIGN).enumerate() {
            // Headings end without a mark and say nothing on their own.
            let is_heading =
                sentence.ends_with([':', '：', '*']) || sentence.split_whitespace().count() < 3 && sentence.is_ascii();
            let is_preamble = PREAMBLE.iter().any(|start| sentence.starts_with(start));
            if let Some(text) = clip(sentence, 300).filter(|_| !is_heading && !is_preamble) {
                let value = 3.5 - 1.5 * index as f32 / MOST_FOREIGN as f32
                    + 0.6 * exactness(sentence)
                    + if is_finding(sentence) { 0.5 } else { 0.0 };
                let section =
                    if is_standing(sentence) { SummarySection::Instructions } else { SummarySection::Findings };
                self.lines.push(CarriedLine { section, text, value });
            }
        }
    }
}

/// Starts of the sentences with which agents introduce a summary, or tell the model to go on.
const PREAMBLE: &[&str] = &[
    "This session is being continued",
    "The summary below covers",
    "The conversation is summarized below",
    "Please continue the conversation",
    "Continue the conversation from where",
    "If you need specific details from before",
    "Another language model started to solve",
    "Here is a summary",
];

/// The value of a carried line: less than that of a fresh one of its section, except in lasting sections.
fn worth(section: SummarySection) -> f32 {
    match section {
        SummarySection::Instructions => 7.5,
        SummarySection::Requests | SummarySection::Open => 4.5,
        SummarySection::Files => 4.0,
        SummarySection::Findings => 3.5,
        SummarySection::Errors => 2.0,
        SummarySection::Actions | SummarySection::Context => 2.5,
    }
}
