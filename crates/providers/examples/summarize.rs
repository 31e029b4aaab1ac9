//! Writes the rule summary of the first part of a recorded session, to read it critically:
//! `cargo run -p epitome-providers --example summarize -- FILE [TOKENS] [SHARE] [FOCUS]`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use epitome_formats::{ReadOptions, read};
use epitome_providers::RuleSummarizer;
use epitome_strategy::session::Message;
use epitome_strategy::text::is_cjk;
use epitome_strategy::{Language, SummaryRequest, SummaryTask};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let max_tokens = arguments.next().map_or(Ok(800), |tokens| tokens.parse())?;
    let share: f64 = arguments.next().map_or(Ok(0.5), |share| share.parse())?;
    let focus = arguments.next();
    let loaded = read(std::fs::read(&file)?, ReadOptions::default())?;
    let counter = epitome_tokens::by_name("o200k_base")?;
    for session in loaded.sessions.iter().take(1) {
        let view = session.session.view();
        let count = (view.len() as f64 * share) as usize;
        let messages: Vec<Arc<Message>> = view[..count].iter().map(|entry| Arc::clone(&entry.message)).collect();
        let characters =
            || messages.iter().take(50).flat_map(|message| message.plain_text().chars().collect::<Vec<_>>());
        let is_chinese = characters().filter(|char| is_cjk(*char)).count() * 4 > characters().count();
        let language = if is_chinese { Language::Chinese } else { Language::English };
        let request = SummaryRequest::new(max_tokens, focus.clone());
        let task = SummaryTask { messages: &messages, session: None, request: &request, language, counter: &*counter };
        let started = std::time::Instant::now();
        let summary = RuleSummarizer.write(&task)?;
        println!("{}", summary.text);
        let took = started.elapsed();
        println!("--- {} messages, {} tokens, {took:?}", messages.len(), counter.count(&summary.text));
    }
    Ok(())
}
