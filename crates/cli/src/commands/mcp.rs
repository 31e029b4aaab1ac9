//! `epitome mcp`: what was said in a session, as tools that its model can call.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use epitome::formats::Format;
use epitome_mcp::{LocalSession, Place, ReadProblem, RemoteService, ServeProblem, run as run_server};

use crate::args::format_parser;
use crate::failure::{Failure, Outcome};
use crate::store::{StoreArgs, variable};
use crate::{configuration, paths, terminal};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The session's file, in any format that is read, while its agent is still writing it; of a folder the `.jsonl` or `.json`
    /// file in it that was changed last
    #[arg(value_name = "FILE|FOLDER", conflicts_with_all = ["url", "kept_in"])]
    pub(crate) file: Option<PathBuf>,
    /// Which session: of a file of several its number from 0 or its id; of a store or a service its id
    #[arg(long, value_name = "N|ID")]
    pub(crate) session: Option<String>,
    /// The file's format; recognised from the content without it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true, requires = "file")]
    pub(crate) from: Option<Format>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// A running service, such as `http://127.0.0.1:7777`: its sessions, all of them where `--session` names none
    #[arg(long, value_name = "URL", conflicts_with = "kept_in")]
    pub(crate) url: Option<String>,
    /// The environment variable that holds the service's token
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) token_variable: Option<String>,
    /// Serves over HTTP at this address of this machine, and not on standard input and output
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// A configuration file: how large the context is and how it is counted
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The agent of the configuration whose settings count
    #[arg(long, value_name = "NAME", requires = "config")]
    pub(crate) agent: Option<String>,
}

pub(crate) fn run(args: &McpArgs, quiet: bool) -> Outcome {
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

/// The session on this machine that the arguments name. It is read once, so that what cannot be read is told at once.
async fn local(args: &McpArgs, quiet: bool) -> Result<LocalSession, Failure> {
    let registry = epitome::registry();
    let mut config = configuration::config(args.config.as_deref(), &registry)?;
    if let Some(agent) = &args.agent {
        config = configuration::of_agent(&config, agent)?;
    }
    let runtime = configuration::build_without_model(config, &registry)?;
    let session = LocalSession::new(place(args).await?, runtime);
    match session.refresh().await {
        Ok(()) => Ok(session),
        // An agent may begin its file after it has begun its servers.
        Err(problem @ ReadProblem::Missing(_)) if args.file.is_some() => {
            if !quiet {
                terminal::note(&format!("{problem} yet: calls are answered when it is"));
            }
            Ok(session)
        }
        Err(problem) => Err(Failure::usage(problem)),
    }
}

async fn place(args: &McpArgs) -> Result<Place, Failure> {
    if let Some(path) = &args.file {
        if paths::is_standard(path) {
            let failure = Failure::usage_text("standard input is where the client speaks");
            return Err(failure.with_help("name the session's file"));
        }
        return Ok(Place::File { path: path.clone(), format: args.from, session: args.session.clone() });
    }
    let opened = if args.session.is_some() { args.store.open().await? } else { None };
    let (Some((store, tenant)), Some(id)) = (opened, &args.session) else {
        let failure = Failure::usage_text("there is no session to answer for");
        return Err(failure.with_help(
            "name its file: epitome mcp FILE\n\
             or one of a service: epitome mcp --url http://127.0.0.1:7777 --session ID\n\
             or one of a store: epitome mcp --store sqlite:PATH --session ID",
        ));
    };
    Ok(Place::Store { store: Arc::new(store), tenant, id: Arc::from(id.as_str()) })
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
