#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
use super::*;
use epitome_strategy::{Lossiness, Meta, PlanError, Reason, RequiredServices, SummaryRequest};

epitome_strategy::settings! {
    /// Which plan to return.
    pub struct Settings {
        /// The plan as JSON.
        plan: String = String::new();
    }
}

/// Returns the plan that its settings hold.
#[derive(Debug)]
struct Canned(Settings);

impl Configurable for Canned {
    type Settings = Settings;
    const META: Meta = Meta {
        id: "canned",
        summary: "",
        docs: "",
        lossiness: Lossiness::Whole,
        needs: RequiredServices { embeddings: false, model: false },
        since: "0.1.0",
    };
    fn with_settings(settings: Settings) -> Self {
        Self(settings)
    }
}

impl Strategy for Canned {
    fn meta(&self) -> &Meta {
        &Self::META
    }

    fn plan(&self, _: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        serde_json::from_str(&self.0.plan).map_err(|error| PlanError(error.to_string()))
    }
}

const FIXTURE: &str = "
system: S
user: task
call Read c1 {}
result c1: one two three … x40
assistant: middle
user: newest
assistant: end
";

fn case(plan: &Plan) -> PlanCase {
    let mut case = PlanCase::new::<Canned>(FIXTURE, "");
    case.strategy = Arc::new(Canned(Settings { plan: serde_json::to_string(plan).unwrap() }));
    case
}

fn edits(edits: Vec<Edit>) -> Plan {
    Plan::from_edits(edits, "nothing")
}

fn reason() -> Reason {
    Reason::new("a-code", "why")
}

#[test]
fn plans_are_shown_as_text() {
    let summary = SummaryText::Request(SummaryRequest::new(50, None));
    let plan = edits(vec![
        Edit::Excerpt { message: 3, block: 0, keep: vec![0..3, 4..7], reason: reason() },
        Edit::Trim { message: 2, block: 0, max_chars: 9, reason: reason() },
        Edit::Summarize { units: vec![3], summary, reason: reason() },
    ]);
    case(&plan).expect(
        r#"excerpt m3.0 keep "one" + "two" (a-code)
           trim m2.0 to 9 characters (a-code)
           summarize u3 in 50 tokens (a-code)"#,
    );
    case(&Plan::decline("no")).expect("declined: no");
}

#[test]
fn broken_plans_are_refused() {
    let check = |edit: Edit, expect: &str| {
        let plan = edits(vec![edit]);
        let broken = std::panic::catch_unwind(|| case(&plan).run()).unwrap_err();
        let message = broken.downcast_ref::<String>().unwrap();
        assert!(message.contains(expect), "{message}");
    };
    let drop = |unit| Edit::Drop { units: vec![unit], reason: reason() };
    check(drop(0), "may not leave");
    check(drop(1), "may not leave");
    check(drop(4), "may not leave");
    check(Edit::Excerpt { message: 3, block: 0, keep: vec![0..9999], reason: reason() }, "does not lie in");
    check(Edit::Excerpt { message: 2, block: 0, keep: vec![], reason: reason() }, "not to be cut");
    check(Edit::Trim { message: 3, block: 0, max_chars: 1, reason: reason() }, "no call");
    check(Edit::Drop { units: vec![3], reason: Reason::new("Not Kebab", "x") }, "kebab");
}
