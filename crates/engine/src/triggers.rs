//! When a compaction is due: thresholds, rounds, the model's marker, and what keeps these from firing in a loop.

use epitome_session::{Content, Message, Role, Session, Trigger};
use epitome_strategy::Tokens;
use epitome_strategy::state::Boundary;

use crate::budget::{Budget, Check, Urgency};
use crate::report::Report;

/// After an attempt that failed, the next one waits until the view has grown by this share of the usable window.
const PATIENCE: f64 = 0.01;

/// The share of the threshold that an automatic compaction reduces the view to at most. A higher target is lowered, because
/// a compaction that ends where it began would begin again at once.
pub const HIGHEST_TARGET: f64 = 5.0 / 8.0;

/// What it costs to send a token as new that the provider's prompt cache had, in reads of that cache: written at 1.25 of the
/// price of input instead of read at a tenth of it. Source: `prices.toml` of `epitome-config`, the Claude models; where
/// writing costs nothing more it is 9.
const REWRITE: f64 = (1.25 - 0.1) / 0.1;

/// The fewest requests since the newest compaction that tell how many will come until the next.
const TELLING_REQUESTS: u32 = 8;

/// How far a compaction waits for the end of a piece of work by default, see [`Triggers::boundary_wait`]: with the default
/// thresholds the wait costs 1 to 4 % of the price. Source: the table in docs/evidence.md.
pub const DEFAULT_BOUNDARY_WAIT: f64 = 0.25;

/// The triggers of a compaction beside the soft and hard thresholds of the [`Budget`]. All of these suggest one; only
/// the hard threshold forces it.
#[derive(Debug, Clone, PartialEq)]
pub struct Triggers {
    /// Less than this share of the usable window is left; 0 switches it off. The seed designs' value is 0.25.
    pub remaining_share: f64,
    /// This many tokens are used, whatever the window is; 0 switches it off. The seed designs' value is 60,000.
    pub tokens: Tokens,
    /// This many rounds have begun since the last compaction; 0 switches it off.
    pub rounds: u32,
    /// The model writes this text; empty switches it off.
    pub marker: String,
    /// From the soft threshold on a compaction waits for the [end of a piece of work](Boundary) until this share of the way to the hard
    /// threshold is used; 0 waits for nothing.
    pub boundary_wait: f64,
}

impl Default for Triggers {
    /// Returns only the marker of the seed designs: the soft threshold covers the other triggers.
    fn default() -> Self {
        let marker = "!!!SUMMARY!!!".to_owned();
        Self { remaining_share: 0.0, tokens: 0, rounds: 0, marker, boundary_wait: DEFAULT_BOUNDARY_WAIT }
    }
}

/// Follows a session and reports when a compaction is due. Each message is read once; a check costs constant time.
#[derive(Debug, Clone)]
pub struct Watch {
    triggers: Triggers,
    /// Rounds that have begun since the last compaction.
    rounds: u32,
    /// Requests that the model has answered since then.
    requests: u32,
    /// Whether the newest message is the model's.
    answers: bool,
    /// Whether the model has asked for a compaction since then.
    asked: bool,
    /// The tokens at the last failed attempt, and its urgency.
    failed: Option<(Tokens, Urgency)>,
    /// What the newest automatic compaction, or the attempt at one, could not save. A later compaction can save only
    /// what has been added since.
    stays: Option<Tokens>,
    /// Whether the session ends here: no room is made for more of it.
    ends: bool,
}

impl Watch {
    /// Returns a watch over a session that begins now.
    pub fn new(triggers: Triggers) -> Self {
        Self { triggers, rounds: 0, requests: 0, answers: false, asked: false, failed: None, stays: None, ends: false }
    }

    /// Goes by a session to which nothing more is added: a compaction reaches the budget's target as it is.
    pub fn mark_ended(&mut self) {
        self.ends = true;
    }

    /// Returns a watch with the same triggers over a session that begins now.
    pub fn for_new_session(&self) -> Self {
        Self::new(self.triggers.clone())
    }

    /// Reads a message that has arrived. Linear in what the model wrote, constant for others.
    pub fn push(&mut self, message: &Message) {
        self.rounds += u32::from(message.is_typed());
        let answers = message.role == Role::Assistant;
        self.requests += u32::from(answers && !self.answers);
        self.answers = answers;
        let marker = self.triggers.marker.as_str();
        if message.role == Role::Assistant && !marker.is_empty() {
            let says = |content: &Content| matches!(content, Content::Text { text } if text.contains(marker));
            self.asked |= message.blocks.iter().any(|block| says(&block.content));
        }
    }

    /// Returns whether a compaction is due with `current` tokens in a session whose newest one left `after`. Constant
    /// time.
    ///
    /// Invariant (progress): a compaction, or the attempt at one, does not lead to the next by itself. Thresholds wait
    /// until half of the room up to the hard one is used and until another compaction is
    /// [worth making](Self::min_saving). Rounds and the model's marker count from the compaction on. After an attempt
    /// that failed the view has to grow first, or the urgency has to rise. Until then there is no trigger, and the
    /// urgency is reported as it is. Where half of the room for the answer is used up, nothing waits.
    pub fn check(&self, budget: &Budget, current: Tokens, after: Option<Tokens>) -> Check {
        self.check_with(budget, current, after, None)
    }

    /// Returns the same of a session with `current` tokens: where it is over a limit of the provider's beside tokens, see
    /// [`Session::exceeded_limit`], the provider refuses it whatever its tokens are; below the hard threshold a compaction
    /// waits for the end of a piece of work. Linear in the newest answer and its results.
    pub fn check_session(&self, budget: &Budget, current: Tokens, session: &Session) -> Check {
        let check = self.check_with(budget, current, session.newest_tokens_after(), session.exceeded_limit());
        let log = || session.log().iter().map(|message| &**message);
        self.at_boundary(budget, check, || Boundary::newest(log()).is_some())
    }

    /// Returns a check of a conversation whose messages are not at hand, as [`check_session`](Self::check_session) has it.
    /// `is_at_boundary` is asked where that matters: whether the newest messages end a piece of work.
    pub fn check_with_boundary(
        &self,
        budget: &Budget,
        current: Tokens,
        after: Option<Tokens>,
        is_at_boundary: impl FnOnce() -> bool,
    ) -> Check {
        self.at_boundary(budget, self.check(budget, current, after), is_at_boundary)
    }

    /// Lets a compaction that a check suggests wait for the end of a piece of work.
    fn at_boundary(&self, budget: &Budget, mut check: Check, is_at_boundary: impl FnOnce() -> bool) -> Check {
        if self.may_wait(budget, &check) && !is_at_boundary() {
            (check.should_compact, check.trigger, check.waits) = (false, None, true);
        }
        check
    }

    /// Whether a compaction that a check suggests is made only at the end of a piece of work: where more comes, and there is
    /// room to wait. Constant time.
    fn may_wait(&self, budget: &Budget, check: &Check) -> bool {
        let is_suggested = matches!(check.trigger, Some(Trigger::Soft | Trigger::RemainingShare));
        let (soft, hard) = (self.threshold(budget).0, budget.hard.tokens(budget.usable()));
        let wait = f64::from(hard.saturating_sub(soft)) * self.triggers.boundary_wait.clamp(0.0, 1.0);
        is_suggested && !self.ends && check.current_tokens < soft.saturating_add(wait as Tokens)
    }

    fn check_with(&self, budget: &Budget, current: Tokens, after: Option<Tokens>, excess: Option<String>) -> Check {
        let usable = budget.usable();
        let (soft, by) = self.threshold(budget);
        let mut check = Check { over: excess, ..budget.check_at(current, soft, after) };
        if check.over.is_some() {
            check.urgency = Urgency::Hard;
        }
        check.trigger = match check.urgency {
            Urgency::Hard => Some(Trigger::Hard),
            Urgency::Soft => Some(by),
            Urgency::None if self.asked => Some(Trigger::Marker),
            Urgency::None if self.triggers.rounds > 0 && self.rounds >= self.triggers.rounds => Some(Trigger::Rounds),
            Urgency::None => None,
        };
        if check.trigger.is_some() {
            check.urgency = check.urgency.max(Urgency::Soft);
        }
        let patience = (f64::from(usable) * PATIENCE) as Tokens;
        let has_failed = self
            .failed
            .is_some_and(|(tokens, urgency)| current < tokens.saturating_add(patience) && check.urgency <= urgency);
        let by_threshold = matches!(check.trigger, Some(Trigger::Soft | Trigger::RemainingShare | Trigger::Hard));
        let saves = current.saturating_sub(self.stays.unwrap_or(0));
        let saves_too_little =
            self.stays.is_some() && check.over.is_none() && by_threshold && saves < self.min_saving(budget, current);
        if has_failed || saves_too_little {
            check.trigger = None;
        }
        check.should_compact = check.trigger.is_some();
        check
    }

    /// Returns the lowest of the thresholds that suggest a compaction, and its name. Constant time.
    fn threshold(&self, budget: &Budget) -> (Tokens, Trigger) {
        let usable = budget.usable();
        let mut lowest = (budget.soft.tokens(usable), Trigger::Soft);
        if self.triggers.tokens > 0 && self.triggers.tokens < lowest.0 {
            lowest = (self.triggers.tokens, Trigger::Soft);
        }
        if self.triggers.remaining_share > 0.0 {
            let used = 1.0 - self.triggers.remaining_share.min(1.0);
            let tokens = (f64::from(usable) * used) as Tokens;
            if tokens < lowest.0 {
                lowest = (tokens, Trigger::RemainingShare);
            }
        }
        lowest
    }

    /// Returns the tokens that a compaction of a view of `current` tokens reaches in a session of this budget: the
    /// target, where that is as far below the lowest threshold as by default, or where nothing more is added. Constant time.
    pub fn target(&self, budget: &Budget) -> Tokens {
        let usable = budget.usable();
        if self.ends {
            return budget.target.tokens(usable);
        }
        let threshold = self.threshold(budget).0.min(usable);
        budget.target.tokens(usable).min((f64::from(threshold) * HIGHEST_TARGET) as Tokens)
    }

    /// Returns the fewest tokens that an automatic compaction of a view of `current` tokens has to save to be worth
    /// breaking the provider's prompt cache, and a model's summary: half of the configured distance from the threshold
    /// to the target, and below the hard threshold also what pays for the cache. 0 where half of the
    /// room for the answer is used up, because the session cannot continue without a compaction. Constant time.
    pub fn min_saving(&self, budget: &Budget, current: Tokens) -> Tokens {
        let usable = budget.usable();
        if current >= usable.saturating_add(budget.reserve_output / 2) {
            return 0;
        }
        let distance = self.threshold(budget).0.min(usable).saturating_sub(self.target(budget)) / 2;
        if current >= budget.hard.tokens(usable) || self.ends {
            return distance;
        }
        distance.max(self.break_even(current))
    }

    /// Returns the fewest tokens that a compaction of a view of `current` tokens has to save so that it pays until the next
    /// one, if as many requests come as came since the last: each of these reads so much less from the provider's cache,
    /// and what is left is written to it once more. 0 where too few requests came to tell. Constant time.
    fn break_even(&self, current: Tokens) -> Tokens {
        if self.requests < TELLING_REQUESTS {
            return 0;
        }
        // saved * requests = REWRITE * (current - saved)
        (f64::from(current) * REWRITE / (REWRITE + f64::from(self.requests))) as Tokens
    }

    /// Records a compaction, or the attempt at one.
    pub fn record_compaction(&mut self, report: &Report) {
        (self.rounds, self.asked) = (0, false);
        let (urgency, is_automatic) = match report.trigger {
            Trigger::Soft | Trigger::RemainingShare | Trigger::Rounds | Trigger::Marker => (Urgency::Soft, true),
            Trigger::Hard => (Urgency::Hard, true),
            Trigger::Arrival | Trigger::Clearing | Trigger::TakenBack | Trigger::Kept => (Urgency::Soft, false),
            Trigger::Manual | Trigger::Overflow | Trigger::Recorded => (Urgency::Hard, false),
        };
        let is_made = report.status.is_compaction();
        if is_made {
            self.requests = 0;
        }
        self.failed = (!is_made).then_some((report.tokens_before, urgency));
        // A compaction that ran, was paid for and changed nothing shows that the present view cannot be reduced.
        let was_run = !report.steps.is_empty();
        self.stays = is_automatic.then_some(match (is_made, was_run) {
            (true, _) => report.tokens_after,
            (false, true) => report.tokens_before,
            (false, false) => report.stays,
        });
    }

    /// Records the newest compaction of a session that is read again: an automatic one left `after` tokens.
    pub fn record_resumed(&mut self, trigger: Trigger, after: Tokens) {
        let is_asked = matches!(trigger, Trigger::Manual | Trigger::Overflow | Trigger::Recorded);
        let is_automatic = trigger.is_compaction() && !is_asked;
        self.stays = is_automatic.then_some(after);
    }

    /// Forgets the last attempt that failed, because its cause is said to be over.
    pub fn forget_failure(&mut self) {
        (self.failed, self.stays) = (None, None);
    }

    /// Continues with other triggers, and with a counter that finds `after` tokens in the view instead of `before`.
    /// Failed, refused and undone attempts stay recorded.
    pub fn reconfigure(&mut self, triggers: Triggers, before: Tokens, after: Tokens) {
        self.triggers = triggers;
        let known = self.failed.iter_mut().map(|(tokens, _)| tokens).chain(&mut self.stays);
        known.for_each(|tokens| *tokens = tokens.saturating_add(after).saturating_sub(before));
    }

    /// Records an attempt of that urgency that failed, was refused or was undone with `tokens` tokens in the view. It
    /// is not repeated at once; its trigger stays active for later.
    pub fn record_failure(&mut self, tokens: Tokens, urgency: Urgency) {
        self.failed = Some((tokens, urgency));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome_session::Origin;

    use super::*;
    use crate::budget::Threshold;

    /// 1,000 usable tokens: soft 800, hard 950.
    fn budget() -> Budget {
        let (soft, hard) = (Threshold::Share(0.8), Threshold::Share(0.95));
        Budget { window: 1_000, reserve_output: 0, tool_definitions: 0, soft, hard, target: Threshold::Share(0.5) }
    }

    fn said(role: Role, text: &str) -> Message {
        let origin = if role == Role::User { Origin::Typed } else { Origin::Model };
        Message::text("m", role, origin, text)
    }

    #[test]
    fn each_trigger_fires_by_itself() {
        let check = |triggers: Triggers, messages: &[Message], current, expect: Option<Trigger>| {
            let mut watch = Watch::new(triggers);
            messages.iter().for_each(|message| watch.push(message));
            let check = watch.check(&budget(), current, None);
            assert_eq!(check.trigger, expect, "{current}");
            assert_eq!((check.should_compact, check.urgency > Urgency::None), (expect.is_some(), expect.is_some()));
        };
        let off = || Triggers { marker: String::new(), ..Triggers::default() };
        check(off(), &[], 799, None);
        check(off(), &[], 800, Some(Trigger::Soft));
        check(off(), &[], 950, Some(Trigger::Hard));
        check(Triggers { tokens: 600, ..off() }, &[], 600, Some(Trigger::Soft));
        check(Triggers { remaining_share: 0.25, ..off() }, &[], 749, None);
        check(Triggers { remaining_share: 0.25, ..off() }, &[], 750, Some(Trigger::RemainingShare));
        let rounds = [said(Role::User, "one"), said(Role::Assistant, "well"), said(Role::User, "two")];
        check(Triggers { rounds: 2, ..off() }, &rounds, 10, Some(Trigger::Rounds));
        check(Triggers { rounds: 3, ..off() }, &rounds, 10, None);
        let marker = |role| [said(role, "enough !!!SUMMARY!!! now")];
        check(Triggers::default(), &marker(Role::Assistant), 10, Some(Trigger::Marker));
        check(Triggers::default(), &marker(Role::User), 10, None);
        check(off(), &marker(Role::Assistant), 10, None);
    }

    #[test]
    fn what_the_provider_refuses_is_due_whatever_its_tokens() {
        let mut watch = Watch::new(Triggers::default());
        let due = |watch: &Watch, current, over: Option<&str>| {
            let check = watch.check_with(&budget(), current, None, over.map(str::to_owned));
            (check.trigger, check.urgency)
        };
        assert_eq!(due(&watch, 10, None), (None, Urgency::None));
        assert_eq!(due(&watch, 10, Some("40 MB")), (Some(Trigger::Hard), Urgency::Hard));
        watch.record_failure(10, Urgency::Hard);
        assert_eq!(due(&watch, 11, Some("40 MB")), (None, Urgency::Hard), "not at once after a failure");
        assert_eq!(due(&watch, 20, Some("40 MB")), (Some(Trigger::Hard), Urgency::Hard));
    }

    #[test]
    fn nothing_fires_twice_for_one_reason() {
        let mut watch = Watch::new(Triggers { rounds: 1, ..Triggers::default() });
        watch.push(&said(Role::User, "one"));
        watch.push(&said(Role::Assistant, "!!!SUMMARY!!!"));
        assert!(watch.check(&budget(), 960, None).should_compact);
        watch.record_failure(960, Urgency::Hard);
        let waiting = watch.check(&budget(), 969, None);
        assert!(!waiting.should_compact && waiting.urgency == Urgency::Hard, "not even the hard threshold, at once");
        assert!(watch.check(&budget(), 970, None).should_compact, "but when the view has grown");
        watch.record_failure(940, Urgency::Soft);
        assert!(!watch.check(&budget(), 945, None).should_compact);
        assert!(watch.check(&budget(), 950, None).should_compact, "or when it has become urgent");
        assert!(watch.check(&budget(), 952, None).trigger == Some(Trigger::Hard));
    }

    #[test]
    fn a_compaction_waits_until_it_pays_for_the_cache() {
        let mut watch = Watch::new(Triggers::default());
        let mut answered = |requests: u32| {
            for _ in 0..requests {
                watch.push(&said(Role::User, "go on"));
                watch.push(&said(Role::Assistant, "a call"));
                watch.push(&said(Role::Assistant, "and one beside it"));
            }
            watch.clone()
        };
        assert_eq!(answered(7).min_saving(&budget(), 800), 150, "too few requests to tell");
        // 9 requests that read 449 tokens less pay for 351 that are written anew.
        assert_eq!(answered(2).min_saving(&budget(), 800), 448);
        assert_eq!(answered(40).min_saving(&budget(), 800), 152);
        assert_eq!(answered(40).min_saving(&budget(), 800), 150);
        let mut watch = answered(0);
        watch.requests = 9;
        assert_eq!(watch.min_saving(&budget(), 950), 150, "nothing waits from the hard threshold on");
        watch.mark_ended();
        assert_eq!(watch.min_saving(&budget(), 800), 150, "nothing more comes");
    }

    #[test]
    fn a_compaction_waits_for_the_end_of_a_piece_of_work() {
        let check = |end: bool, ends: bool, current: Tokens, expect: (Option<Trigger>, bool)| {
            let mut watch = Watch::new(Triggers::default());
            let mut session = Session::new();
            session.push(said(Role::User, "Mend the export."));
            if end {
                session.push(said(Role::Assistant, "It is mended."));
            }
            if ends {
                watch.mark_ended();
            }
            let check = watch.check_session(&budget(), current, &session);
            assert_eq!((check.trigger, check.waits), expect, "{current}");
            assert_eq!((check.should_compact, check.urgency > Urgency::None), (expect.0.is_some(), current >= 800));
        };
        check(false, false, 799, (None, false));
        check(false, false, 800, (None, true));
        check(true, false, 800, (Some(Trigger::Soft), false));
        check(false, true, 800, (Some(Trigger::Soft), false));
        // A quarter of the way from 800 to 950.
        check(false, false, 836, (None, true));
        check(false, false, 837, (Some(Trigger::Soft), false));
        check(false, false, 950, (Some(Trigger::Hard), false));
    }

    #[test]
    fn a_compaction_waits_until_it_is_worth_making() {
        // Half of the way from 800 to 500.
        let watch = Watch::new(Triggers::default());
        let answering = Budget { window: 1_200, reserve_output: 200, ..budget() };
        assert_eq!(watch.min_saving(&answering, 1_099), 150);
        assert_eq!(watch.min_saving(&answering, 1_100), 0, "half of the answer's room is used up");
        let lower = |triggers: Triggers| (Watch::new(triggers.clone()).target(&budget()), Watch::new(triggers));
        let (target, by_tokens) = lower(Triggers { tokens: 400, ..Triggers::default() });
        assert_eq!(
            (target, by_tokens.min_saving(&budget(), 400)),
            (250, 75),
            "the target gives way to a threshold below it"
        );
        let mut ends = Watch::new(Triggers { tokens: 400, ..Triggers::default() });
        ends.mark_ended();
        assert_eq!(ends.target(&budget()), 500, "nothing more comes");
        let mut resumed = Watch::new(Triggers::default());
        resumed.record_resumed(Trigger::Soft, 850);
        let due = |watch: &Watch, current| watch.check(&answering, current, Some(850)).trigger;
        assert_eq!((due(&resumed, 999), due(&resumed, 1_000)), (None, Some(Trigger::Hard)));
        assert_eq!(due(&Watch::new(Triggers::default()), 960), Some(Trigger::Hard));
        resumed.record_resumed(Trigger::Soft, 1_050);
        assert_eq!(
            (due(&resumed, 1_099), due(&resumed, 1_100)),
            (None, Some(Trigger::Hard)),
            "it cannot go on without"
        );
        resumed.record_resumed(Trigger::Manual, 850);
        assert_eq!(
            due(&resumed, 960),
            Some(Trigger::Hard),
            "what somebody asked for says nothing of what can be saved"
        );
    }
}
