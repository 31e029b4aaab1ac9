//! The tools as a server of the Model Context Protocol.

use std::sync::Arc;

use epitome::lookup::Answer;
use epitome::lookup::tools::{COMPACT_CONTEXT, Tool, tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, ListToolsResult, MetaObject, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};

use crate::call_origin::CallOrigin;

/// The server's instructions to a client.
const INSTRUCTIONS: &str = "What was said in this conversation is not lost when it leaves the context: search_history finds \
                            it by words, recall gives it back whole.";

/// The code of a refusal: the first of those that JSON-RPC leaves to servers.
const REFUSED: ErrorCode = ErrorCode(-32000);

/// Answers calls of tools.
pub trait ToolBackend: Send + Sync + 'static {
    /// Whether there are many sessions, so that calls may name one.
    fn has_many_sessions(&self) -> bool;

    /// Why no client is served, in a line for the person; `None` where they are.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Whether it holds the contexts of its sessions, so that it can compact them.
    fn compacts(&self) -> bool {
        false
    }

    /// Answers a call of a tool. `origin` is what the client says of the session that asks.
    fn answer(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: &CallOrigin,
    ) -> impl Future<Output = Answer> + Send;
}

/// A server of the protocol over any source of answers.
#[derive(Debug)]
pub struct Handler<A> {
    answers: Arc<A>,
}

impl<A> Clone for Handler<A> {
    fn clone(&self) -> Self {
        Self { answers: Arc::clone(&self.answers) }
    }
}

impl<A: ToolBackend> Handler<A> {
    /// Returns a server with `answers` as its source.
    pub fn new(answers: Arc<A>) -> Self {
        Self { answers }
    }
}

/// Marks a tool for Claude Code as one that belongs into its requests from the beginning. Otherwise it withholds the
/// tools of servers until its model has searched for them, and a model that has forgotten something does not know that
/// there is a tool for it.
fn at_hand() -> Map<String, Value> {
    Map::from_iter([("anthropic/alwaysLoad".to_owned(), Value::Bool(true))])
}

fn describe(tool: Tool) -> rmcp::model::Tool {
    let schema = match tool.schema {
        Value::Object(schema) => schema,
        _ => Map::new(), // schemas are objects
    };
    let is_read_only = tool.name != COMPACT_CONTEXT;
    let reads =
        ToolAnnotations::new().read_only(is_read_only).destructive(false).idempotent(is_read_only).open_world(false);
    let described = rmcp::model::Tool::new(tool.name, tool.description, Arc::new(schema)).with_annotations(reads);
    described.with_meta(MetaObject(at_hand()))
}

impl<A: ToolBackend> ServerHandler for Handler<A> {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("epitome", env!("CARGO_PKG_VERSION"));
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        _: InitializeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        match self.answers.refusal() {
            Some(problem) => Err(ErrorData::new(REFUSED, problem, None)),
            None => Ok(self.get_info()),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools(self.answers.has_many_sessions(), self.answers.compacts());
        Ok(ListToolsResult::with_all_items(tools.into_iter().map(describe).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.answers.answer(&request.name, arguments, &CallOrigin::read(&context.meta.0.0)).await;
        // An error in a call is for the model to read and correct: a result, and not an error of the protocol. There is
        // no structured content beside the text, because Claude Code and Codex give that to the model in place of the
        // text.
        let content = vec![ContentBlock::text(answer.text)];
        let is_refusal = answer.is_refusal;
        let result = if is_refusal { CallToolResult::error(content) } else { CallToolResult::success(content) };
        Ok(result.into())
    }
}
