#![allow(clippy::unwrap_used)]

use epitome_session::{Epoch, Trigger};

use super::FOREIGN_AGENTS;
use crate::{Format, ReadOptions, WriteError, read, write};

fn error_of(input: &str) -> String {
    read(input.as_bytes().to_vec(), ReadOptions::default()).map(|loaded| loaded.format).unwrap_err().to_string()
}

const DROID: &str = concat!(
    "{\"type\":\"session_start\",\"id\":\"d\",\"title\":\"t\",\"owner\":\"o\",\"version\":2,\"cwd\":\"/w\"}\n",
    "{\"type\":\"message\",\"id\":\"1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"mend the door\"}]}}\n",
    "{\"type\":\"message\",\"id\":\"2\",\"parentId\":\"1\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Read\",\"input\":{}}]}}\n",
    "{\"type\":\"message\",\"id\":\"3\",\"parentId\":\"2\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"oak\"}]}}\n",
);

#[test]
fn what_another_agent_wrote_is_refused_by_its_name() {
    let check = |agent: &str, input: &str| {
        let error = error_of(input);
        assert!(
            error.starts_with(&format!("this is a session of {agent}")) && error.contains("docs/formats.md"),
            "{error}"
        );
        assert!(FOREIGN_AGENTS.iter().any(|foreign| foreign.name.starts_with(agent)));
    };
    check(
        "goose",
        r#"{"id":"g","working_dir":"/w","message_count":2,"conversation":[{"role":"user","created":1,"content":[{"type":"text","text":"a"}]}]}"#,
    );
    // Its messages alone, on lines.
    check(
        "goose",
        concat!(
            r#"{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"t","toolCall":{"status":"success","value":{"name":"shell","arguments":{}}}}]}"#,
            "\n",
            r#"{"role":"user","created":2,"content":[{"type":"toolResponse","id":"t","toolResult":{"status":"success","value":{"content":[]}}}]}"#,
            "\n",
        ),
    );
    check(
        "Amp",
        r#"{"v":4,"id":"T-0","created":1,"messages":[{"role":"user","messageId":0,"content":[{"type":"text","text":"a"}]}]}"#,
    );
    check(
        "Amp",
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","toolUseID":"u","run":{"status":"done","result":"x"}}]}]"#,
    );
    check("Factory Droid", DROID);
    check(
        "Kimi CLI",
        "{\"role\":\"_system_prompt\",\"content\":\"s\"}\n{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"_checkpoint\",\"id\":0}\n",
    );
    check(
        "Kimi CLI",
        "{\"timestamp\":1.5,\"message\":{\"type\":\"TurnBegin\",\"payload\":{\"user_input\":\"a\"}}}\n{\"timestamp\":2.5,\"message\":{\"type\":\"TurnEnd\",\"payload\":{}}}\n",
    );
    check(
        "Kimi Code",
        "{\"type\":\"metadata\",\"protocol_version\":\"1.5\",\"created_at\":1}\n{\"type\":\"context.append_message\",\"message\":{\"role\":\"user\",\"content\":[]},\"time\":2}\n",
    );
    check(
        "Roo Code or Kilo Code",
        r#"[{"role":"user","content":"a","ts":1,"condenseParent":"c"},{"role":"user","content":"all of it","ts":2,"isSummary":true,"condenseId":"c"},{"role":"assistant","content":"b","ts":3}]"#,
    );
    check(
        "Roo Code or Kilo Code",
        r#"[{"role":"user","content":"a","ts":1,"truncationParent":"t"},{"role":"user","content":"cut","ts":2,"isTruncationMarker":true,"truncationId":"t"}]"#,
    );
    check(
        "the window of Cline, Roo Code or Kilo Code",
        r#"[{"ts":1,"type":"say","say":"text","text":"a"},{"ts":2,"type":"ask","ask":"followup","text":"b"}]"#,
    );
    check(
        "an early version of Qwen Code",
        r#"{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"a"},{"id":"2","type":"qwen","content":"b"}]}"#,
    );
    check(
        "DeepSeek Harness",
        "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\"cwd\":\"/\",\"delegationDepth\":0}\n{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{}}\n",
    );
}

#[test]
fn what_is_read_stays_read() {
    let check = |input: &str, expect: Format| {
        let loaded = read(input.as_bytes().to_vec(), ReadOptions::default());
        assert_eq!(loaded.map(|loaded| loaded.format).map_err(|error| error.to_string()), Ok(expect), "{input}");
    };
    // A history of Roo Code that was never condensed is what is sent.
    check(
        r#"[{"role":"user","content":[{"type":"text","text":"a"}],"ts":1},{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"n","input":{}}],"ts":2}]"#,
        Format::Anthropic,
    );
    // Words are no marks.
    check(
        r#"[{"role":"user","content":"goose wrote toolResponse, session_start, condenseParent"}]"#,
        Format::OpenaiChat,
    );
    check(
        "{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s\"}}\n{\"type\":\"user.message\",\"data\":{\"content\":\"a\"}}\n",
        Format::CopilotCli,
    );
    // Few messages tell nothing of a format.
    check(r#"[{"role":"user","content":[{"type":"brand_new","x":1}]}]"#, Format::OpenaiChat);
}

#[test]
fn a_file_of_which_most_gives_nothing_is_refused() {
    let check = |input: &str, expect: &str| {
        let error = error_of(input);
        assert!(error.starts_with("not a valid ") && error.contains(expect), "{error}");
    };
    let line = |number: usize, message: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{number}\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{message}}}\n"
        )
    };
    let known = r#"{"role":"user","content":"a"}"#;
    let other = r#"{"role":"user","pieces":[{"text":"a"}]}"#;
    let lines =
        |messages: &[&str]| messages.iter().enumerate().map(|(at, message)| line(at, message)).collect::<String>();
    check(&lines(&[known, other, other, other, other]), "4 of its 5 messages hold nothing that is read");
    let half = lines(&[known, known, other, other]);
    assert_eq!(read(half.into_bytes(), ReadOptions::default()).unwrap().format, Format::ClaudeCode);
    // Parts of another program's own kinds.
    let part = r#"{"role":"user","content":[{"type":"cell","cell":1}]}"#;
    check(&format!("[{part},{part},{part},{part}]"), "4 of its 4 messages");
    // A list of which a reader finds little.
    let event = r#"{"info":{"role":"user"},"parts":[{"type":"cell"}]}"#;
    let text = r#"{"info":{"role":"user","id":"m"},"parts":[{"type":"text","text":"a"}]}"#;
    check(&format!(r#"{{"info":{{}},"messages":[{text},{event},{event},{event}]}}"#), "3 of its 4 messages");
    check(r#"[{"role":"user","content":"a"},{"speaker":"b"},{"speaker":"c"}]"#, "2 of the 3 messages of session 0");
}

#[test]
fn nothing_is_written_into_a_file_that_is_not_certain() {
    let check = |input: &str, format: Option<Format>, is_written: bool| {
        let loaded = read(input.as_bytes().to_vec(), ReadOptions { format, ..ReadOptions::default() }).unwrap();
        let mut session = loaded.sessions[0].session.clone();
        assert_eq!(write(&loaded, 0, &session, Format::Pi).unwrap(), input.as_bytes(), "what is unchanged stays");
        let leaving = vec![session.view()[0].key];
        session.commit(Epoch::recorded(Trigger::Manual, leaving, Vec::new()));
        let written = write(&loaded, 0, &session, Format::Pi);
        assert_eq!(written.is_ok(), is_written, "{written:?}");
        assert!(is_written || written == Err(WriteError::Uncertain(Format::Pi)));
        write(&loaded, 0, &session, Format::OpenaiChat).unwrap();
    };
    check(DROID, Some(Format::Pi), false);
    let pi = concat!(
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n",
        "{\"type\":\"message\",\"id\":\"1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n",
        "{\"type\":\"message\",\"id\":\"2\",\"parentId\":\"1\",\"message\":{\"role\":\"user\",\"content\":\"b\"}}\n",
    );
    check(pi, None, true);
    check(pi, Some(Format::Pi), true);
    // The same frame without the head, and with the blocks of another agent.
    check(&DROID.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>(), Some(Format::Pi), false);
}

#[test]
fn configuration_is_content() {
    let references = r#"{"type":"item_reference","id":"msg_1"},"#.repeat(9);
    let json = format!(r#"{{"model":"m","input":[{references}{{"role":"user","content":"Go."}}]}}"#);
    let loaded = read(json.into(), ReadOptions::default());
    assert!(loaded.is_ok(), "{loaded:?}");
}
