use crate::agents::testing::check;

#[test]
fn locomo() {
    check(
        r#"[{"sample_id": "conv-1", "qa": [], "conversation": {"speaker_a": "Ann", "speaker_b": "Bo",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "hey", "blip_caption": "a dog", "img_url": ["http://i"]},
                          {"speaker": "Ann", "dia_id": "D2:2", "text": "", "img_url": ["http://j"]},
                          {"speaker": "Ann", "dia_id": "D2:3"}, 5]}},
            {"conversation": {"session_1": "none"}}]"#,
        "locomo
        = conv-1
        D2:1 assistant/model (Bo) @1683554160000: hey ⏐ [image: a dog]
        D2:2 user/typed (Ann) @1683554160000: < http://j>
        D10:1 user/typed (Ann): later
        warning: line None: session `1` holds no readable message",
    );
}

#[test]
fn longmemeval() {
    check(
        r#"{"steps": [{"step_type": "create_session", "session_id": "s1"},
            {"step_type": "add_messages", "session_id": "s1", "messages": [{"peer_id": "user", "content": "a", "created_at": "1970-01-01T00:00:01"},
                {"peer_id": "assistant", "content": "b"}, {"peer_id": "carl", "content": "c"}, {"peer_id": "user", "content": 4}]},
            {"step_type": "wait"}, 3, {"step_type": "query", "input": "[date] q?"}]}"#,
        "longmemeval
        = 0
        s1:0 user/typed @1000: a
        s1:1 assistant/model: b
        s1:2 user/typed (carl): c
        m3 user/typed: [date] q?",
    );
    check(
        r#"{"steps": [{"step_type": "wait"}]}"#,
        "longmemeval
        error: not a valid longmemeval session: no `add_messages` step in `steps` has messages with content",
    );
}

#[test]
fn memorybank() {
    check(
        r#"{" Ann ": {"name": "Ann", "history": {"1970-01-02": [{"query": "hi", "response": "hello"}, {"query": 3}], "someday": [{"response": "x"}], "never": 4}},
            "Bo": {"history": {}}}"#,
        "memorybank
        = Ann
        m0 user/typed @86400000: hi
        m1 assistant/model @86400000: hello
        m2 assistant/model: x
        warning: line None: session `Bo` holds no readable message",
    );
}

#[test]
fn madial() {
    check(
        "{\"dialogue\": [\"<BOD>\\n\", \"<Bart>:\\\"hey\\\"\\n\", \" <Assistant>: \\\"unclosed\\n\", \"<EOD>\\n\", 3, \"no speaker\"], \"id\": 7}\n\
        {\"dialogue\": [\"<Lisa>：\\\"你好\\\"\"]}",
        "madial
        = 7
        m0 user/typed (Bart): hey
        m1 assistant/model (Assistant): unclosed
        = 1
        m0 user/typed (Lisa): 你好",
    );
    // Its memory items and MemoryBank's questions are no sessions.
    for side_file in
        ["{\"1\": {\"time\": \"t\", \"event\": \"e\"}}\n{\"2\": {}}", "{\"Ann\": [\"q?\"]}\n{\"Bo\": [\"q?\"]}"]
    {
        check(side_file, "\nerror: this is no session in a known format (no reader fits)");
    }
}

#[test]
fn crosswoz_and_kdconv() {
    check(
        r#"{"83": {"goal": [], "messages": [{"role": "usr", "content": "推荐"}, {"role": "sys", "content": "好"}, null]}, "84": []}"#,
        "crosswoz
        = 83
        m0 user/typed: 推荐
        m1 assistant/model: 好
        warning: line None: session `84` holds no readable message",
    );
    check(
        r#"[{"name": "film", "messages": [{"message": "看过吗"}, {"message": "看过", "attrs": []}, {"message": 3}]}, {}]"#,
        "kdconv
        = 0
        m0 user/typed: 看过吗
        m1 assistant/model: 看过
        warning: line None: session `1` holds no readable message",
    );
}
