//! `epitome serve`: the service and the proxy.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use epitome::config::Source;
use epitome_server::{
    ItemKeys, Limits, LogError, Memory, RateScope, ServeError, Settings, StoreLocation, Tokens, Upstreams,
    log_to_stderr, serve,
};

use crate::args::{LimitArgs, RateScopeArg, ServeArgs};
use crate::failure::{CommandResult, Failure};
use crate::{configuration, folders, terminal};

/// Bytes in a mebibyte, in which sizes are given.
const MIB: usize = 1 << 20;

pub(crate) fn run(args: &ServeArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    let mut config = configuration::read_for_agent(&args.configuration, &registry)?;
    // Errors are shown to users of the service too.
    config.hide_addresses();
    let settings = Settings {
        listen: args.listen,
        tokens: tokens(args)?,
        upstreams: upstreams(&args.upstream)?,
        item_keys: item_keys(args)?,
        limits: limits(&args.limits),
        memory: Memory {
            archive_bytes: args.limits.archive_size as usize * MIB,
            sessions: args.limits.max_sessions as usize,
            ..Memory::default()
        },
        config: config.clone(),
        channel_hosts: args.channel_host.iter().cloned().collect(),
        store: keeping(store_of(args)?.as_deref())?,
        budget_by_model: config.source("budget.window") == Source::Default,
    };
    if !settings.upstreams.is_empty() {
        config.has_conversations();
    }
    let runtime = configuration::build(&config, &registry)?;
    let _logs = log_to_stderr(&args.log).map_err(|error| match error {
        LogError::Filter { .. } => Failure::usage_text(format!("--log: {error}")),
        other => Failure::usage(other),
    })?;
    let ready = |address: SocketAddr| {
        if !quiet {
            terminal::tell(&format!("epitome serves on http://{address} (console: /console/; Ctrl-C stops it)\n"));
        }
    };
    match serve(runtime, config.registry(&registry), settings, ready) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error @ ServeError::TokenNeeded(_)) => {
            let help = "--token-variable NAME or --token-file FILE gives it one";
            Err(Failure::usage(error).with_help(help))
        }
        Err(error @ ServeError::Listen { .. }) => {
            Err(Failure::other(error).with_help("--listen ADDRESS:PORT takes another, port 0 a free one"))
        }
        Err(error @ ServeError::Store(_)) => {
            Err(Failure::other(error).with_help("--store names another, --store none does without sessions"))
        }
        Err(error) => Err(Failure::other(error)),
    }
}

/// The address of the store, where one is given.
fn store_of(args: &ServeArgs) -> Result<Option<String>, Failure> {
    let Some(name) = &args.store_variable else { return Ok(args.store.clone()) };
    match std::env::var(name) {
        Ok(address) if !address.trim().is_empty() => Ok(Some(address.trim().to_owned())),
        _ => {
            let problem = format!("--store-variable: the environment variable {name} holds no address");
            Err(Failure::usage_text(problem).with_help("set it, such as to postgres://USER:PASSWORD@HOST/DATABASE"))
        }
    }
}

/// Where sessions are kept. The folder of the default file is made.
fn keeping(store: Option<&str>) -> Result<StoreLocation, Failure> {
    match store {
        Some("none") => return Ok(StoreLocation::Nowhere),
        Some(address) if ["sqlite:", "postgres://", "postgresql://"].iter().any(|kind| address.starts_with(kind)) => {
            return Ok(StoreLocation::In(address.to_owned()));
        }
        // Not repeated: it may hold a password.
        Some(_) => {
            let problem = "--store: this is not an address of a store".to_owned();
            return Err(Failure::usage_text(problem).with_help("sqlite:PATH, sqlite::memory:, postgres://… or none"));
        }
        None => {}
    }
    let Some(folder) = folders::data() else {
        terminal::tell("sessions are not kept: there is no data folder, --store names a place\n");
        return Ok(StoreLocation::Nowhere);
    };
    let folder = folder.join("epitome");
    if let Err(error) = folders::make_private(&folder) {
        let shown = folder.display();
        terminal::tell(&format!("sessions are not kept: `{shown}` cannot be made ({error}), --store names a place\n"));
        return Ok(StoreLocation::Nowhere);
    }
    // A path that an address cannot express cannot be opened; other places can be named.
    Ok(StoreLocation::IfPossible(format!("sqlite:{}", folder.join("epitome.sqlite").display())))
}

fn tokens(args: &ServeArgs) -> Result<Tokens, Failure> {
    let tokens = match (&args.token_variable, &args.token_file) {
        (Some(name), _) => Tokens::from_variable(name),
        (None, Some(file)) => Tokens::from_file(file),
        (None, None) => return Ok(Tokens::default()),
    };
    tokens.map_err(Failure::usage)
}

fn item_keys(args: &ServeArgs) -> Result<ItemKeys, Failure> {
    let keys = match (&args.item_key_variable, &args.item_key_file) {
        (Some(name), _) => ItemKeys::from_variable(name),
        (None, Some(file)) => ItemKeys::from_file(file),
        (None, None) => return Ok(ItemKeys::default()),
    };
    keys.map_err(Failure::usage)
}

fn upstreams(specs: &[String]) -> Result<Upstreams, Failure> {
    let mut upstreams = Upstreams::default();
    for spec in specs {
        upstreams.add(spec).map_err(|error| Failure::usage(anyhow::Error::new(error).context("--upstream")))?;
    }
    Ok(upstreams)
}

fn limits(args: &LimitArgs) -> Limits {
    Limits {
        body_bytes: args.max_body as usize * MIB,
        parts: args.max_parts as usize,
        connections: args.max_connections as usize,
        connections_per_address: args.max_connections_per_address as usize,
        concurrent: args.max_concurrent as usize,
        requests_per_minute: args.requests_per_minute,
        rate_scope: match args.rate_scope {
            RateScopeArg::Store => RateScope::Store,
            RateScopeArg::Instance => RateScope::Instance,
        },
        workers: args.workers as usize,
        body_timeout: Duration::from_secs(args.body_timeout),
        write_timeout: Duration::from_secs(args.write_timeout),
        work_timeout: Duration::from_secs(args.work_timeout),
        upstream_timeout: Duration::from_secs(args.upstream_timeout),
        ..Limits::default()
    }
}
