//! The additions to the model's text by rule, and the cut to the budget.

use std::collections::HashSet;

use epitome_strategy::text::sentence_end;
use epitome_strategy::{SummaryCheck, SummaryTask, TokenCounter, Tokens};

use super::answer::{AnswerSection, Body};
use super::evidence::{self, Evidence, TypedDemand};
use super::exact::{self, ExactLine};
use super::source::{self, EarlierSummary};
use super::state::{self, Task};
use super::state_lines;
use super::wording::{RuleSection, SAID, mark_of, rank};

/// The index of exact strings takes at most one part in so many of the summary.
const EXACT_PART: Tokens = 5;
/// The task list takes one part in this many.
const STATE_PART: Tokens = 8;
/// Demands that the model left out take one in so many, and so do the changed files.
const DEMANDS_PART: Tokens = 4;
const FILES_PART: Tokens = 6;
/// The count of changes takes one in so many.
const CHANGES_PART: Tokens = 16;
/// Strings of the whole session that an earlier summary's index is held against: as many as the largest summary has to hold.
const MOST_CARRIED: usize = 16;
/// Below this many tokens a summary has no sections, and nothing is added to it but exact strings.
pub(super) const BRIEF_BELOW: Tokens = 160;
/// Tokens that a section keeps before a more important one gives.
const LEAST_SECTION: Tokens = 40;

/// The facts about the messages that the rules found.
#[derive(Debug, Default)]
pub(super) struct RuleFindings {
    /// Earlier summaries without the sections that were written by rule.
    pub earlier: Vec<EarlierSummary>,
    exact: Vec<ExactLine>,
    tasks: Vec<Task>,
    changes: Vec<String>,
    /// Strings that the summary must hold.
    pub strings: Vec<String>,
}

impl RuleFindings {
    /// Reads the messages. Linear.
    pub(super) fn read(task: &SummaryTask<'_>) -> Self {
        // A small summary cannot hold many strings beside what it says.
        let most = (task.request.max_tokens / 60).clamp(1, 16) as usize;
        let mut known = source::with_view(task, |view| Self {
            exact: exact::index(view),
            tasks: state::task_list(view, task.language),
            changes: state::changes(view),
            strings: exact::must_keep(view, most),
            earlier: Vec::new(),
        });
        // The changed files have a section of their own, and what only calls held can be looked up: of all others a reader
        // would not know what they are for.
        known.exact.retain(|line| known.strings.contains(&line.string));
        let needed = task.session.map(|session| {
            source::with_messages(session.standing_log().iter(), task, |view| exact::must_keep(view, MOST_CARRIED))
        });
        for earlier in source::earlier(task) {
            known.carry(earlier, needed.as_deref());
        }
        known
    }

    /// Removes the index of exact strings from an earlier summary: it is written anew. A task list and a
    /// count of changes stay for the model to read, because the messages show their later states. Exact strings are
    /// carried if the session still needs them, where that is known.
    fn carry(&mut self, earlier: EarlierSummary, needed: Option<&[String]>) {
        let mut body = Body::read(&earlier.text, &[]);
        let is_exact = |section: &AnswerSection| {
            section.heading.as_deref().and_then(RuleSection::with_heading) == Some(RuleSection::Exact)
        };
        if !body.sections.iter().any(is_exact) {
            self.earlier.push(earlier);
            return;
        }
        // Of a line that binds a string the whole counts.
        let line = |text: &str| ExactLine { string: text.to_owned(), text: text.to_owned() };
        let is_needed =
            |text: &&str| needed.is_none_or(|needed| needed.iter().any(|string| text.contains(string.as_str())));
        for section in body.sections.extract_if(.., |section| is_exact(section)) {
            let lines = section.lines.iter().filter_map(|line| line.strip_prefix("- "));
            self.exact.extend(lines.flat_map(|texts| texts.split(" · ")).filter(is_needed).map(line));
        }
        if !body.sections.is_empty() {
            self.earlier.push(EarlierSummary { text: body.write(), ..earlier });
        }
    }

    /// Whether there is something to write by rule in that section.
    fn has(&self, section: RuleSection) -> bool {
        match section {
            // It is always the rules': the model's own lines about files stand under its own headings.
            RuleSection::Files => true,
            RuleSection::Tasks => !self.tasks.is_empty(),
            RuleSection::Changes => !self.changes.is_empty(),
            RuleSection::Exact => !self.exact.is_empty(),
        }
    }

    /// Tokens that are left for the model's text of a summary of `limit` tokens, when everything is added that there is.
    pub(super) fn room(&self, task: &SummaryTask<'_>, evidence: &Evidence, limit: Tokens) -> Tokens {
        let added = self.sections(task, evidence, limit, "");
        let tokens: Tokens = added.iter().map(|section| task.counter.count(&section.write()) + 2).sum();
        limit.saturating_sub(tokens).max(limit / 2)
    }

    /// The summary: the model's text, cut where it is too long, with the additions, of at most `limit` tokens together;
    /// and the findings of checking it against the session.
    pub(super) fn finish(
        &self,
        task: &SummaryTask<'_>,
        body: Body,
        evidence: &Evidence,
        limit: Tokens,
    ) -> (String, SummaryCheck) {
        let mut body = body;
        let corrected = state_lines::correct(&mut body, evidence.log_state(), task.language);
        // Text that does not fit anyway makes no claims.
        let written = cut(&mut body, limit, task.counter);
        let (unknown, strings) = evidence.unknown(&written);
        evidence::mark(&mut body, &unknown, mark_of(task.language));
        if limit >= BRIEF_BELOW {
            let (_, untold) = evidence.untold_demands(&written);
            add_demands(&mut body, &untold, task, limit / DEMANDS_PART);
        }
        let text = self.fit_to_limit(task, body, evidence, limit);
        let (demands, left_out) = evidence.untold_demands(&text);
        let (_, untold) = evidence.untold_demands(&written);
        let mut check = SummaryCheck {
            strings,
            unknown,
            demands: demands as u32,
            added_demands: texts(untold.into_iter().filter(|demand| !left_out.contains(demand)).collect()),
            left_out: texts(left_out),
            corrected,
            ..SummaryCheck::default()
        };
        let before = evidence.files(&written).map(|(_, is_told)| is_told);
        for ((file, is_told), was_told) in evidence.files(&text).zip(before.collect::<Vec<_>>()) {
            check.files += 1;
            match (was_told, is_told) {
                (false, true) => check.added_files.push(file.path.clone()),
                (_, false) => check.left_out.push(file.path.clone()),
                (true, true) => {}
            }
        }
        (text, check)
    }

    /// The text of a body with the additions, of at most `limit` tokens together.
    fn fit_to_limit(&self, task: &SummaryTask<'_>, body: Body, evidence: &Evidence, limit: Tokens) -> String {
        let count = |text: &str| task.counter.count(text);
        let mut body = body;
        // A model that copies such a section from the earlier summary has an older one.
        let by_rule = |section: &AnswerSection| section.heading.as_deref().and_then(RuleSection::with_heading);
        body.sections.retain(|section| !by_rule(section).is_some_and(|rule| self.has(rule)));
        let bare = cut(&mut body, limit, task.counter);
        let mut room = self.room(task, evidence, limit);
        loop {
            let text = cut(&mut body.clone(), room, task.counter);
            let added = self.sections(task, evidence, limit, &text);
            let mut whole = text.clone();
            for section in &added {
                whole.push_str(if whole.is_empty() { "" } else { "\n\n" });
                whole.push_str(&section.write());
            }
            if !text.is_empty() && count(&whole) <= limit {
                return whole;
            }
            if room == 0 {
                // The additions are too much for a tiny budget: they are left out.
                return bare;
            }
            room -= room.min((room / 16).max(1));
        }
    }

    /// The sections that are added to `text`, each within its part of `limit`.
    fn sections(&self, task: &SummaryTask<'_>, evidence: &Evidence, limit: Tokens, text: &str) -> Vec<AnswerSection> {
        let mut sections = Vec::new();
        let mut add = |section: RuleSection, lines: Vec<String>, most: Tokens| {
            let heading = section.heading(task.language);
            let mut left = most.saturating_sub(task.counter.count(heading) + 3);
            let mut kept = Vec::new();
            for line in lines {
                let tokens = task.counter.count(&line) + 1;
                if tokens <= left {
                    left -= tokens;
                    kept.push(line);
                }
            }
            if !kept.is_empty() {
                sections.push(AnswerSection { heading: Some(heading.to_owned()), lines: kept });
            }
        };
        if limit >= BRIEF_BELOW {
            add(RuleSection::Files, file_lines(evidence, text, task, limit / FILES_PART), limit / FILES_PART);
            add(RuleSection::Tasks, self.task_lines(task, limit / STATE_PART, text), limit / STATE_PART);
            add(RuleSection::Changes, self.changes.clone(), limit / CHANGES_PART);
        }
        let held: Vec<String> = sections.iter().map(AnswerSection::write).collect();
        let exact = self.exact_section(task, limit / EXACT_PART, &[text, &held.join("\n")]);
        sections.extend(exact);
        sections
    }

    /// The tasks that the text does not tell of; where they take more than `most` tokens only those that are open.
    fn task_lines(&self, task: &SummaryTask<'_>, most: Tokens, text: &str) -> Vec<String> {
        let untold = |is_open: bool| {
            let tasks = self.tasks.iter().filter(|it| !(text.contains(&it.text) || is_open && it.is_done));
            tasks.map(|it| it.line.clone()).collect::<Vec<_>>()
        };
        let all = untold(false);
        // A list of which everything is done says nothing that `Done` does not.
        let has_open = self.tasks.iter().any(|it| !it.is_done && !text.contains(&it.text));
        let tokens: Tokens = all.iter().map(|line| task.counter.count(line) + 1).sum();
        match has_open {
            false => Vec::new(),
            true if tokens <= most => all,
            true => untold(true),
        }
    }

    /// The index of exact strings that `texts` do not hold: those that say what they are on one line, then one line for
    /// each that needs other words.
    fn exact_section(&self, task: &SummaryTask<'_>, most: Tokens, texts: &[&str]) -> Option<AnswerSection> {
        let heading = RuleSection::Exact.heading(task.language);
        let mut left = most.checked_sub(task.counter.count(heading) + 4)?;
        let (mut bare, mut bound): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut seen: HashSet<&str> = HashSet::new();
        let mut misses = 0;
        for line in &self.exact {
            let is_held = texts.iter().any(|text| text.contains(&line.string))
                || bare.iter().chain(&bound).any(|held| held.contains(&line.string))
                || !seen.insert(&line.string);
            if is_held {
                continue;
            }
            // One more token for the mark in front of it or between two of them.
            let tokens = task.counter.count(&line.text) + 2;
            if tokens > left {
                misses += 1;
                if misses > 20 {
                    break;
                }
                continue;
            }
            left -= tokens;
            let says_what_it_is = line.text == line.string && !line.text.contains(' ');
            if says_what_it_is { bare.push(&line.text) } else { bound.push(&line.text) }
        }
        let mut lines: Vec<String> = Vec::new();
        if !bare.is_empty() {
            lines.push(format!("- {}", bare.join(" · ")));
        }
        lines.extend(bound.iter().map(|text| format!("- {text}")));
        (!lines.is_empty()).then(|| AnswerSection { heading: Some(heading.to_owned()), lines })
    }
}

/// Adds demands in a section of their own behind the model's, word for word, as many as `most` tokens hold, in the order in
/// which they were said: a later one may take an earlier one back.
fn add_demands(body: &mut Body, demands: &[&TypedDemand], task: &SummaryTask<'_>, most: Tokens) {
    let mut left = most;
    let mut lines = Vec::new();
    // The newest demands are in force: where there is no room for all, they come first.
    for demand in demands.iter().rev() {
        let later = demand.later.as_ref().map_or(String::new(), |later| {
            let after = task.language.pick(" Later: “", " 之后：“");
            format!("{after}{later}”")
        });
        let line = format!("- “{}”{later}", demand.text);
        let tokens = task.counter.count(&line) + 1;
        if tokens <= left {
            left -= tokens;
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return;
    }
    lines.reverse();
    // A section that the model took over from an earlier summary has the older demands.
    let earlier =
        body.sections.extract_if(.., |section| section.heading.as_deref().is_some_and(|it| SAID.contains(&it)));
    let mut all: Vec<String> = earlier.flat_map(|section| section.lines).collect();
    all.extend(lines);
    let [english, chinese] = SAID;
    body.sections.push(AnswerSection { heading: Some(task.language.pick(english, chinese).to_owned()), lines: all });
}

/// The changed files with their states: first those that the text does not name, the newest before the older; the line
/// behind the last one says how many are left out.
fn file_lines(evidence: &Evidence, text: &str, task: &SummaryTask<'_>, most: Tokens) -> Vec<String> {
    let mut files: Vec<_> = evidence.files(text).collect();
    files.sort_by_key(|(_, is_named)| *is_named); // stable
    let count = |line: &str| task.counter.count(line) + 1;
    let more =
        |left_out: usize| task.language.pick(format!("- … and {left_out} more"), format!("- … 另有 {left_out} 个"));
    let mut left = most.saturating_sub(count(RuleSection::Files.heading(task.language)) + 2 + count(&more(100)));
    let mut lines = Vec::new();
    for (file, _) in &files {
        let line = format!("- {}: {}", file.path, file.state(task.language));
        let tokens = count(&line);
        if tokens > left {
            break;
        }
        left -= tokens;
        lines.push(line);
    }
    if !lines.is_empty() && lines.len() < files.len() {
        lines.push(more(files.len() - lines.len()));
    }
    lines
}

fn texts(demands: Vec<&TypedDemand>) -> Vec<String> {
    demands.into_iter().map(|demand| demand.text.clone()).collect()
}

/// The text of a body, cut to `limit` tokens: sections that matter least give first, at the ends of their lines and
/// sentences. Linear in the body, for lines that are far too long in the budget.
fn cut(body: &mut Body, limit: Tokens, counter: &dyn TokenCounter) -> String {
    // Text far beyond the budget is not worth counting.
    let mut bytes = 64 * (limit as usize + 1);
    for section in by_rank(body) {
        let lines = &mut body.sections[section].lines;
        for line in lines.iter_mut() {
            if line.len() > bytes {
                let end = sentence_end(line, bytes);
                line.truncate(end);
            }
            bytes -= line.len().min(bytes);
        }
        lines.retain(|line| !line.trim().is_empty());
    }
    body.sections.retain(|section| !section.lines.is_empty());
    // Counts of parts add up to no less than the count of the whole, or nearly so: the whole is counted at the end.
    let mut most = limit;
    loop {
        shrink(body, most, counter);
        let text = body.write();
        if counter.count(&text) <= limit || most == 0 {
            return if most == 0 { String::new() } else { text };
        }
        most -= most.min((most / 20).max(1));
    }
}

/// Positions of the sections, the most important first; of equals the first.
fn by_rank(body: &Body) -> Vec<usize> {
    let mut order: Vec<usize> = (0..body.sections.len()).collect();
    order.sort_by_key(|index| body.sections[*index].heading.as_deref().map_or(0, rank));
    order
}

/// Takes lines away until the sections' own counts are at or under `limit`.
fn shrink(body: &mut Body, limit: Tokens, counter: &dyn TokenCounter) {
    let size = |section: &AnswerSection| counter.count(&section.write()) + 2;
    let mut sizes: Vec<Tokens> = body.sections.iter().map(size).collect();
    let mut excess = sizes.iter().sum::<Tokens>().saturating_sub(limit);
    let mut order = by_rank(body);
    order.reverse();
    // First each keeps its first lines, from the least important on; then they go whole.
    for keep_some in [true, false] {
        for index in &order {
            if excess == 0 {
                break;
            }
            let enough = sizes[*index].saturating_sub(excess);
            let floor = if keep_some { enough.max(LEAST_SECTION) } else { enough };
            if sizes[*index] <= floor {
                continue;
            }
            shorten(&mut body.sections[*index], floor, counter);
            let now = if body.sections[*index].lines.is_empty() { 0 } else { size(&body.sections[*index]) };
            excess = excess.saturating_sub(sizes[*index].saturating_sub(now));
            sizes[*index] = now;
        }
    }
    body.sections.retain(|section| !section.lines.is_empty());
}

/// The first lines of a section that fit, the last of them cut at the end of a sentence; none where nothing does.
fn shorten(section: &mut AnswerSection, limit: Tokens, counter: &dyn TokenCounter) {
    let heading = section.heading.as_ref().map_or(0, |heading| counter.count(heading) + 3);
    let mut left = limit.saturating_sub(heading + 2);
    let mut kept: Vec<String> = Vec::new();
    for line in &section.lines {
        let tokens = counter.count(line) + 1;
        if tokens <= left {
            left -= tokens;
            kept.push(line.clone());
            continue;
        }
        // A line of which less than a third stays says the wrong thing.
        if left > 8 && left > tokens / 3 {
            let mut bytes = line.len() * left as usize / tokens.max(1) as usize;
            for _ in 0..8 {
                let start = line[..sentence_end(line, bytes)].trim_end();
                if counter.count(start) < left {
                    kept.extend((!start.is_empty()).then(|| start.to_owned()));
                    break;
                }
                bytes = bytes * 9 / 10;
            }
        }
        break;
    }
    section.lines = kept;
}
