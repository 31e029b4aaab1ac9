//! `epitome mcp`: the log of a session, as tools that its model can call.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use epitome::config::Source;
use epitome_mcp::{LocalSession, ReadProblem, RemoteService, ServeProblem, SessionLocation, run as run_server};

use crate::args::{McpArgs, SessionAgent};
use crate::failure::{CommandResult, Failure};
use crate::setup::{claude_code_sessions, own_folder};
use crate::store::variable;
use crate::{configuration, folders, paths, terminal};

pub(crate) fn run(args: &McpArgs, quiet: bool) -> CommandResult {
    let ready = |address: SocketAddr| {
        if !quiet {
            terminal::tell(&format!("epitome answers on http://{address}/mcp (Ctrl-C stops it)\n"));
        }
    };
    match &args.url {
        Some(url) => {
            let token = args.token_variable.as_deref().map(variable).transpose()?;
            let service = RemoteService::new(url, token, args.session.clone()).map_err(Failure::usage)?;
            run_server(async { Ok::<_, Failure>(service) }, args.listen, ready)?;
        }
        None => run_server(local(args, quiet), args.listen, ready)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The session on this machine that the arguments name. It is read once, so that an unreadable file is an error at once.
async fn local(args: &McpArgs, quiet: bool) -> Result<LocalSession, Failure> {
    let registry = epitome::registry();
    let config = configuration::read_for_agent(&args.configuration, &registry)?;
    let is_set = |key: &str| config.source(key) != Source::Default;
    let sets_window = is_set("budget.window") || is_set("budget.model");
    let runtime = configuration::build_without_model(config, &registry)?;
    let session = LocalSession::new(place(args).await?, runtime);
    let session = if sets_window { session.keep_window() } else { session };
    match session.refresh().await {
        Ok(()) => Ok(session),
        // An agent may begin its file after it has begun its servers.
        Err(problem @ ReadProblem::Missing(_)) if args.file.is_some() || args.beside.is_some() => {
            // Beside an agent that is how it always begins.
            if !quiet && args.beside.is_none() {
                terminal::note(&format!("{problem} yet: calls are answered when it is"));
            }
            Ok(session)
        }
        Err(problem) => Err(Failure::usage(problem)),
    }
}

async fn place(args: &McpArgs) -> Result<SessionLocation, Failure> {
    if let Some(path) = &args.file {
        if paths::is_standard(path) {
            let failure = Failure::usage_text("standard input is where the client speaks");
            return Err(failure.with_help("name the session's file"));
        }
        return Ok(SessionLocation::File { path: path.clone(), format: args.from, session: args.session.clone() });
    }
    if let Some(agent) = args.beside {
        let path = sessions_of(agent)?;
        return Ok(SessionLocation::File { path, format: args.from, session: args.session.clone() });
    }
    let opened = if args.session.is_some() { args.store.open().await? } else { None };
    let (Some((store, tenant)), Some(id)) = (opened, &args.session) else {
        let failure = Failure::usage_text("there is no session to answer for");
        return Err(failure.with_help(
            "name its file: epitome mcp FILE\n\
             or the agent beside it: epitome mcp --beside claude-code\n\
             or one of a service: epitome mcp --url http://127.0.0.1:7777 --session ID\n\
             or one of a store: epitome mcp --store sqlite:PATH --session ID",
        ));
    };
    Ok(SessionLocation::Store { store, tenant, id: Arc::from(id.as_str()) })
}

/// The folder of an agent's sessions.
fn sessions_of(agent: SessionAgent) -> Result<PathBuf, Failure> {
    match agent {
        SessionAgent::ClaudeCode => {
            let project = folders::variable("CLAUDE_PROJECT_DIR").map_or_else(std::env::current_dir, Ok)?;
            claude_code_sessions(&project)
        }
        SessionAgent::Codex => Ok(own_folder("CODEX_HOME", ".codex")?.join("sessions")),
    }
}

impl From<ServeProblem> for Failure {
    fn from(problem: ServeProblem) -> Self {
        match problem {
            ServeProblem::NotLocal(_) => Self::usage(problem),
            ServeProblem::Listen(..) => {
                Self::other(problem).with_help("--listen ADDRESS:PORT takes another, port 0 a free one")
            }
            other => Self::other(other),
        }
    }
}
