//! Plays hostile sessions through the engine: compacts, continues, undoes and compacts them again, and checks every law
//! of every result.

mod fickle;

use std::sync::Arc;

use crate::hostile::{self, Chaos, Dice};
use epitome_engine::guard::Guards;
use epitome_engine::{
    Chain, Engine, MemoryArchive, MinQuality, Mode, OnLoss, Pins, Report, Request, SignalDetector, SummaryRole,
};
use epitome_session::{EntryKey, Epoch, Message, MessageRange, Origin, Role, Session, Trigger};
use epitome_strategy::HostChanges;
use epitome_testkit::FakeCounter;

use crate::laws::{LawViolation, compact_and_check};

pub use fickle::{FickleEmbedder, FickleSummarizer, VectorChaos};

/// How a hostile session is played.
#[derive(Debug, Clone, Copy)]
pub struct Game {
    /// Turns of the session at most, before its first compaction.
    pub turns: usize,
    /// Compactions, one after the other, with messages arriving between them.
    pub generations: usize,
    /// Whether compactions are undone now and then before the session continues.
    pub undoes: bool,
    /// Whether the seed decides what the host can do; otherwise it can make every change.
    pub hosts: bool,
    /// The engine's guards: all of them, except to show that a law misses one.
    pub guards: Guards,
}

impl Default for Game {
    /// Returns a game of 40 turns, three compactions, none undone.
    fn default() -> Self {
        Self { turns: 40, generations: 3, undoes: false, hosts: true, guards: Guards::default() }
    }
}

/// The result of playing a session.
#[derive(Debug)]
pub struct PlayedSession {
    /// The session after the last compaction.
    pub session: Session,
    /// The report of each compaction, also of one that changed nothing.
    pub reports: Vec<Report>,
    /// The compactions that were undone.
    pub undone: usize,
    /// Every law that a result broke.
    pub broken: Vec<LawViolation>,
}

/// Returns an engine whose settings and services follow a seed, and a chain of strategies that plan at random.
pub fn engine(seed: u64, guards: Guards) -> (Engine, Chain) {
    let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
    engine.summarizer = Some(Arc::new(FickleSummarizer));
    engine.embedder = Some(Arc::new(FickleEmbedder));
    engine.refill = true;
    engine.guards = guards;
    engine.handles = seed.is_multiple_of(2);
    engine.summary_role = if seed.is_multiple_of(4) { SummaryRole::System } else { SummaryRole::User };
    engine.pins = pins(&mut Dice::new(seed ^ 0x9135));
    engine.quality = min_quality(&mut Dice::new(seed ^ 0x51ed));
    let chaos = |offset| Arc::new(Chaos { seed: seed.wrapping_add(offset), panics: seed.is_multiple_of(3) });
    // Chains that differ, for the tournament; the others are empty: the floor alone.
    engine.chains.code = Chain(vec![chaos(1 << 34)]);
    engine.chains.mixed = Chain(vec![chaos(1 << 35), chaos(1 << 36)]);
    let with_vectors = VectorChaos(Chaos { seed: seed.wrapping_add(1 << 37), panics: false });
    (engine, Chain(vec![chaos(0), Arc::new(with_vectors), chaos(1 << 32), chaos(1 << 33)]))
}

/// Returns the defaults, or other settings of what stays.
fn pins(dice: &mut Dice) -> Pins {
    let tools: &[&str] = dice.pick(&[&["Skill"], &["Skill"], &[], &["Read", "apply_patch"]]);
    Pins {
        original_task: !dice.once_in(4),
        last_rounds: dice.pick(&[0, 0, 1, 2]),
        protected_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        markers: if dice.once_in(4) { vec!["重要".to_owned()] } else { Pins::default().markers },
        keep_recent: dice.pick(&[0, 0, 2, 6, 40]),
    }
}

/// Returns no thresholds, or some with a reaction to losses.
fn min_quality(dice: &mut Dice) -> MinQuality {
    let least = |dice: &mut Dice| dice.pick(&[0.0, 0.0, 0.3, 0.8, 1.0]);
    let (strings, instructions, files) = (least(dice), least(dice), least(dice));
    let on_loss = dice.pick(&[OnLoss::Retry, OnLoss::RollBack, OnLoss::Report]);
    if dice.once_in(2) {
        MinQuality::default()
    } else {
        MinQuality { strings, instructions, files, on_loss, ..MinQuality::default() }
    }
}

/// Returns what the host of a seed can do: for half of the seeds everything.
fn host(seed: u64) -> HostChanges {
    let mut dice = Dice::new(seed ^ 0x7057);
    if dice.once_in(2) {
        HostChanges::Any
    } else {
        dice.pick(&[HostChanges::Texts, HostChanges::Cut, HostChanges::Removals])
    }
}

/// Runs a function without printing the expected panics, which the engine catches. All others are printed.
pub fn quietly<T>(act: impl FnOnce() -> T) -> T {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let message = info.payload_as_str().unwrap_or_default();
            if ![hostile::CHAOS_PANIC, fickle::EMBEDDER_PANIC].contains(&message) {
                usual(info);
            }
        }));
    });
    act()
}

/// Has the host load rules once in three times, in Codex's words: of one of two folders, a few lines or many.
fn load_rules(session: &mut Session, dice: &mut Dice) {
    if !dice.once_in(3) {
        return;
    }
    let (folder, rules, prose) = (dice.pick(&["/w", "/w/web"]), dice.below(12), dice.pick(&[0, 3, 40]));
    let rules: String = (0..=rules).map(|rule| format!("- Never rename module {rule}.\n")).collect();
    let text = format!(
        "# AGENTS.md instructions for {folder}\n\n<INSTRUCTIONS>\n# Rules\n\n{}{rules}</INSTRUCTIONS>",
        "Many people built this.\n\n".repeat(prose)
    );
    session.push(Message::text("", Role::User, Origin::Injected, text));
}

/// Has a person keep a few messages of the view once in four times.
fn keep_some(session: &mut Session, dice: &mut Dice) {
    if !dice.once_in(4) || session.view().is_empty() {
        return;
    }
    let at = dice.below(session.view().len());
    let kept: Vec<EntryKey> = session.view()[at..].iter().take(1 + dice.below(3)).map(|entry| entry.key).collect();
    session.commit(Epoch::keeping(kept, Vec::new()));
}

/// Returns what a person drops: once in three times some neighbours of the log.
fn drops(session: &Session, dice: &mut Dice) -> Vec<MessageRange> {
    let messages = session.log().len();
    if !dice.once_in(3) || messages == 0 {
        return Vec::new();
    }
    let first = dice.below(messages);
    let most = dice.pick(&[1, 4, 30]).min(messages - first);
    let last = first + dice.below(most);
    vec![MessageRange::Span { first: first as u32, last: last as u32 }]
}

/// Plays the session of a seed; the same seed and game give the same result.
pub fn play(seed: u64, game: &Game) -> PlayedSession {
    let (engine, chain) = engine(seed, game.guards);
    let mut played = PlayedSession {
        session: hostile::session(seed, game.turns),
        reports: Vec::new(),
        undone: 0,
        broken: Vec::new(),
    };
    let session = &mut played.session;
    let mut dice = Dice::new(!seed);
    let mut rules_dice = Dice::new(seed ^ 0x2a1e);
    load_rules(session, &mut rules_dice);
    let mut hand_dice = Dice::new(seed ^ 0x4a9d);
    let mut archive = MemoryArchive::new();
    for _ in 0..game.generations {
        keep_some(session, &mut hand_dice);
        let tokens = engine.ledger(session).total() as usize;
        let budget = (tokens * (dice.below(110) + 1) / 100) as u32;
        let request = Request {
            chain: (!dice.once_in(5)).then(|| chain.clone()),
            limit: budget + dice.below(50) as u32,
            mode: if dice.once_in(8) { Mode::Tournament } else { Mode::Adaptive },
            unsent_messages: dice.pick(&[0, 0, 1, 5]),
            trigger: dice.pick(&[Trigger::Manual, Trigger::Hard]),
            drop: drops(session, &mut hand_dice),
            host: if game.hosts { host(seed) } else { HostChanges::Any },
            ..Request::to_budget(budget)
        };
        let (report, broken) = compact_and_check(&engine, session, &mut archive, &request);
        played.broken.extend(broken);
        played.reports.extend(report);
        for message in hostile::session(dice.bits(), 6).log() {
            session.push(Message { pinned: false, ..(**message).clone() });
        }
        let late = hostile::missing_results(session);
        for message in late.into_iter().filter(|_| dice.once_in(4)) {
            session.push(message);
        }
        load_rules(session, &mut rules_dice);
        // An epoch that a later compaction depends on cannot be undone; that is an answer and not a defect.
        if game.undoes && dice.once_in(4) && session.undo(session.next_epoch().saturating_sub(1)).is_ok() {
            played.undone += 1;
        }
    }
    played
}
