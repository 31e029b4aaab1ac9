//! A channel whose provider compacts.

use epitome_strategy::{Tokens, async_trait};
use epitome_wire::anthropic::{
    CompactionForm, CompactionReading, answer_tokens, is_compaction_unknown, read_compaction,
};
use serde_json::{Map, Value, json};

use super::{Compaction, CompactionOffer, CompactionRequest};
use crate::chat::service::HttpChat;
use crate::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel};
use crate::http::HttpError;

/// Asks a service over HTTP for its own compaction. Works under any executor.
#[derive(Debug)]
pub(in crate::chat) struct HttpCompaction {
    chat: HttpChat,
    offer: CompactionOffer,
}

impl HttpCompaction {
    pub(in crate::chat) fn new(chat: HttpChat) -> Self {
        Self { chat, offer: CompactionOffer::default() }
    }

    fn body(&self, form: CompactionForm, request: &CompactionRequest) -> Value {
        let mut body = Map::from_iter([
            ("model".to_owned(), json!(self.name())),
            ("max_tokens".to_owned(), json!(answer_tokens(request.max_tokens))),
            ("stream".to_owned(), json!(false)),
        ]);
        body.extend(request.conversation.clone());
        for (name, value) in &self.chat.settings.extra {
            match value {
                Value::Null => drop(body.remove(name)),
                value => drop(body.insert(name.clone(), value.clone())),
            }
        }
        let (name, value) = form.field(&request.instructions);
        body.insert(name.to_owned(), value);
        Value::Object(body)
    }

    fn answer(&self, answer: &Value) -> Result<ChatAnswer, ChatError> {
        self.chat.check(answer)?;
        Ok(match read_compaction(answer).map_err(|misread| self.chat.misread(misread))? {
            CompactionReading::Compacted(answer) => answer,
            CompactionReading::Ignored(answer) => {
                self.offer.ignore();
                answer
            }
        })
    }
}

#[async_trait]
impl Compaction for HttpCompaction {
    fn name(&self) -> &str {
        self.chat.name()
    }

    fn identity(&self) -> String {
        format!("compaction by {}", self.chat.identity())
    }

    fn window(&self) -> Tokens {
        self.chat.window()
    }

    async fn compact(&self, request: &CompactionRequest) -> Result<ChatAnswer, ChatError> {
        let most = self.window().saturating_sub(answer_tokens(request.max_tokens));
        if request.tokens > most {
            let message = format!(
                "the conversation of {} tokens is too long for the compaction of `{}`, whose window is {}",
                request.tokens,
                self.name(),
                self.window()
            );
            return Err(ChatError::new(ChatErrorKind::TooLong, message));
        }
        for form in self.offer.forms(request.tokens) {
            if let Some(why) = form.refuses(&request.instructions) {
                let message = format!("the compaction of `{}` cannot be asked for: {why}", self.name());
                return Err(ChatError::new(ChatErrorKind::Rejected, message));
            }
            match self.chat.client.post_with(self.chat.path, &[form.beta()], &self.body(form, request)).await {
                Ok(answer) => return self.answer(&answer),
                Err(HttpError::Status { status, body, .. }) if is_compaction_unknown(status, &body) => {
                    self.offer.refuse(form, status, &self.chat.refusal_message(&body));
                }
                Err(error) => {
                    // A key that may not compact may still ask the model.
                    let is_forbidden = matches!(error, HttpError::Status { status: 403, .. });
                    let error = self.chat.explain_error(&error);
                    return Err(ChatError { fails_all: error.fails_all && !is_forbidden, ..error });
                }
            }
        }
        Err(self.offer.none(&format!("`{}`", self.chat.url()), request.tokens))
    }
}
