use crate::agents::testing::check;

#[test]
fn delegations_are_calls() {
    check(
        r#"{"question": "q", "question_ID": "id-1", "ground_truth": "g", "mistake_agent": "WebSurfer", "history": [
            {"role": "human", "content": "q?"},
            {"role": "Orchestrator (thought)", "content": "plan"},
            {"role": "Orchestrator (thought)", "content": "ledger"},
            {"role": "Orchestrator (-> WebSurfer)", "content": "look it up"},
            {"role": "WebSurfer", "content": "found"},
            {"role": "Orchestrator (-> Assistant)", "content": "write"},
            {"role": "Orchestrator (-> Assistant)", "content": "write again"},
            {"role": "Assistant", "content": ""},
            {"role": "Orchestrator (termination condition)", "content": "done"}]}"#,
        "who-and-when
        = id-1
        0 user/typed: q?
        3 assistant/model (Orchestrator): plan ⏐ ledger ⏐ look it up {WebSurfer@0: \"look it up\"}
        4 user/tool-output (WebSurfer): found
        5 assistant/model (Orchestrator): write {Assistant@0: \"write\"}
        6 assistant/model (Orchestrator): write again {Assistant@0: \"write again\"}
        8 assistant/model (Orchestrator): done",
    );
}

#[test]
fn wrong_types_are_passed_over() {
    check(
        r#"{"question": "q", "ground_truth": 3, "history": [{"name": "human", "content": {"a": 1}}, null, {"role": 3, "content": "x"}]}"#,
        "who-and-when
        = 0
        0 user/typed: {\"a\":1}",
    );
    check(
        r#"{"question": "q", "ground_truth": 3, "history": [{"role": "human"}]}"#,
        "who-and-when
        error: not a valid who-and-when session: no element of `history` has a role and content",
    );
}
