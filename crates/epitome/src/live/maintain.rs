//! Compactions by themselves: before each call of the model, when one is due.

use epitome_config::OnRefusal;
use epitome_engine::{Chain, Check, Report, Status, Urgency};
use epitome_session::{Message, Session, Trigger};
use epitome_strategy::Protection;

use super::compact::Compaction;
use super::confirm::Confirmation;
use super::{LiveError, LiveSession};

/// The outcome of [`maintain`](super::LiveSession::maintain).
#[derive(Debug)]
pub enum MaintainOutcome {
    /// Nothing was due.
    Nothing(Check),
    /// A compaction was made, or rolled back: the report says which.
    Compacted(Box<Report>),
    /// A compaction is suggested, and is prepared in the background ([`prepare_in`](super::LiveSession::prepare_in)):
    /// the session stays as it is until there is no room left.
    Preparing(Check),
    /// A compaction was due, and none was made, because too little can leave for it to be worth one: the report says what
    /// stays. It is not tried again until more has come.
    NotWorthwhile(Check, Box<Report>),
    /// A compaction was refused, and there is room to go on without it.
    Refused(Check),
    /// A compaction was refused and there is no room left: the settings ask for a new session. It has the system
    /// prompt, the original task and the newest user message; the old session is as it was.
    NewSession(Box<Session>),
}

impl LiveSession {
    /// To be called before each call of the model: clears old results where the settings say so, and compacts where
    /// that is due, after confirmation where the settings ask for it (and the lack of a person to ask counts as a
    /// refusal). Constant time where nothing is due and nothing cleared.
    ///
    /// # Errors
    ///
    /// The errors of [`compact`](Self::compact), where the compaction is due and not just suggested: a suggested one
    /// that fails leaves the session as it is, sends an event, and counts as [`MaintainOutcome::Nothing`].
    pub async fn maintain(&mut self) -> Result<MaintainOutcome, LiveError> {
        self.maintain_now(self.settings.require_confirmation).await
    }

    /// The same where a person has already agreed: no confirmation is asked for.
    pub async fn maintain_agreed(&mut self) -> Result<MaintainOutcome, LiveError> {
        self.maintain_now(false).await
    }

    async fn maintain_now(&mut self, is_asked: bool) -> Result<MaintainOutcome, LiveError> {
        self.clear_results().await?;
        let check = self.check();
        let Some(trigger) = check.trigger else { return Ok(MaintainOutcome::Nothing(check)) };
        let is_due = check.urgency == Urgency::Hard;
        let compaction = Compaction { trigger, ..Compaction::default() };
        if !is_asked && let Some(maintained) = self.ahead_of(&compaction, check.clone()).await? {
            return Ok(maintained);
        }
        let made = if is_asked {
            let started = self.announce_start(trigger);
            let confirmed = match self.confirm.clone() {
                // Without a person to ask, nobody has agreed.
                None => Ok((None, Confirmation::Refuse)),
                Some(confirm) => match self.draft(&compaction, true).await {
                    Ok(draft) => {
                        let answer = confirm.confirm(&draft, &check).await;
                        Ok((Some(draft), answer))
                    }
                    Err(error) => Err(error),
                },
            };
            let made = match confirmed {
                Ok((Some(draft), Confirmation::Make)) => self.apply(draft).await,
                Ok((_, Confirmation::MakeEdited(edited))) => self.apply(*edited).await,
                Ok((_, Confirmation::Refuse | Confirmation::Make)) => {
                    return started.announce_end(self.handle_refusal(trigger, check).await);
                }
                Err(error) => Err(error),
            };
            started.announce_end(made)
        } else {
            self.compact(&compaction).await
        };
        match made {
            Ok(report) if report.status == Status::NoChange => {
                Ok(MaintainOutcome::NotWorthwhile(check, Box::new(report)))
            }
            Ok(report) => Ok(MaintainOutcome::Compacted(Box::new(report))),
            Err(_) if !is_due => Ok(MaintainOutcome::Nothing(check)),
            Err(error) => {
                if error.is_retryable() {
                    self.watch.forget_failure(); // the host decides when
                }
                Err(error)
            }
        }
    }

    /// The outcome where a compaction was refused.
    async fn handle_refusal(&mut self, trigger: Trigger, check: Check) -> Result<MaintainOutcome, LiveError> {
        let refused = LiveError::Refused { tokens: check.current_tokens, usable: check.usable_tokens };
        let follows = (check.urgency >= Urgency::Hard).then_some(self.settings.on_refusal);
        if follows == Some(OnRefusal::DropOldest) {
            // The refused work continues in this way: it has not failed. With an empty chain the engine's floor drops
            // the oldest messages, and no summary is written.
            let compaction = Compaction { trigger, chain: Some(Chain::default()), ..Compaction::default() };
            let draft = self.draft(&compaction, true).await?;
            return Ok(MaintainOutcome::Compacted(Box::new(self.apply(draft).await?)));
        }
        let refused = self.record_failure(refused, trigger);
        match follows {
            None => Ok(MaintainOutcome::Refused(check)),
            Some(OnRefusal::NewSession) => Ok(MaintainOutcome::NewSession(Box::new(self.successor()))),
            Some(OnRefusal::Error | OnRefusal::DropOldest) => {
                self.watch.forget_failure(); // each call of the model is refused until somebody agrees
                Err(refused)
            }
        }
    }

    /// A new session that continues this one: its protected messages, without the work in between.
    fn successor(&self) -> Session {
        let mut successor = Session::new();
        successor.tools.clone_from(&self.session.tools);
        let stays = |protection: Protection| {
            matches!(
                protection,
                Protection::System
                    | Protection::OriginalTask
                    | Protection::NewestUser
                    | Protection::Pinned
                    | Protection::Instructions
            )
        };
        for (entry, protection) in self.session.view().iter().zip(self.engine.protections(&self.session)) {
            if stays(protection) {
                successor.push(Message::clone(&entry.original));
            }
        }
        successor
    }
}
