//! The session's own model, asked one more thing at the end of its conversation.

use std::fmt::Debug;
use std::sync::Arc;

use epitome_config::Runtime;
use epitome_providers::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest};
use epitome_session::{Entry, Session};
use epitome_strategy::{Summarizer, Tokens, async_trait};

/// A question to the session's own model.
#[derive(Debug, Clone, Copy)]
pub struct ConversationQuestion<'a> {
    /// The model's last view of the session, or the one it would be sent now, in order.
    pub view: &'a [Entry],
    /// The tool definitions that are sent with it, as JSON.
    pub tools: Option<&'a str>,
    /// The further message of the user.
    pub instruction: &'a str,
    /// Tokens that the answer may take.
    pub max_tokens: Tokens,
}

/// The sender of the session's requests: asked to send one more, with the same system prompt, tools and messages byte for
/// byte, so that the provider reads them from its cache, and the instruction at its end. No tool may be called; an answer
/// that calls one is not taken.
#[async_trait]
pub trait Conversation: Send + Sync + Debug {
    /// The model's name, for reports and errors.
    fn model(&self) -> &str;
    /// Asks the model. Dropping the future ends the request.
    async fn ask(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError>;
    /// Has the provider compact the conversation by its own means, with the instruction as what the summary has to hold, for
    /// `summarizer = "provider"`; the summary is the answer's text. Where it errs the model is [asked](Self::ask). It errs
    /// unless a host does better.
    async fn compact(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        let _ = question;
        let message = "this conversation has no way to a compaction by its provider".to_owned();
        Err(ChatError::new(ChatErrorKind::Rejected, message))
    }
}

/// The way to ask a session's own model.
#[derive(Debug, Clone)]
pub(super) struct ConversationModel {
    pub(super) runtime: Arc<Runtime>,
    pub(super) conversation: Arc<dyn Conversation>,
}

impl ConversationModel {
    /// The same under other settings; `None` where these do not ask the conversation's model.
    pub(super) fn with_runtime(self, runtime: &Runtime) -> Option<Self> {
        runtime.asks_conversations().then(|| Self { runtime: Arc::new(runtime.clone()), ..self })
    }

    pub(super) fn summarizer(&self, session: &Session) -> Option<Arc<dyn Summarizer>> {
        let asked = Arc::new(SessionModel {
            conversation: Arc::clone(&self.conversation),
            view: session.view().to_vec(),
            tools: session.tools.clone(),
        });
        let compacted = Arc::new(ProviderCompaction(Arc::clone(&asked)));
        self.runtime.make_summarizer_in(asked, compacted, None)
    }
}

/// A session at some moment, as a model that answers at its end.
#[derive(Debug)]
struct SessionModel {
    conversation: Arc<dyn Conversation>,
    view: Vec<Entry>,
    tools: Option<Arc<str>>,
}

#[async_trait]
impl ChatModel for SessionModel {
    fn name(&self) -> &str {
        self.conversation.model()
    }

    /// Whatever the conversation itself has: the provider says when it is too long.
    fn window(&self) -> Tokens {
        0
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.conversation.ask(self.question(request)).await
    }
}

impl SessionModel {
    fn question<'a>(&'a self, request: &'a ChatRequest) -> ConversationQuestion<'a> {
        ConversationQuestion {
            view: &self.view,
            tools: self.tools.as_deref(),
            instruction: &request.user,
            max_tokens: request.max_tokens,
        }
    }
}

/// The same session, compacted by its provider.
#[derive(Debug)]
struct ProviderCompaction(Arc<SessionModel>);

#[async_trait]
impl ChatModel for ProviderCompaction {
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Not the model's own identity: where the provider refuses a compaction, the model may still write a summary.
    fn identity(&self) -> String {
        format!("compaction by {}", self.0.identity())
    }

    fn window(&self) -> Tokens {
        self.0.window()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.0.conversation.compact(self.0.question(request)).await
    }
}
