//! `epitome mcp`: the log of a session, as tools that its model can call.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use epitome::config::Source;
use epitome_mcp::{
    LocalSession, ReadProblem, RemoteService, ServeProblem, SessionLocation, SharedFolder, run as run_server,
};

use crate::args::{McpArgs, SessionAgent};
use crate::failure::{CommandResult, Failure};
use crate::setup::{claude_code_sessions, own_folder};
use crate::store::variable;
use crate::{configuration, folders, paths, terminal};

/// How long a service on this machine or near it may take for a connection.
const CONNECT: Duration = Duration::from_secs(1);

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
    let refusal = args.needs.as_deref().and_then(unreachable_service);
    let session = LocalSession::new(place(args).await?, runtime).refuse(refusal);
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
        let (format, session) = (args.from, args.session.clone());
        if path.is_dir() {
            let folder = SharedFolder::new(path, Some(std::env::current_dir()?));
            return Ok(SessionLocation::Folder { folder, format, session });
        }
        return Ok(SessionLocation::File { path: path.clone(), format, session });
    }
    if let Some(agent) = args.beside {
        let folder = sessions_of(agent)?.started_for(args.session.clone().or_else(|| started_for(agent)));
        return Ok(SessionLocation::Folder { folder, format: None, session: None });
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

/// An agent's sessions.
fn sessions_of(agent: SessionAgent) -> Result<SharedFolder, Failure> {
    Ok(match agent {
        SessionAgent::ClaudeCode => {
            let project = folders::variable("CLAUDE_PROJECT_DIR").map_or_else(std::env::current_dir, Ok)?;
            SharedFolder::new(claude_code_sessions(&project)?, None)
        }
        SessionAgent::Codex => {
            let folder = own_folder("CODEX_HOME", ".codex")?.join("sessions");
            SharedFolder::new(folder, Some(std::env::current_dir()?))
        }
    })
}

/// The session for which an agent starts its servers, where it tells them: Claude Code by a variable (2.1.332 does).
fn started_for(agent: SessionAgent) -> Option<String> {
    let session = std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty());
    session.filter(|_| agent == SessionAgent::ClaudeCode)
}

/// The line for a person whose agent needs a service at an address where nothing listens.
fn unreachable_service(service: &str) -> Option<String> {
    let line = |problem: &str| {
        format!(
            "epitome: the agent reaches its provider through the service at {service}, and {problem}. Start it (epitome \
             serve --help), or give the agent its own address back (epitome setup AGENT --undo)"
        )
    };
    let (scheme, rest) = service.split_once("://").unwrap_or(("http", service));
    let host = rest.split('/').next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let default = if scheme == "https" { 443 } else { 80 };
    let address = if has_port { host.to_owned() } else { format!("{host}:{default}") };
    let Ok(addresses) = address.to_socket_addrs() else { return Some(line("there is no such address")) };
    let is_there = addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, CONNECT).is_ok());
    (!is_there).then(|| line("nothing answers there"))
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
