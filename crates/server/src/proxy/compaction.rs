//! Compactions by the conversation's own provider: the client's request, with the word that asks for one.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use epitome::live::ConversationQuestion;
use epitome::providers::chat::{ChatAnswer, ChatError, ChatErrorKind, read_compacted};
use epitome::wire::anthropic::{CompactionForm, CompactionReading, compact_within, is_compaction_unknown};
use epitome::wire::refusal_text;

use super::handoff::Upstream;

impl Upstream {
    /// The summary by the provider, asked in each form that it is not known to lack.
    pub(super) async fn compacted(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        let refused = |message: String| ChatError::new(ChatErrorKind::Rejected, message);
        if !self.wire.compacts_in_text() {
            let message = "the conversation's provider offers no compaction that can be read: of those that are known only \
                           Anthropic's gives a text";
            return Err(refused(message.to_owned()));
        }
        for form in self.offer.forms(self.tokens) {
            if let Some(why) = form.refuses(question.instruction) {
                return Err(refused(format!("the provider's compaction cannot be asked for: {why}")));
            }
            let body = compact_within(form, &self.body, question.instruction, question.max_tokens)
                .map_err(|error| refused(error.to_string()))?;
            let (status, answer) = self.send(body, |headers| declare(headers, form)).await?;
            let said = String::from_utf8_lossy(&answer);
            if is_compaction_unknown(status, &said) {
                self.offer.refuse(form, status, &refusal_text(&said));
                continue;
            }
            let answer = match read_compacted(status, &answer)? {
                CompactionReading::Compacted(answer) => answer,
                CompactionReading::Ignored(answer) => {
                    self.offer.ignore();
                    answer
                }
            };
            tracing::info!(
                form = form.name(),
                input_tokens = answer.input_tokens,
                cached_tokens = answer.cached_tokens,
                output_tokens = answer.output_tokens,
                "the conversation's provider was asked for its own compaction"
            );
            return Ok(answer);
        }
        Err(self.offer.none("the conversation's provider", self.tokens))
    }
}

/// Adds what `form` has to declare to what the client declares.
fn declare(headers: &mut HeaderMap, form: CompactionForm) {
    let (name, beta) = form.beta();
    let name = HeaderName::from_static(name);
    let declared = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok());
    let all: Vec<&str> = declared.chain([beta]).collect();
    // What came as headers and is joined by commas is one.
    if let Ok(value) = HeaderValue::from_str(&all.join(",")) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_clients_own_betas_stay() {
        let check = |client: &[&str], expect: &str| {
            let mut headers = HeaderMap::new();
            for value in client {
                headers.append("anthropic-beta", value.parse().unwrap());
            }
            declare(&mut headers, CompactionForm::OnDemand);
            let values: Vec<_> = headers.get_all("anthropic-beta").iter().collect();
            assert_eq!(values, [expect]);
        };
        check(&[], "compact-2026-09-04");
        check(&["oauth-2025-04-20,a"], "oauth-2025-04-20,a,compact-2026-09-04");
        check(&["a", "b"], "a,b,compact-2026-09-04");
    }
}
