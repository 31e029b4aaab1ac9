use crate::agents::testing::check;

#[test]
fn queries_are_calls() {
    check(
        r#"{"11": {"query": "how many?", "turn_history": {"actions": ["SHOW \"x\"", 7, "late"], "observations": ["Error", [["a", 1]]], "valid_action": [false, true]}},
            "12": {"query": null, "turn_history": {"actions": {}, "observations": []}}, "13": 4}"#,
        "intercode
        = 11
        m0 user/typed: how many?
        m1 assistant/model: sql#sql-0 {\"query\":\"SHOW \\\"x\\\"\"}
        m2 tool/tool: sql#sql-0 error → Error
        m3 assistant/model: sql#sql-1 {\"query\":\"7\"}
        m4 tool/tool: sql#sql-1 → [[\"a\",1]]
        m5 assistant/model: sql#sql-2 {\"query\":\"late\"}
        warning: line None: session `12` holds no readable message
        warning: line None: session `13` holds no readable message",
    );
}
