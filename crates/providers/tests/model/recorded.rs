//! Recorded sessions through a model that answers with an extract of its prompt.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome_formats::{ReadOptions, read};
use epitome_providers::chat::{ChatRequest, Stop};
use epitome_providers::model::ModelSettings;
use epitome_strategy::text::is_cjk;
use epitome_strategy::{Language, Origin};

use super::scripted::{Answer, Case, Scripted, said, with};

/// The recorded sessions' files, two of each format; none when there is no such folder.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or(root.join("../shared/data/dev"), PathBuf::from);
    let Ok(formats) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no recorded sessions in {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = formats
        .filter_map(|format| std::fs::read_dir(format.ok()?.path()).ok())
        .flat_map(|files| {
            let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
            files.sort();
            files.into_iter().take(2)
        })
        .collect();
    files.sort();
    files
}

/// An answer in form: under each heading a few lines of what the prompt holds, and every string that it must hold.
fn extract(request: &ChatRequest) -> Answer {
    let prompt = &request.user;
    let lines: Vec<&str> =
        prompt.lines().filter(|line| line.len() > 20 && !line.starts_with(['#', '<', '-'])).collect();
    let strings = super::scripted::fenced(prompt, "strings").join(" ");
    let mut text = String::new();
    for (index, heading) in prompt.lines().filter(|line| line.starts_with("## ")).enumerate() {
        let line = lines.get(index * lines.len() / 8).map_or("", |line| &line[..line.floor_char_boundary(200)]);
        text.push_str(&format!("{heading}\n- {line}\n"));
    }
    if text.is_empty() {
        said(&format!("{} {strings}", lines.join(" ")), Stop::End)
    } else {
        said(&format!("{text}- {strings}"), Stop::End)
    }
}

#[test]
fn prompts_of_recorded_sessions_fit_and_summaries_too() {
    let counter: Arc<dyn epitome_strategy::TokenCounter> = epitome_tokens::by_name("o200k_base").unwrap();
    for file in files() {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        let Some(session) = loaded.sessions.first() else { continue };
        let view = session.session.view();
        // As in a compaction: the system prompt and the newest messages stay.
        let messages: Vec<_> = view[..view.len() * 3 / 4]
            .iter()
            .map(|entry| Arc::clone(&entry.message))
            .filter(|message| message.origin != Origin::Instructions)
            .collect();
        let typed: String = messages.iter().filter(|it| it.is_typed()).map(|it| it.plain_text()).take(20).collect();
        let chinese = typed.chars().filter(|char| is_cjk(*char)).count();
        let is_chinese = chinese * 4 > typed.chars().count();
        for window in [16_000, 200_000] {
            let count = Arc::clone(&counter);
            let model = Scripted::new(window, move |request, _| {
                let tokens = count.count(&request.system) + count.count(&request.user) + request.max_tokens;
                assert!(tokens <= window, "{tokens} tokens for a window of {window}");
                extract(request)
            });
            let mut case = Case::with_messages(messages.clone()).max_tokens(1_000);
            case.counter = Arc::clone(&counter);
            case.language = if is_chinese { Language::Chinese } else { Language::English };
            let written = case.write(&with(&model, ModelSettings::default()));
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let asked = model.requests();
            if let Err(failure) = &written {
                eprintln!("{name} {window}: {} requests, {}", asked.len(), failure);
            }
            if let (Some(folder), Some(request)) = (std::env::var_os("EPITOME_PROMPTS"), asked.last()) {
                let text = format!(
                    "{}\n=====\n{}\n=====\n{}",
                    request.system,
                    request.user,
                    written.map_or_else(|it| it.message, |it| it.text)
                );
                std::fs::write(Path::new(&folder).join(format!("{name}.{window}.{}.txt", asked.len())), text).unwrap();
            }
        }
    }
}
