//! From files to cases: one file in memory at a time for each thread.

use epitome::Session;
use epitome::formats::{ReadOptions, read};
use epitome::session::Entry;
use rayon::prelude::*;

use crate::EvalError;
use crate::case::{Case, CaseId};
use crate::evidence::{Chat, chats};
use crate::files::File;
use crate::job::Job;
use crate::meaning::{OWN_SUMMARY, last_own_view};
use crate::measure::Measure;
use crate::plan::Subject;
use crate::probes::ProbedCase;
use crate::recorded::{self, RecordedCase};
use crate::resume::digest;
use crate::row::Row;

/// What a file gave.
#[derive(Default)]
pub(crate) struct FileRows {
    pub(crate) rows: Vec<Row>,
    pub(crate) cases: usize,
    pub(crate) sessions: usize,
    pub(crate) problem: Option<String>,
}

/// Which sessions are worked on.
type CaseSelector<'a> = &'a (dyn Fn(&CaseId) -> bool + Sync);

/// The file that a session stands in.
#[derive(Clone, Copy)]
struct SourceFile<'a> {
    format: &'a str,
    digest: &'a str,
}

impl Job<'_> {
    /// The cases of one file; without `measure` one empty row for each.
    pub(crate) fn of_file(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<FileRows, EvalError> {
        if self.plan.subject == Subject::Probes {
            return self.of_probes(file, wanted, measure);
        }
        let bytes = std::fs::read(&file.path)
            .map_err(|error| EvalError::Read { file: file.path.display().to_string(), error })?;
        let digest = digest(&bytes);
        let loaded = match read(bytes, ReadOptions::default()) {
            Ok(loaded) => loaded,
            Err(error) => return Ok(FileRows { problem: Some(error.to_string()), ..FileRows::default() }),
        };
        let mut found = FileRows { sessions: loaded.sessions.len(), ..FileRows::default() };
        if !self.plan.filter.admits_format(loaded.format.as_str()) {
            return Ok(found);
        }
        let source = SourceFile { format: loaded.format.as_str(), digest: &digest };
        if let Subject::Evidence { questions } = self.plan.subject {
            for (session, chat) in chats(&loaded) {
                let id = CaseId { file: file.name.clone(), session, cut_permille: 1000, part: None };
                if self.plan.filter.admits_session(&id) && wanted(&id) && !chat.questions.is_empty() {
                    found.rows.extend(self.of_chat(id, source, &chat, questions, measure)?);
                    found.cases += 1;
                }
            }
            return Ok(found);
        }
        let of_sessions: Vec<Result<(usize, Vec<Row>), EvalError>> = loaded
            .sessions
            .par_iter()
            .map(|session| {
                let id = CaseId { file: file.name.clone(), session: session.name.clone(), cut_permille: 0, part: None };
                if !self.plan.filter.admits_session(&id) || !wanted(&id) {
                    return Ok((0, Vec::new()));
                }
                self.of_session(&id, source, &session.session, measure)
            })
            .collect();
        for result in of_sessions {
            let (cases, rows) = result?;
            found.cases += cases;
            found.rows.extend(rows);
        }
        Ok(found)
    }

    /// The probed session of a folder: one case, its prefix as it stands.
    fn of_probes(&self, file: &File, wanted: CaseSelector<'_>, measure: bool) -> Result<FileRows, EvalError> {
        let mut found = FileRows { sessions: 1, ..FileRows::default() };
        let Some(probed) = ProbedCase::read(file, self.plan)?.filter(|probed| wanted(&probed.case.id)) else {
            return Ok(found);
        };
        found.cases = 1;
        let case = &probed.case;
        found.rows = if measure {
            Measure { job: self, case, file: &probed.digest, how: "probes" }.probes(&probed)
        } else {
            vec![Row::empty(case)]
        };
        Ok(found)
    }

    fn of_session(
        &self,
        id: &CaseId,
        source: SourceFile<'_>,
        session: &Session,
        measure: bool,
    ) -> Result<(usize, Vec<Row>), EvalError> {
        let (mut cases, mut rows) = (0, Vec::new());
        let mut take = |mut case: Case, how: &str, own: Option<Vec<Entry>>| {
            case.task = self.plan.labels.of(&case.id.file).map(str::to_owned);
            if self.plan.filter.admits(&case) {
                cases += 1;
                let measured = Measure { job: self, case: &case, file: source.digest, how };
                rows.extend(match (measure, own) {
                    (false, _) => vec![Row::empty(&case)],
                    (true, None) => measured.at_budgets(),
                    (true, Some(own)) => measured.beside(&own),
                });
            }
        };
        if self.plan.subject == Subject::Recorded {
            let options = self.plan.cuts.first().cloned().unwrap_or_default();
            let how = format!("recorded{}", reasoning(options.with_reasoning));
            for RecordedCase { case, own } in recorded::cases(id, source.format, session, &options)? {
                take(case, &how, Some(own));
            }
            return Ok((cases, rows));
        }
        let own = last_own_view(session);
        for cut in &self.plan.cuts {
            let id = CaseId { cut_permille: (cut.cut * 1000.0).round() as u32, ..id.clone() };
            if let Some(case) = Case::new(id, source.format, session, cut)? {
                take(case, &format!("cut at {}{}", cut.cut, reasoning(cut.with_reasoning)), None);
            }
        }
        // What an agent's own summary comes to is measured once for each session that counts.
        if let Some(own) = own.filter(|_| cases > 0 && measure) {
            let part = Some(OWN_SUMMARY.to_owned());
            let mut case = Case::of(CaseId { cut_permille: 1000, part, ..id.clone() }, source.format, own, &[])?;
            case.task = self.plan.labels.of(&id.file).map(str::to_owned);
            rows.extend(Measure { job: self, case: &case, file: source.digest, how: OWN_SUMMARY }.own_summary());
        }
        Ok((cases, rows))
    }

    fn of_chat(
        &self,
        id: CaseId,
        source: SourceFile<'_>,
        chat: &Chat,
        most: usize,
        measure: bool,
    ) -> Result<Vec<Row>, EvalError> {
        let mut case = Case::of(id, source.format, chat.session.clone(), &[])?;
        case.task = self.plan.labels.of(&case.id.file).map(str::to_owned);
        if !measure {
            return Ok(vec![Row::empty(&case)]);
        }
        Ok(Measure { job: self, case: &case, file: source.digest, how: "chat" }.chat(chat, most))
    }
}

fn reasoning(is_left: bool) -> &'static str {
    if is_left { " with reasoning" } else { "" }
}
