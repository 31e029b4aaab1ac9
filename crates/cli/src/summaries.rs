//! Summaries by a model: what the command line says of them, and how far they are.

#[cfg(feature = "eval")]
use std::path::Path;
use std::sync::{Arc, Mutex};

use epitome::config::{Config, OnProgress, SummarizerChoice, SummaryModel};
use epitome::providers::model::{ModelProgress, ModelStep};
use epitome::strategy::{Value, lock};

use crate::args::{CompactArgs, ServiceArgs};
use crate::failure::Failure;
use crate::render::text::{first_words, number, plural, width};
use crate::terminal;

/// The name of the channel that the command line describes.
const CHANNEL: &str = "--model-url";

/// Sets what the command line says of summaries over the configuration.
pub(crate) fn apply(config: &mut Config, args: &CompactArgs) -> Result<(), Failure> {
    let (channel, model) = (&args.model.channel, &args.model.service);
    let named = [("--channel", channel), ("--model-url", &model.model_url), ("--model", &model.model)];
    let named = named.iter().find(|(_, value)| value.is_some()).map(|(name, _)| *name);
    let summarizer = match (args.summarizer, named) {
        (Some(choice), Some(name)) if !choice.asks_model() => {
            let failure =
                Failure::usage_text(format!("{name} goes with --summarizer llm or provider, not with {choice}"));
            return Err(failure.with_help("leave one of them out"));
        }
        (Some(choice), _) => choice,
        (None, Some(_)) => SummarizerChoice::Llm,
        (None, None) => return Ok(()),
    };
    let mut set = |key: &str, value: Value| {
        config.set(key, &value).map_err(|problem| Failure::usage_text(format!("`{key}` {problem}")))
    };
    set("summary.summarizer", summarizer.as_str().into())?;
    if let Some(url) = &model.model_url {
        describe(url, model, &mut set)?;
    } else if let Some(channel) = channel {
        set("summary.channel", channel.as_str().into())?;
        // The configuration's model may be one of another channel.
        set("summary.model", "".into())?;
    }
    if let Some(name) = &model.model {
        set("summary.model", name.as_str().into())?;
    }
    if summarizer.asks_model() && config.channels().next().is_none() {
        let message = format!("--summarizer {summarizer} needs a model, and there is no channel to one");
        let failure = Failure::usage_text(message);
        if summarizer == SummarizerChoice::Provider {
            return Err(failure.with_help(
                "name it here: --model-url https://api.anthropic.com --model-kind anthropic \
                 --key-variable ANTHROPIC_API_KEY --model claude-opus-5\n\
                 or for good, in a file for --config:\n\
                 [channels.claude]\n\
                 kind = \"anthropic\"\n\
                 models = [\"claude-opus-5\"]",
            ));
        }
        return Err(failure.with_help(
            "name it here: --model-url http://localhost:11434/v1 --model qwen3:8b\n\
             or for good, in a file for --config:\n\
             [channels.local]\n\
             base_url = \"http://localhost:11434/v1\"\n\
             models = [\"qwen3:8b\"]",
        ));
    }
    Ok(())
}

/// The configuration in which the model of the command line writes summaries that stay as it wrote them, with its answers kept
/// in `cache` where that is given.
#[cfg(feature = "eval")]
pub(crate) fn by_model_alone(args: &ServiceArgs, url: &str, cache: Option<&Path>) -> Result<Config, Failure> {
    let mut config = Config::default();
    let mut set = |key: &str, value: Value| {
        config.set(key, &value).map_err(|problem| Failure::usage_text(format!("`{key}` {problem}")))
    };
    set("summary.summarizer", SummarizerChoice::Llm.as_str().into())?;
    set("summary.check", false.into())?;
    describe(url, args, &mut set)?;
    set("summary.model", args.model.as_deref().unwrap_or_default().into())?;
    if let Some(folder) = cache {
        set("summary.cache", folder.to_string_lossy().into())?;
    }
    Ok(config)
}

/// A channel out of options.
fn describe(
    url: &str,
    args: &ServiceArgs,
    set: &mut impl FnMut(&str, Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut of_channel = |key: &str, value: Value| set(&format!("channels.{CHANNEL}.{key}"), value);
    of_channel("kind", args.model_kind.as_str().into())?;
    of_channel("base_url", url.into())?;
    if let Some(variable) = &args.key_variable {
        of_channel("key_variable", variable.as_str().into())?;
    }
    if let Some(window) = args.model_window {
        of_channel("window", window.into())?;
    }
    set("summary.channel", CHANNEL.into())
}

/// The line that says how far a model's summary is. It is there on a terminal only, rewritten in place where it changes,
/// and gone at the end.
#[derive(Debug, Default)]
pub(crate) struct ProgressLine(Arc<Mutex<ProgressText>>);

/// The text of the progress line.
#[derive(Debug, Default)]
struct ProgressText {
    line: String,
    /// Parts that are written.
    n_written: u32,
}

impl ProgressLine {
    /// The callback for progress, where there is a model to wait for and a terminal to show it.
    pub(crate) fn on_progress(&self, model: Option<&SummaryModel>, quiet: bool) -> Option<OnProgress> {
        let name = model.filter(|_| !quiet && terminal::is_watched())?.model.clone();
        let shown = Arc::clone(&self.0);
        Some(Arc::new(move |progress: ModelProgress| {
            let mut shown = lock(&shown);
            let line = shown.progress_text(&name, &progress, width() - 1);
            if shown.line != line {
                terminal::show_line(&line);
                shown.line = line;
            }
        }))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        let shown = lock(&self.0);
        if !shown.line.is_empty() {
            terminal::clear_line();
        }
    }
}

impl ProgressText {
    /// The text after `progress`, in at most `width` columns. Parts are written side by side: the number of finished
    /// parts says more than their order.
    fn progress_text(&mut self, model: &str, progress: &ModelProgress, width: usize) -> String {
        let tokens = match (progress.input_tokens, progress.output_tokens) {
            (0, 0) => String::new(),
            (read, written) => format!(" · {} tokens read, {} written", number(read), number(written)),
        };
        if let ModelStep::Done { .. } = progress.step {
            self.n_written += 1;
        }
        let n_written = self.n_written;
        let step = match &progress.step {
            ModelStep::Started { of, .. } | ModelStep::Done { of, .. } if n_written <= *of => {
                format!("{n_written} of {} written", plural(*of as usize, "part"))
            }
            // Several summaries at once: each counts its own.
            ModelStep::Started { .. } | ModelStep::Done { .. } => {
                format!("{} written", plural(n_written as usize, "part"))
            }
            ModelStep::Retry { part, reason } => format!("part {part} once more: {reason}"),
            ModelStep::Smaller { part_tokens } => {
                self.n_written = 0;
                format!("all over again, in parts of {} tokens", number(*part_tokens))
            }
        };
        first_words(&format!("{model}: {step}{tokens}"), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let mut shown = ProgressText::default();
        let mut check = |step: ModelStep, tokens: (u64, u64), expect: &str| {
            let progress = ModelProgress { step, input_tokens: tokens.0, output_tokens: tokens.1 };
            assert_eq!(shown.progress_text("qwen", &progress, 70), expect);
        };
        let done = |part, of| ModelStep::Done { part, of, from_cache: false };
        check(ModelStep::Started { part: 1, of: 3 }, (0, 0), "qwen: 0 of 3 parts written");
        check(ModelStep::Started { part: 2, of: 3 }, (0, 0), "qwen: 0 of 3 parts written");
        check(done(2, 3), (12_000, 300), "qwen: 1 of 3 parts written · 12,000 tokens read, 300 written");
        check(
            ModelStep::Retry { part: 1, reason: "it is empty".to_owned() },
            (0, 0),
            "qwen: part 1 once more: it is empty",
        );
        check(done(1, 3), (0, 0), "qwen: 2 of 3 parts written");
        check(ModelStep::Smaller { part_tokens: 16_000 }, (0, 0), "qwen: all over again, in parts of 16,000 tokens");
        check(done(1, 1), (0, 0), "qwen: 1 of 1 part written");
        check(done(1, 1), (0, 0), "qwen: 2 parts written");
        let long = ModelStep::Retry { part: 2, reason: "word ".repeat(40) };
        let progress = ModelProgress { step: long, input_tokens: 0, output_tokens: 0 };
        assert!(shown.progress_text("qwen", &progress, 70).chars().count() <= 70);
    }
}
