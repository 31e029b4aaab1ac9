#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;
use crate::Wire;

fn check(route: Route, wire: Wire, body: Value, expect: RequestedCompaction) {
    let text = body.to_string();
    let fields = Object::parse(&text).unwrap();
    let messages = fields.list(wire.list_field()).unwrap_or_default();
    assert_eq!(wire.asked(route, &fields, &messages), expect, "{body}");
}

fn with(base: &Value, more: Value) -> Value {
    let mut body = base.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn what_openai_is_asked() {
    let check = |body: Value, expect| check(Route::Conversation, Wire::OpenaiResponses, body, expect);
    let user = json!({"role": "user", "content": "compaction_trigger"});
    let trigger = json!({"type": "compaction_trigger"});
    check(json!({"input": [user]}), RequestedCompaction::Nothing);
    check(json!({"input": "compaction_trigger"}), RequestedCompaction::Nothing);
    let asked = json!({"input": [user, trigger], "store": false});
    check(asked.clone(), RequestedCompaction::Here(CompactionRequest::Trigger));
    check(with(&asked, json!({"previous_response_id": null})), RequestedCompaction::Here(CompactionRequest::Trigger));
    check(
        with(&asked, json!({"previous_response_id": "resp_1"})),
        RequestedCompaction::Provider("history-at-the-provider"),
    );
    check(with(&asked, json!({"conversation": "conv_1"})), RequestedCompaction::Provider("history-at-the-provider"));
    check(with(&asked, json!({"prompt": {"id": "p"}})), RequestedCompaction::Provider("prompt-at-the-provider"));
    check(with(&asked, json!({"background": true})), RequestedCompaction::Provider("background"));
    check(with(&asked, json!({"store": true})), RequestedCompaction::Provider("stored-at-the-provider"));
    check(json!({"input": [user, trigger]}), RequestedCompaction::Provider("stored-at-the-provider"));
    check(json!({"input": [trigger, user], "store": false}), RequestedCompaction::Provider("trigger-in-the-middle"));
    check(json!({"input": [trigger, trigger], "store": false}), RequestedCompaction::Provider("trigger-in-the-middle"));
    let managed = |entries: Value| json!({"input": [user], "context_management": entries});
    let entry = json!({"type": "compaction", "compact_threshold": 9000});
    check(managed(json!([entry])), RequestedCompaction::Here(CompactionRequest::Threshold { from_tokens: 9_000 }));
    check(managed(Value::Null), RequestedCompaction::Nothing);
    check(managed(json!([entry, entry])), RequestedCompaction::Provider("not-understood"));
    check(managed(json!([])), RequestedCompaction::Provider("not-understood"));
    check(managed(json!([{"type": "other"}])), RequestedCompaction::Provider("not-understood"));
    check(managed(json!([with(&entry, json!({"new": 1}))])), RequestedCompaction::Provider("not-understood"));
    for threshold in [json!(null), json!(0), json!(-1), json!("9000"), json!(1_u64 << 40)] {
        check(
            managed(json!([with(&entry, json!({"compact_threshold": threshold}))])),
            RequestedCompaction::Provider("no-threshold"),
        );
    }
    check(
        with(&managed(json!([entry])), json!({"previous_response_id": "r"})),
        RequestedCompaction::Provider("history-at-the-provider"),
    );
}

#[test]
fn what_the_endpoint_is_asked() {
    let check = |body: Value, expect| check(Route::Compactions, Wire::OpenaiResponses, body, expect);
    let list = json!({"model": "m", "input": [{"role": "user", "content": "x"}]});
    check(list.clone(), RequestedCompaction::Here(CompactionRequest::Endpoint));
    check(with(&list, json!({"previous_response_id": "r"})), RequestedCompaction::Provider("history-at-the-provider"));
    check(json!({"model": "m", "previous_response_id": "r"}), RequestedCompaction::Provider("history-at-the-provider"));
    check(json!({"model": "m", "input": "x"}), RequestedCompaction::Provider("one-text"));
    check(json!({"model": "m", "input": []}), RequestedCompaction::Provider("one-text"));
}

#[test]
fn what_anthropic_is_asked() {
    let check = |body: Value, expect| check(Route::Conversation, Wire::Anthropic, body, expect);
    let user = json!({"role": "user", "content": "x"});
    let called = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]});
    let said = json!({"role": "assistant", "content": "y"});
    let demanded = json!({"messages": [user, said], "compaction": {"type": "summarize"}});
    check(json!({"messages": [user]}), RequestedCompaction::Nothing);
    check(demanded.clone(), RequestedCompaction::Here(CompactionRequest::Summarize));
    for blank in [json!(null), json!(""), json!(" \n")] {
        let compaction = json!({"type": "summarize", "instructions": blank});
        check(
            with(&demanded, json!({"compaction": compaction})),
            RequestedCompaction::Here(CompactionRequest::Summarize),
        );
    }
    let written = json!({"type": "summarize", "instructions": "In rhymes."});
    check(with(&demanded, json!({"compaction": written})), RequestedCompaction::Provider("instructions"));
    let blocks = json!({"type": "summarize", "instructions": [{"type": "text", "text": "In rhymes."}]});
    check(with(&demanded, json!({"compaction": blocks})), RequestedCompaction::Provider("instructions"));
    check(with(&demanded, json!({"compaction": {"type": "other"}})), RequestedCompaction::Provider("not-understood"));
    check(
        with(&demanded, json!({"compaction": {"type": "summarize", "new": 1}})),
        RequestedCompaction::Provider("not-understood"),
    );
    check(
        with(&demanded, json!({"thread": {"type": "create"}})),
        RequestedCompaction::Provider("history-at-the-provider"),
    );
    check(
        with(&demanded, json!({"context_management": {"edits": []}})),
        RequestedCompaction::Wrong(InvalidCompactionRequest::Both),
    );
    check(
        with(&demanded, json!({"messages": []})),
        RequestedCompaction::Wrong(InvalidCompactionRequest::NothingToSummarize),
    );
    check(
        with(&demanded, json!({"messages": [user, called]})),
        RequestedCompaction::Wrong(InvalidCompactionRequest::IncompleteTurn),
    );
    let edited = |edit: Value| json!({"messages": [user], "context_management": {"edits": [edit]}});
    let edit = |more: Value| edited(with(&json!({"type": "compact_20260112"}), more));
    let here = |from_tokens, pauses| RequestedCompaction::Here(CompactionRequest::Edit { from_tokens, pauses });
    check(edit(json!({})), here(150_000, false));
    let trigger = json!({"type": "input_tokens", "value": 60_000});
    check(edit(json!({"trigger": trigger, "pause_after_compaction": true})), here(60_000, true));
    check(edit(json!({"trigger": trigger, "instructions": null})), here(60_000, false));
    check(edit(json!({"instructions": "In rhymes."})), RequestedCompaction::Provider("instructions"));
    check(edit(json!({"instructions": 7})), RequestedCompaction::Provider("instructions"));
    check(edit(json!({"trigger": {"type": "tool_uses", "value": 3}})), RequestedCompaction::Provider("not-understood"));
    check(
        edit(json!({"trigger": {"type": "input_tokens", "value": "many"}})),
        RequestedCompaction::Provider("not-understood"),
    );
    check(edit(json!({"pause_after_compaction": "yes"})), RequestedCompaction::Provider("not-understood"));
    check(edit(json!({"new": 1})), RequestedCompaction::Provider("not-understood"));
    check(edited(json!({"type": "clear_tool_uses_20250919"})), RequestedCompaction::Nothing);
}

#[test]
fn other_edits_stay() {
    let check = |edits: Value, expect: Option<Value>| {
        let text = json!({"context_management": {"edits": edits}}).to_string();
        let fields = Object::parse(&text).unwrap();
        let (name, rest) = CompactionRequest::Edit { from_tokens: 1, pauses: false }.field(&fields).unwrap();
        assert_eq!(name, "context_management");
        assert_eq!(rest.map(|json| serde_json::from_str::<Value>(&json).unwrap()), expect);
    };
    let ours = json!({"type": "compact_20260112"});
    let other = json!({"type": "clear_thinking_20251015", "keep": "all"});
    check(json!([ours]), None);
    check(json!([other, ours]), Some(json!({"edits": [other]})));
}
