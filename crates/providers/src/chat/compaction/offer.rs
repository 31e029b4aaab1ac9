//! The known limits of a provider's compaction: the forms that it does not offer.

use std::sync::Mutex;

use epitome_strategy::{Tokens, lock};
use epitome_wire::anthropic::CompactionForm;

use crate::chat::{ChatError, ChatErrorKind};

/// Which forms a provider does not offer for a model, found out by asking once and remembered from then on, as long as this
/// value lives.
#[derive(Debug, Default)]
pub struct CompactionOffer {
    /// For each form why it is not offered, where that is known.
    refusals: Mutex<Vec<(CompactionForm, String)>>,
}

impl CompactionOffer {
    /// The forms in which a conversation of `tokens` tokens can be compacted as far as is known, the better one first.
    pub fn forms(&self, tokens: Tokens) -> Vec<CompactionForm> {
        let refusals = lock(&self.refusals);
        let is_refused = |form: &CompactionForm| refusals.iter().any(|(refused, _)| refused == form);
        CompactionForm::ALL.into_iter().filter(|form| !is_refused(form) && form.takes(tokens)).collect()
    }

    /// Notes that a service with this status does not know `form`; what it said of it. Where it knows not even the address,
    /// or the model, no form is offered.
    pub fn refuse(&self, form: CompactionForm, status: u16, said: &str) {
        let why = match said {
            "" => status.to_string(),
            said => format!("{status}: {said}"),
        };
        match status {
            404 | 405 | 501 => self.note(&CompactionForm::ALL, &why),
            _ => self.note(&[form], &why),
        }
    }

    /// Notes that the service answers conversations instead of compacting them.
    pub fn ignore(&self) {
        self.note(&CompactionForm::ALL, "it answered the conversation instead");
    }

    fn note(&self, forms: &[CompactionForm], why: &str) {
        let mut refusals = lock(&self.refusals);
        for form in forms {
            if !refusals.iter().any(|(refused, _)| refused == form) {
                refusals.push((*form, why.to_owned()));
            }
        }
    }

    /// Why `provider` compacts no conversation of `tokens` tokens.
    pub fn none(&self, provider: &str, tokens: Tokens) -> ChatError {
        let refusals = lock(&self.refusals);
        let mut reasons: Vec<String> = Vec::new();
        for (form, why) in refusals.iter() {
            // One reason for all forms is given once.
            let reason = format!("`{}`: {why}", form.name());
            match reasons.iter().any(|told| told.ends_with(why)) {
                true => {}
                false => reasons.push(reason),
            }
        }
        let is_known = |form: &CompactionForm| refusals.iter().any(|(refused, _)| refused == form);
        for form in CompactionForm::ALL.iter().filter(|form| !is_known(form) && !form.takes(tokens)) {
            reasons.push(format!("`{}` is for longer conversations than {tokens} tokens", form.name()));
        }
        let message = format!("{provider} offers no compaction of its own ({})", reasons.join("; "));
        ChatError::new(ChatErrorKind::Rejected, message)
    }
}
