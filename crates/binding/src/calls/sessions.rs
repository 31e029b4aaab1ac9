//! Calls about whole sessions.

use epitome::formats::validate;
use epitome::recall::Index;
use serde_json::json;

use super::words::{CompactWords, ConvertWords, ReadWords, Retrieval, SearchWords, ValidateWords, read};
use super::{Answer, Calls};
use crate::{
    Compacted, Failure, Input, Inspection, choose, content_json, format_of, load, measure_fullness, provider_of,
    query_of, write_session,
};

impl Calls {
    /// The session after it, as bytes; beside it the report, and the number under which what left is found.
    pub(super) fn compact(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: CompactWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let input = Input { bytes: data, is_objects: words.objects };
        let (place, words) = words.split()?;
        let compacted = Compacted::new(&parts, input, &place, &words, false)?;
        if let Some(failure) = Failure::of_report(&compacted.report) {
            return Err(failure);
        }
        let (bytes, warnings) = compacted.write()?;
        let warnings: Vec<String> = compacted.warnings().into_iter().chain(warnings).collect();
        let mut told = json!({
            "report": compacted.report, "sizes": compacted.sizes, "format": compacted.to.as_str(), "warnings": warnings,
        });
        told["handle"] = self.results.keep(compacted).into();
        Ok(Answer::json(&told).with_bytes(bytes))
    }

    pub(super) fn preview(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: CompactWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let input = Input { bytes: data, is_objects: words.objects };
        let (place, words) = words.split()?;
        Ok(Answer::json(&Compacted::new(&parts, input, &place, &words, true)?.report))
    }

    pub(super) fn result_retrieve(&self, words: &str) -> Result<Answer, Failure> {
        let words: Retrieval = read(words)?;
        let gone = || Failure::other("this result was closed; compact again");
        let compacted = self.results.get(words.handle).ok_or_else(gone)?;
        match compacted.retrieve(&words.of)? {
            None => Ok(Answer::json(&())),
            Some(content) => Ok(Answer::of_json(content_json(&content, compacted.to)?)),
        }
    }

    pub(super) fn inspect(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: ReadWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let loaded = load(Input { bytes: data, is_objects: words.objects }, words.format.as_deref())?;
        let index = choose(&loaded, words.name.as_deref())?;
        Ok(Answer::json(&Inspection::measure(&parts, &loaded.sessions[index].session, loaded.format)))
    }

    pub(super) fn check(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: ReadWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let loaded = load(Input { bytes: data, is_objects: words.objects }, words.format.as_deref())?;
        let index = choose(&loaded, words.name.as_deref())?;
        Ok(Answer::json(&measure_fullness(&parts, &loaded, index)))
    }

    /// Tokens of the messages of a session, its tool definitions not counted in.
    pub(super) fn count(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: ReadWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let loaded = load(Input { bytes: data, is_objects: words.objects }, words.format.as_deref())?;
        let session = &loaded.sessions[choose(&loaded, words.name.as_deref())?].session;
        Ok(Answer::json(&parts.engine().ledger(session).total()))
    }

    pub(super) fn search(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: SearchWords = read(words)?;
        let query = query_of(words.query.get().as_bytes())?;
        let loaded = load(Input { bytes: data, is_objects: words.objects }, words.format.as_deref())?;
        let session = &loaded.sessions[choose(&loaded, words.name.as_deref())?].session;
        let mut page = Index::build(session).search(&query).map_err(Failure::other)?;
        page.locate(session);
        Ok(Answer::json(&page))
    }

    pub(super) fn convert(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: ConvertWords = read(words)?;
        let to = format_of(&words.to)?;
        let loaded = load(Input { bytes: data, is_objects: words.objects }, words.format.as_deref())?;
        let index = choose(&loaded, words.name.as_deref())?;
        let (bytes, warnings) = write_session(&loaded, index, &loaded.sessions[index].session, to)?;
        Ok(Answer::json(&warnings).with_bytes(bytes))
    }

    /// The rules of its provider that a request breaks: where, which rule, what is wrong.
    pub(super) fn validate(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: ValidateWords = read(words)?;
        let format = match &words.format {
            Some(name) => format_of(name)?,
            None => load(data.clone(), None)?.format,
        };
        let profile = provider_of(format)?;
        let text = String::from_utf8(data).map_err(|error| Failure::Format(format!("not UTF-8: {error}")))?;
        let told: Vec<_> = validate(&text, profile)
            .into_iter()
            .map(|found| json!({ "path": found.path, "rule": found.rule, "message": found.message }))
            .collect();
        Ok(Answer::json(&told))
    }
}
