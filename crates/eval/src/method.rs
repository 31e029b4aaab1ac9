//! What is measured: chains, presets and configurations of this engine, and baselines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use epitome::config::Preset;
use epitome::engine::{Chain, Engine, Ledger, Mode, block_on};
use epitome::session::Entry;
use epitome::{Config, MemoryArchive, Registry, Request, Runtime, Session, Status};

use crate::EvalError;
use crate::baselines::Baseline;
use crate::case::Case;
use crate::generations::{piped, session_of};
use crate::resume::digest;

/// What methods are held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodOptions {
    /// How long an outside method may take for one case at one budget.
    pub command_timeout: Duration,
}

impl Default for MethodOptions {
    fn default() -> Self {
        Self { command_timeout: Duration::from_secs(120) }
    }
}

/// A way to compact.
#[derive(Debug)]
pub struct Method {
    name: String,
    digest: String,
    how: How,
}

#[derive(Debug)]
enum How {
    Engine(Box<EngineMethod>),
    Baseline(Baseline),
    Outside { command: String, timeout: Duration },
}

/// This engine under a configuration.
#[derive(Debug)]
struct EngineMethod {
    engine: Engine,
    mode: Mode,
    chain: Option<Chain>,
}

/// What a method made of a case.
#[derive(Debug)]
pub struct Outcome {
    /// The compacted view; `None` where there is none.
    pub entries: Option<Vec<Entry>>,
    /// Why there is none.
    pub problem: Option<String>,
    /// How long it took, in microseconds: counting, planning, writing.
    pub micros: u64,
}

impl Method {
    /// The method that `spec` names: `default`, `tournament`, a preset, a chain of the default configuration, a strategy,
    /// `chain:a+b+c`, `set:KEY=VALUE+KEY=VALUE` for the default with other settings, `config:FILE`, `baseline:newest|tail|cleared|identifiers`, or `command:…` for an outside one. The
    /// error says what would be right.
    pub fn parse(spec: &str, options: &MethodOptions, registry: &Registry) -> Result<Self, EvalError> {
        // What a name stands for besides the name itself.
        let mut meant = String::new();
        let how = match spec.split_once(':') {
            Some(("baseline", name)) => How::Baseline(Baseline::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Baseline::ALL.iter().map(|baseline| baseline.as_str()).collect();
                EvalError::Method(format!("`{name}` is no baseline; there are {}", known.join(", ")))
            })?),
            Some(("command", command)) => {
                meant = format!("{:?}", options.command_timeout);
                How::Outside { command: command.to_owned(), timeout: options.command_timeout }
            }
            Some(("chain", chain)) => named_chain(&chain.split('+').map(str::trim).collect::<Vec<_>>(), registry)?,
            Some(("config", file)) => {
                let text = read_text(file)?;
                let config = parse_config(&text, file, registry)?;
                meant = text + &settled(&config, registry);
                of_config(&config, registry)?
            }
            Some(("set", settings)) => {
                let config = with_settings(settings, registry)?;
                meant = settled(&config, registry);
                of_config(&config, registry)?
            }
            Some((kind, _)) => {
                let known = "chain:a+b+c, set:KEY=VALUE+KEY=VALUE, config:FILE, command:…, baseline:NAME";
                return Err(EvalError::Method(format!("`{kind}:` is no kind of method; there are {known}")));
            }
            None => bare(spec, registry)?,
        };
        if meant.is_empty() && matches!(how, How::Engine(_)) {
            let preset = Preset::by_name(spec).map(Config::with_preset);
            meant = settled(&preset.unwrap_or_default(), registry);
        }
        let digest = digest(format!("{spec}\0{meant}").as_bytes());
        Ok(Self { name: spec.to_owned(), digest, how })
    }

    /// A configuration as a method, with a chain of its own where one is given.
    pub(crate) fn configured(
        name: &str,
        config: &Config,
        chain: Option<&[String]>,
        registry: &Registry,
    ) -> Result<Self, EvalError> {
        let runtime = build(config, registry)?;
        let chain = chain.map(|names| fixed_chain(&runtime, names, registry)).transpose()?;
        let mode = if chain.is_some() { Mode::Fixed } else { runtime.mode };
        let engine = epitome::engine_of(&runtime);
        let digest = digest(format!("{name}\0{}\0{chain:?}", settled(config, registry)).as_bytes());
        Ok(Self { name: name.to_owned(), digest, how: How::Engine(Box::new(EngineMethod { engine, mode, chain })) })
    }

    /// Its name in tables: what it was named by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A digest of what it is: its name, every setting that its configuration comes to, the bytes of that configuration's
    /// file, the time that an outside one has. What a command runs is not looked at.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Compacts the prefix of a case to at most `budget` tokens. Linear in the prefix for each strategy of a chain.
    pub fn compact(&self, case: &Case, budget: u32) -> Outcome {
        self.compact_for(case, budget, None)
    }

    /// Compacts the prefix of a case again and again, each time to the next of `budgets`, and gives what the last
    /// compaction left. This engine works on one session with its log, unless a text lies between (`is_piped`); other
    /// methods get what the last one left as a session of its own. A compaction on the way that gives no result leaves
    /// what is there. The time is that of all.
    pub fn compact_through(&self, case: &Case, budgets: &[u32], is_piped: bool) -> Outcome {
        let started = Instant::now();
        let result = match &self.how {
            How::Engine(method) => method.compact_through(case, budgets, is_piped),
            How::Baseline(_) | How::Outside { .. } => self.again(case, budgets, is_piped),
        };
        let micros = started.elapsed().as_micros() as u64;
        match result {
            Ok(entries) => Outcome { entries: Some(entries), problem: None, micros },
            Err(problem) => Outcome { entries: None, problem: Some(problem), micros },
        }
    }

    fn again(&self, case: &Case, budgets: &[u32], is_piped: bool) -> Result<Vec<Entry>, String> {
        let tools = case.prefix.tools.as_deref();
        let Some((last, on_the_way)) = budgets.split_last() else { return Ok(case.prefix.view().to_vec()) };
        let mut left: Option<Case> = None;
        for budget in on_the_way {
            let now = left.as_ref().unwrap_or(case);
            let Some(entries) = self.compact(now, *budget).entries else { continue };
            let session = if is_piped { piped(&entries, tools)? } else { session_of(&entries, tools) };
            let next = Case::of(case.id.clone(), &case.format, session, &[]).map_err(|error| error.to_string())?;
            left = Some(next);
        }
        let outcome = self.compact(left.as_ref().unwrap_or(case), *last);
        outcome.entries.ok_or_else(|| outcome.problem.unwrap_or_default())
    }

    /// Whether it can be told what to keep in focus.
    pub fn takes_focus(&self) -> bool {
        matches!(self.how, How::Engine(_))
    }

    /// The same with `focus` as what to keep in focus, where the method takes one.
    pub fn compact_for(&self, case: &Case, budget: u32, focus: Option<&str>) -> Outcome {
        let started = Instant::now();
        let result = match &self.how {
            How::Baseline(baseline) => Ok(baseline.compact(case, budget)),
            How::Engine(method) => method.compact(case, budget, focus),
            How::Outside { command, timeout } => crate::outside::compact(command, *timeout, case, budget),
        };
        let micros = started.elapsed().as_micros() as u64;
        match result {
            Ok(entries) => Outcome { entries: Some(entries), problem: None, micros },
            Err(problem) => Outcome { entries: None, problem: Some(problem), micros },
        }
    }
}

fn bare(spec: &str, registry: &Registry) -> Result<How, EvalError> {
    if spec == "default" {
        return of_config(&Config::default(), registry);
    }
    if spec == "tournament" || spec == "adaptive" {
        let How::Engine(mut method) = of_config(&Config::default(), registry)? else {
            return Err(EvalError::Method(spec.to_owned()));
        };
        method.mode = if spec == "adaptive" { Mode::Adaptive } else { Mode::Tournament };
        return Ok(How::Engine(method));
    }
    match Preset::by_name(spec) {
        Some(preset) => of_config(&Config::with_preset(preset), registry),
        None => named_chain(&[spec], registry),
    }
}

pub(crate) fn read_config(file: &str, registry: &Registry) -> Result<Config, EvalError> {
    parse_config(&read_text(file)?, file, registry)
}

fn read_text(file: &str) -> Result<String, EvalError> {
    std::fs::read_to_string(file).map_err(|error| EvalError::Read { file: file.to_owned(), error })
}

fn parse_config(text: &str, file: &str, registry: &Registry) -> Result<Config, EvalError> {
    Config::parse(text, file, registry).map_err(|errors| EvalError::Config(errors.to_string()))
}

/// The default configuration with settings such as `structured-extraction.tail_share=0.2` or `select.mode=tournament`.
fn with_settings(settings: &str, registry: &Registry) -> Result<Config, EvalError> {
    let mut config = Config::default();
    for setting in settings.split('+') {
        let wrong = |problem: String| EvalError::Method(format!("set: `{setting}` {problem}"));
        let (key, value) = setting.split_once('=').ok_or_else(|| wrong("is not KEY=VALUE".to_owned()))?;
        let (key, value) = (key.trim(), value.trim());
        // `summary` is a strategy and a section: it is the strategy where that has the setting.
        let is_strategy = key.split_once('.').is_some_and(|(strategy, name)| {
            registry.get(strategy).is_ok_and(|known| known.fields.iter().any(|field| field.name == name))
        });
        let key = if is_strategy { format!("strategies.{key}") } else { key.to_owned() };
        // What is no number, flag or list is a text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        config.set(&key, &value).map_err(wrong)?;
    }
    Ok(config)
}

/// Every key of a configuration with the value that it comes to, defaults included: these change between builds.
fn settled(config: &Config, registry: &Registry) -> String {
    let effective = config.effective(registry);
    effective.iter().map(|entry| format!("{} = {:?}\n", entry.key, entry.value)).collect()
}

pub(crate) fn build(config: &Config, registry: &Registry) -> Result<Runtime, EvalError> {
    config.build(registry).map_err(|errors| EvalError::Config(errors.to_string()))
}

fn of_config(config: &Config, registry: &Registry) -> Result<How, EvalError> {
    let runtime = build(config, registry)?;
    let engine = epitome::engine_of(&runtime);
    Ok(How::Engine(Box::new(EngineMethod { engine, mode: runtime.mode, chain: runtime.fixed })))
}

fn fixed_chain(runtime: &Runtime, names: &[String], registry: &Registry) -> Result<Chain, EvalError> {
    runtime.chain(names, registry).map_err(EvalError::Method)
}

fn named_chain(names: &[&str], registry: &Registry) -> Result<How, EvalError> {
    let runtime = build(&Config::default(), registry)?;
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let chain = fixed_chain(&runtime, &names, registry)?;
    let engine = epitome::engine_of(&runtime);
    Ok(How::Engine(Box::new(EngineMethod { engine, mode: Mode::Fixed, chain: Some(chain) })))
}

impl EngineMethod {
    fn compact(&self, case: &Case, budget: u32, focus: Option<&str>) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        self.once(&mut session, &mut ledger, &mut MemoryArchive::new(), budget, focus)?;
        Ok(session.view().to_vec())
    }

    fn compact_through(&self, case: &Case, budgets: &[u32], is_piped: bool) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let mut last = Ok(());
        for (number, budget) in budgets.iter().enumerate() {
            if is_piped && number > 0 {
                session = piped(session.view(), case.prefix.tools.as_deref())?;
                ledger = self.engine.ledger(&session);
            }
            last = self.once(&mut session, &mut ledger, &mut archive, *budget, None);
        }
        last.map(|()| session.view().to_vec())
    }

    /// One compaction of `session`; the error says why there was none.
    fn once(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut MemoryArchive,
        budget: u32,
        focus: Option<&str>,
    ) -> Result<(), String> {
        let mut request = Request::to_budget(budget);
        request.mode = self.mode;
        request.focus = focus.map(str::to_owned);
        request.chain.clone_from(&self.chain);
        let compacted = block_on(self.engine.compact(session, ledger, archive, &request));
        let report = compacted.map_err(|error| error.to_string())?;
        match report.status {
            Status::NoChange | Status::Compacted | Status::Hollow => Ok(()),
            Status::RolledBack => Err("rolled back: no chain kept what the configuration asks for".to_owned()),
            Status::Infeasible => {
                let floor = report.floor.map_or(0, |floor| floor.tokens);
                Err(format!("infeasible: {floor} tokens must stay, the budget is {budget}"))
            }
        }
    }
}

/// The methods that `specs` name, and the free baselines behind them where they are not named: they are part of every
/// comparison.
pub fn methods(specs: &[String], options: &MethodOptions, registry: &Registry) -> Result<Vec<Arc<Method>>, EvalError> {
    let mut all: Vec<String> = Vec::new();
    let baselines = Baseline::ALL.iter().map(|baseline| format!("baseline:{}", baseline.as_str()));
    for spec in specs.iter().map(|spec| spec.trim().to_owned()).chain(baselines) {
        if !spec.is_empty() && !all.contains(&spec) {
            all.push(spec);
        }
    }
    all.iter().map(|spec| Method::parse(spec, options, registry).map(Arc::new)).collect()
}
