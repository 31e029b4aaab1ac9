//! The way from messages to a summary: how much fits, in how many parts, how they become one.

use std::sync::Mutex;

use epitome_strategy::{Language, Origin, SummarizeError, Summary, SummaryCheck, SummaryTask, Tokens, lock};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::ask::{AskFailure, Question, RequestContext, TokensSpent};
use super::check::{AnswerLayout, AnswerRequirements};
use super::fence::fenced;
use super::finish::{BRIEF_BELOW, cut, finish, room_for_text};
use super::parts::{SummaryInput, groups, parts};
use super::progress::ModelStep;
use super::source::{self, EarlierSummary, Size};
use super::transcript::{TextLimits, pieces};
use super::verify::SessionRecord;
use super::{ModelSettings, ModelSummarizer, SummaryForm};

/// The number of times that a request that is too long is made again with half as much.
const MOST_HALVINGS: u32 = 3;
/// Fewer tokens of a session in a request are not worth asking for.
const LEAST_ROOM: Tokens = 200;
/// Tokens of a part's summary, at least and at most.
const PART_SUMMARY: std::ops::RangeInclusive<Tokens> = 300..=1_500;
/// The largest share of the window, as a divisor, that a summary takes.
const LEAST_WINDOWS: Tokens = 10;
/// The factor of tokens for exact strings against plain words.
const DENSITY: f64 = 1.3;
/// Tokens that marks around data, and a retry's own words, take.
const FRAME: Tokens = 250;

/// The summary of `task`.
pub(super) async fn write(summarizer: &ModelSummarizer, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
    let desk = RequestContext {
        model: &*summarizer.model,
        cache: &summarizer.cache,
        counts_known: summarizer.settings.counts_known,
        gate: &summarizer.gate,
        service: &summarizer.service,
        progress: summarizer.progress.as_ref(),
        task,
        texts: summarizer.prompts.texts(task.language),
        spent: TokensSpent::default(),
        asked_again: Mutex::default(),
        backoff: summarizer.backoff.as_ref(),
        service_identity: summarizer.service_identity(),
    };
    let writer = SummaryWriter::new(&desk, &summarizer.settings);
    let outcome = match summarizer.in_conversation {
        true if summarizer.compaction.is_none() && !task.request.is_handoff() => {
            let message = "the summary is of a part of the session, and its own model sees all of it";
            Err(SummarizeError::new(message, false))
        }
        true => writer.write_in_conversation().await,
        false => writer.write().await,
    };
    let usage = desk.usage();
    match outcome {
        Ok((text, check)) => Ok(Summary { text, usage, check, ..Summary::default() }),
        Err(error) => Err(SummarizeError { usage, ..error }),
    }
}

struct SummaryWriter<'w, 's> {
    desk: &'w RequestContext<'s>,
    settings: &'w ModelSettings,
    /// Earlier summaries among the messages.
    earlier: Vec<EarlierSummary>,
    /// Exact strings that the summary must hold.
    strings: Vec<String>,
    /// What the session says, where the summary is held against it.
    record: Option<SessionRecord>,
    size: Size,
    /// Tokens of the whole summary.
    limit: Tokens,
    /// Tokens of a word of prose by the task's counter; of a character for Chinese.
    word_tokens: f64,
}

/// The requirements of a request.
struct SummarySpec {
    words: u32,
    layout: AnswerLayout,
    answer_tokens: Tokens,
    is_final: bool,
}

impl<'w, 's> SummaryWriter<'w, 's> {
    fn new(desk: &'w RequestContext<'s>, settings: &'w ModelSettings) -> Self {
        let task = desk.task;
        let max_tokens = task.request.max_tokens;
        let size = source::size(task);
        // A summary that is not clearly smaller than what it replaces is of no use.
        let limit = max_tokens.min(size.tokens - size.tokens.div_ceil(10));
        let sample = desk.texts.get("system");
        let words = match task.language {
            Language::English => sample.split_whitespace().count(),
            Language::Chinese => sample.chars().count(),
        };
        let word_tokens = f64::from(task.counter.count(sample).max(1)) / words.max(1) as f64;
        let record = settings.checks.then(|| SessionRecord::read(task));
        // A small summary cannot hold many strings beside what it says.
        let most = (max_tokens / 60).clamp(1, 16) as usize;
        let strings = record.as_ref().map_or_else(Vec::new, |record| record.strings_to_keep(most));
        Self { desk, settings, earlier: source::earlier(task), strings, record, size, limit, word_tokens }
    }

    async fn write(&self) -> Result<(String, Option<SummaryCheck>), SummarizeError> {
        let failed = |message: String, retryable: bool| SummarizeError::new(message, retryable);
        if self.size.tokens == 0 {
            return Err(failed("nothing is said in the messages".to_owned(), false));
        }
        let (mut tries, mut halvings) = (0, 0);
        let text = loop {
            let window = self.window();
            match self.attempt(tries, halvings).await {
                Ok(text) => break text,
                Err(AskFailure::TooLong { limit, .. }) if tries < MOST_HALVINGS => {
                    tries += 1;
                    // A limit that is not smaller is counted by another tokenizer: half as much is a guess, but one that ends.
                    if !self.desk.service.learn(limit, window) {
                        halvings += 1;
                    }
                }
                Err(AskFailure::TooLong { message, .. }) => return Err(failed(message, false)),
                Err(AskFailure::Failed { message, retryable }) => return Err(failed(message, retryable)),
            }
        };
        self.finish(&text)
    }

    /// The hand-off that the conversation's own model writes, or the compaction that its provider makes.
    async fn write_in_conversation(&self) -> Result<(String, Option<SummaryCheck>), SummarizeError> {
        let task = self.desk.task;
        let wanted = self.summary_spec(self.room_for_text(), true);
        let has_earlier = task.messages.iter().any(|message| message.origin == Origin::Summary);
        let update = if has_earlier { self.desk.texts.get("refresh") } else { "" };
        let update = if update.is_empty() { String::new() } else { format!("\n{update}\n") };
        let question = self.question("handoff", &[("update", &update)], &wanted, 1, 1);
        match self.desk.ask(&question).await {
            Ok(text) => self.finish(&text),
            Err(AskFailure::TooLong { message, .. }) => Err(SummarizeError::new(message, false)),
            Err(AskFailure::Failed { message, retryable }) => Err(SummarizeError::new(message, retryable)),
        }
    }

    /// The summary out of the model's text, and the findings of checking it against the session.
    fn finish(&self, text: &str) -> Result<(String, Option<SummaryCheck>), SummarizeError> {
        let (text, check) = match &self.record {
            Some(record) => {
                let (text, check) = finish(self.desk.task, text, record, self.limit);
                (text, Some(SummaryCheck { asked_again: lock(&self.desk.asked_again).take(), ..check }))
            }
            None => (cut(text, self.limit, self.desk.task.counter), None),
        };
        if text.is_empty() {
            return Err(SummarizeError::new(format!("nothing of the summary fits {} tokens", self.limit), false));
        }
        Ok((text, check))
    }

    /// The tokens of the model's own text.
    fn room_for_text(&self) -> Tokens {
        self.record.as_ref().map_or(self.limit, |record| room_for_text(self.desk.task, record, self.limit))
    }

    /// All requests, after so many that were too long, with half the room for each halving.
    async fn attempt(&self, tries: u32, halvings: u32) -> Result<String, AskFailure> {
        // A small window has to hold more of the session than of the summary.
        let most = self.window() / LEAST_WINDOWS;
        let last = self.summary_spec(self.room_for_text().min(most), true);
        let part = self.summary_spec(self.limit.clamp(*PART_SUMMARY.start(), *PART_SUMMARY.end()).min(most), false);
        let room = self.room(last.answer_tokens.max(part.answer_tokens))? >> halvings;
        if room < LEAST_ROOM {
            let message = format!("the window of `{}` holds {room} tokens of a session", self.desk.model.name());
            return Err(AskFailure::Failed { message, retryable: false });
        }
        if tries > 0 {
            self.desk.tell(ModelStep::Smaller { part_tokens: room });
        }
        let parts = self.parts(room);
        if let Some(question) = self.single(&parts, &last, room) {
            return self.desk.ask(&question).await;
        }
        let summaries = self.summaries(parts, &part, room).await?;
        self.merge(summaries, &part, &last, room).await
    }

    /// The tokens of request and answer: as configured, or fewer where the service has named its limit.
    fn window(&self) -> Tokens {
        let configured = match self.desk.model.window() {
            0 => Tokens::MAX, // nobody knows: the service says when it is too long
            window => window,
        };
        configured.min(self.desk.service.limit())
    }

    /// Tokens of the session that fit into a request.
    fn room(&self, answer_tokens: Tokens) -> Result<Tokens, AskFailure> {
        let texts = self.desk.texts;
        let longest = ["summarize", "update", "merge"].map(|name| texts.get(name).len());
        let longest = ["summarize", "update", "merge"][(0..3).max_by_key(|index| longest[*index]).unwrap_or(0)];
        let count = |name: &str| self.desk.task.counter.count(texts.get(name));
        let strings: Tokens = self.strings.iter().map(|it| self.desk.task.counter.count(it) + 4).sum();
        let focus =
            self.desk.task.request.focus.as_deref().map_or(0, |focus| self.desk.task.counter.count(short(focus)));
        let fixed = count("system") + count(longest) + count("sections").max(count("json")) + count("rules");
        let frame = fixed + count("keep") + count("focus") + count("retry") + strings + focus + FRAME;
        let window = self.window();
        // For a second request, the first answer is in the window too, without its thoughts.
        let first = answer_tokens.saturating_sub(self.settings.reasoning_tokens);
        let left = f64::from(window.saturating_sub(answer_tokens.saturating_add(first)));
        let by_our_count = (left / (1.0 + self.settings.margin.max(0.0))) as Tokens;
        let room = by_our_count.saturating_sub(frame).min(self.settings.part_tokens.max(LEAST_ROOM));
        if room >= LEAST_ROOM {
            return Ok(room);
        }
        let message = format!("the window of `{}` ({window} tokens) is too small to summarize", self.desk.model.name());
        Err(AskFailure::Failed { message, retryable: false })
    }

    /// The session as parts of at most `room` tokens: cut a little where it then fits at once, cut as configured where it
    /// does not.
    fn parts(&self, room: Tokens) -> Vec<SummaryInput> {
        let task = self.desk.task;
        let earlier: Tokens = self.earlier.iter().map(|it| task.counter.count(&it.text) + 40).sum();
        let most = self.settings.result_tokens;
        let piece = (room / 2).max(LEAST_ROOM / 2);
        for result in [most, most / 2, most / 4] {
            let pieces = pieces(task, TextLimits::new(result, piece, self.settings.redact_secrets));
            let tokens: u64 = pieces.iter().map(|piece| u64::from(piece.tokens) + 1).sum();
            if tokens + u64::from(earlier) <= u64::from(room) {
                return parts(&pieces, &self.earlier, room);
            }
        }
        parts(&pieces(task, TextLimits::new(most / 2, piece, self.settings.redact_secrets)), &self.earlier, room)
    }

    /// The one request that does it all, where one does.
    fn single(&self, parts: &[SummaryInput], last: &SummarySpec, room: Tokens) -> Option<Question> {
        let count = |part: &SummaryInput| self.desk.task.counter.count(part.text()) + 40;
        let fits = parts.len() == 1 || parts.iter().map(count).sum::<Tokens>() <= room;
        match parts {
            _ if !fits => None,
            [SummaryInput::Messages(messages)] => Some(self.summarize(messages, last, 1, 1)),
            [SummaryInput::Summary(summary), SummaryInput::Messages(messages)] => {
                Some(self.update(summary, messages, last))
            }
            [] => None,
            several => Some(self.merge_question(several, last, 1, 1)),
        }
    }

    /// Every part as a summary; the same part is asked for once.
    async fn summaries(
        &self,
        parts: Vec<SummaryInput>,
        wanted: &SummarySpec,
        room: Tokens,
    ) -> Result<Vec<String>, AskFailure> {
        let mut asked: Vec<&str> = Vec::new();
        for part in &parts {
            if let SummaryInput::Messages(text) = part
                && !asked.contains(&text.as_str())
            {
                asked.push(text);
            }
        }
        // One more for the last merge; how many others there are depends on how long the summaries get.
        let of = asked.len() as u32 + 1;
        let questions: Vec<Question> =
            asked.iter().zip(1..).map(|(text, number)| self.summarize(text, wanted, number, of)).collect();
        let written = self.all(&questions).await?;
        let counter = self.desk.task.counter;
        let summary = |part: &SummaryInput| match part {
            SummaryInput::Summary(text) => cut(text, room / 2, counter),
            SummaryInput::Messages(text) => {
                let index = asked.iter().position(|asked| asked == text).unwrap_or_default();
                cut(written.get(index).map_or("", String::as_str), room / 2, counter)
            }
        };
        Ok(parts.iter().map(summary).collect())
    }

    /// The answers to all questions, in their order, or the first failure: the other requests are then cancelled.
    async fn all(&self, questions: &[Question]) -> Result<Vec<String>, AskFailure> {
        let numbered = |(index, question)| async move { (index, self.desk.ask(question).await) };
        // Not in their order: a failure is not to wait for answers that come before it.
        let mut asked: FuturesUnordered<_> = questions.iter().enumerate().map(numbered).collect();
        let mut texts = vec![String::new(); questions.len()];
        while let Some((index, answer)) = asked.next().await {
            let text = answer?;
            if let Some(place) = texts.get_mut(index) {
                *place = text;
            }
        }
        Ok(texts)
    }

    /// One summary of many, by levels where they do not fit into one request.
    async fn merge(
        &self,
        mut summaries: Vec<String>,
        part: &SummarySpec,
        last: &SummarySpec,
        room: Tokens,
    ) -> Result<String, AskFailure> {
        let counter = self.desk.task.counter;
        let count = |text: &String| counter.count(text) + 40;
        let mut done = summaries.len() as u32;
        loop {
            let sizes: Vec<Tokens> = summaries.iter().map(count).collect();
            if sizes.iter().sum::<Tokens>() <= room || sizes.len() <= 2 {
                break;
            }
            let groups = groups(&sizes, room);
            let merges = groups.iter().filter(|group| group.len() > 1).count() as u32;
            let of = done + merges + 1;
            let mut questions = Vec::new();
            for group in groups.iter().filter(|group| group.len() > 1) {
                let texts = group.clone().map(|index| cut(&summaries[index], room / group.len() as Tokens, counter));
                let texts: Vec<SummaryInput> = texts.map(SummaryInput::Summary).collect();
                questions.push(self.merge_question(&texts, part, done + 1 + questions.len() as u32, of));
            }
            let texts = self.all(&questions).await?;
            let mut merged = texts.iter().map(|text| cut(text, room / 2, counter));
            let next = groups.iter().map(|group| match group.len() {
                1 => summaries[group.start].clone(),
                _ => merged.next().unwrap_or_default(),
            });
            let next: Vec<String> = next.collect();
            drop(merged);
            summaries = next;
            done += merges;
        }
        let share = room / (summaries.len().max(1) as Tokens);
        let parts: Vec<SummaryInput> = match summaries.iter().map(count).sum::<Tokens>() <= room {
            true => summaries.into_iter().map(SummaryInput::Summary).collect(),
            false => summaries
                .iter()
                .map(|text| SummaryInput::Summary(cut(text, share.saturating_sub(40), counter)))
                .collect(),
        };
        self.desk.ask(&self.merge_question(&parts, last, done + 1, done + 1)).await
    }

    fn summarize(&self, messages: &str, wanted: &SummarySpec, part: u32, of: u32) -> Question {
        let transcript = fenced("messages", messages);
        self.question("summarize", &[("transcript", &transcript)], wanted, part, of)
    }

    fn update(&self, summary: &str, messages: &str, wanted: &SummarySpec) -> Question {
        let (summary, transcript) = (fenced("summary", summary), fenced("messages", messages));
        self.question("update", &[("summary", &summary), ("transcript", &transcript)], wanted, 1, 1)
    }

    fn merge_question(&self, parts: &[SummaryInput], wanted: &SummarySpec, part: u32, of: u32) -> Question {
        let fenced = parts.iter().map(|part| match part {
            SummaryInput::Summary(text) => fenced("summary", text),
            SummaryInput::Messages(text) => fenced("messages", text),
        });
        let parts = fenced.collect::<Vec<_>>().join("\n\n");
        self.question("merge", &[("parts", &parts)], wanted, part, of)
    }

    fn question(&self, prompt: &str, data: &[(&str, &str)], wanted: &SummarySpec, part: u32, of: u32) -> Question {
        let texts = self.desk.texts;
        let task = self.desk.task;
        let layout = texts.get(match wanted.layout {
            AnswerLayout::Sections => "sections",
            AnswerLayout::Brief => "brief",
            AnswerLayout::Json => "json",
        });
        let focus =
            task.request.focus.as_deref().map(short).filter(|focus| wanted.is_final && !focus.trim().is_empty());
        let focus = focus.map(|focus| texts.fill("focus", &[("question", &fenced("question", focus))]));
        let strings = if wanted.is_final { self.strings.as_slice() } else { &[] };
        let keep = match strings {
            [] => None,
            strings => Some(texts.fill("keep", &[("strings", &fenced("strings", &strings.join("\n")))])),
        };
        let own_line = |text: Option<String>| text.map_or(String::new(), |text| format!("\n{text}"));
        let words = wanted.words.to_string();
        let rules = [("words", words.as_str()), ("focus", &own_line(focus)), ("keep", &own_line(keep))];
        let rules = texts.fill("rules", &rules);
        let mut values = data.to_vec();
        values.extend([("layout", layout), ("rules", &rules)]);
        let expected = AnswerRequirements {
            layout: wanted.layout,
            language: task.language,
            max_tokens: self.limit,
            source: wanted.is_final.then_some(self.size),
        };
        let user = texts.fill(prompt, &values);
        Question { part, of, user, words: wanted.words, answer_tokens: wanted.answer_tokens, expected }
    }

    /// The request for an answer of about `tokens` tokens.
    fn summary_spec(&self, tokens: Tokens, is_final: bool) -> SummarySpec {
        let layout = match self.settings.form {
            _ if tokens < BRIEF_BELOW => AnswerLayout::Brief,
            SummaryForm::Sections => AnswerLayout::Sections,
            SummaryForm::Json => AnswerLayout::Json,
        };
        // Rounded, so that a budget that differs by little asks for the same and finds it in the cache.
        let exact = (f64::from(tokens) / (self.word_tokens * DENSITY)) as u32;
        let step = if exact < 200 { 10 } else { 50 };
        let words = (exact / step * step).max(15);
        let expected = f64::from(words) * self.word_tokens * DENSITY * (1.0 + self.settings.margin.max(0.0));
        // Models count words badly; a text that is too long is cut by rule.
        let answer_tokens = (expected * 1.4) as Tokens + 120 + self.settings.reasoning_tokens;
        SummarySpec { words, layout, answer_tokens, is_final }
    }
}

/// The first 2,000 bytes of a focus: longer text is not a question.
fn short(focus: &str) -> &str {
    &focus[..focus.floor_char_boundary(2_000)]
}
