#![allow(clippy::unwrap_used)]
use epitome_session::{Arguments, Block, Content, Origin, Role, ToolCall, ToolResult};

use super::*;

/// A text that a person types, or the model writes.
fn typed(text: &str) -> Vec<Message> {
    vec![Message::text("", Role::User, Origin::Typed, text)]
}

fn model(text: &str) -> Vec<Message> {
    vec![Message::text("", Role::Assistant, Origin::Model, text)]
}

/// A call with what it printed.
fn call(name: &str, arguments: serde_json::Value, printed: &str) -> Vec<Message> {
    let arguments = Arguments::Json(arguments.to_string().into());
    let call = ToolCall { id: "c".into(), name: name.into(), arguments };
    let result =
        ToolResult { call_id: "c".into(), name: None, text: printed.into(), attachments: Vec::new(), is_error: false };
    vec![
        Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))]),
        Message::result("", result),
    ]
}

fn shell(command: &str, printed: &str) -> Vec<Message> {
    call("Bash", serde_json::json!({ "command": command }), printed)
}

fn edit(path: &str) -> Vec<Message> {
    call("Edit", serde_json::json!({ "file_path": path, "old_string": "a", "new_string": "b" }), "ok")
}

fn check(session: &[Vec<Message>], expect: &[&str]) {
    let messages: Vec<Arc<Message>> = session.iter().flatten().cloned().map(Arc::new).collect();
    let mut told: Vec<String> =
        compose(&messages).into_iter().map(|(_, text, (kind, _))| format!("{kind:?}: {text}")).collect();
    told.sort();
    let mut expect: Vec<&str> = expect.to_vec();
    expect.sort_unstable();
    assert_eq!(told, expect);
}

#[test]
fn requests_and_what_came_of_them() {
    let request = typed("Hi! Please make the rates load only once per run.");
    check(
        &[
            request.clone(),
            edit("/home/ada/shop/src/rates.py"),
            edit("/home/ada/shop/tests/test_rates.py"),
            edit("/tmp/try.py"),
            model("Done!\n\n`load_rates()` now keeps the table in a module variable. Anything else?"),
        ],
        &[
            "Fact: Asked: “Please make the rates load only once per run.” Outcome: `load_rates()` now keeps the table in a \
           module variable. Files changed: `src/rates.py`, `tests/test_rates.py`.",
        ],
    );
    check(
        &[
            typed("Which port does the staging server of the shop use?"),
            model("The staging server of the shop uses port `8443`."),
        ],
        &[
            "Fact: Asked: “Which port does the staging server of the shop use?” Answer: The staging server of the shop uses \
           port `8443`.",
        ],
    );
    // by a title, a mark, the last query, an argument
    let issue = "<uploaded_files>\n/repo\n</uploaded_files>\n<issue_description>\nRounding loses a cent\n\nLong story.\n</issue_description>";
    check(
        &[
            typed(issue),
            edit("src/money.c"),
            call("finish", serde_json::json!({ "message": "I could not build `money.c` here." }), ""),
        ],
        &[
            "Fact: Asked: “Rounding loses a cent” Outcome: I could not build `money.c` here. Files changed: `src/money.c`.",
        ],
    );
    check(
        &[
            typed("How many boats did the harbour sell in 1998?"),
            call("visit", serde_json::json!({"url": "x"}), "…"),
            model("I looked.\nFINAL ANSWER: 17"),
        ],
        &["Fact: Asked: “How many boats did the harbour sell in 1998?” Answer: 17"],
    );
    check(
        &[
            typed("What are the names of boats without a crew?"),
            call("sql", serde_json::json!({"query": "SELECT name FROM boat"}), "[('Ida',)]"),
        ],
        &["Fact: Asked: “What are the names of boats without a crew?” Answer: [('Ida',)], by `SELECT name FROM boat`"],
    );
    // A request that only continues says nothing alone; the change made for it may.
    check(
        &[typed("yes, do that"), edit("/w/a/b.rs"), model("Fixed the parser of `Rates`, which kept empty rows.")],
        &["Fact: Fixed the parser of `Rates`, which kept empty rows. Files changed: `/w/a/b.rs`."],
    );
    check(&[typed("Thanks, that was all."), model("You are welcome, have a nice day.")], &[]);
    check(&[typed("Which of the two houses would you take?"), model("Which city is it in?")], &[]);
    check(&[typed("I feel sad today. What should I do?"), model("You could call Ines from `Oslo`.")], &[]);
}

#[test]
fn commands_that_worked_and_what_mended_them() {
    let failed = "src/a.rs:3: error: missing field `rate` in initializer\nExit code: 101";
    check(
        &[
            shell("cargo test 2>&1 | tail -5", failed),
            edit("src/a.rs"),
            shell("cargo test", "test result: ok. 12 passed; 0 failed"),
        ],
        &[
            "Fact: Commands that ran without failure: `cargo test` (test result: ok. 12 passed; 0 failed).",
            "Failure: `cargo test` failed (src/a.rs:3: error: missing field `rate` in initializer) and ran without failure \
             after `src/a.rs` had been changed.",
        ],
    );
    check(
        &[shell("cd /w/shop && npm run lint", failed)],
        &["Failure: `npm run lint` failed when it ran last: src/a.rs:3: error: missing field `rate` in initializer"],
    );
    check(
        &[shell("cd /w/shop && npm run lint", "clean"), shell("cd /w/shop && npm run build", "built")],
        &["Fact: Commands that ran without failure in `/w/shop`: `npm run lint`, `npm run build`."],
    );
    // looking is not a check, and neither is what is thrown away
    check(
        &[
            shell("ls tests", "a"),
            shell("git status", "clean"),
            shell("python -c 'test()'", "1"),
            shell("echo test", "test"),
        ],
        &[],
    );
}

#[test]
fn commits_and_requests_that_they_be_merged() {
    let commit = "[fix/rates 1a2b3c4] Load the rates once\n 1 file changed";
    check(
        &[shell("git commit -m x", commit)],
        &["Identifier: Commit 1a2b3c4 on branch fix/rates: Load the rates once"],
    );
    check(
        &[shell("gh pr create --title \"Load the rates once\" --fill", "https://git.example/o/r/pull/17")],
        &["Identifier: Pull request https://git.example/o/r/pull/17: Load the rates once"],
    );
    check(&[shell("gh pr list", "https://git.example/o/r/pull/17")], &[]);
}

#[test]
fn records_of_services() {
    let order = r#"{"order_id": "W-1142", "status": "pending", "items": [{"a": 1}], "address": {"street": "Quay 3", "city": "Bergen"}}"#;
    let ask = || call("get_order", serde_json::json!({ "order_id": "W-1142" }), order);
    check(&[ask()], &["Identifier: order id W-1142: status: pending; address: Quay 3 Bergen"]);
    let cancelled = order.replace("pending", "cancelled");
    let cancel = call("cancel_order", serde_json::json!({ "order_id": "W-1142" }), &cancelled);
    check(
        &[ask(), cancel],
        &["Identifier: order id W-1142, after `cancel_order`: status: cancelled; address: Quay 3 Bergen"],
    );
    check(&[call("get_order", serde_json::json!({ "order_id": "W-1142" }), "Error: order not found")], &[]);
    check(
        &[
            call("sql", serde_json::json!({ "query": "SHOW TABLES" }), "[('boat',), ('crew',)]"),
            call("sql", serde_json::json!({ "query": "DESCRIBE boat" }), "[('id', b'int'), ('name', b'text')]"),
        ],
        &[
            "Fact: The database has the tables boat, crew.",
            "Fact: Table boat of the database has the columns id, name.",
        ],
    );
}

#[test]
fn places_and_films_in_a_talk() {
    check(
        &[
            typed("你好，我想找一家酒店住宿。"),
            model("推荐您去海角旧酒店住宿。"),
            typed("这家酒店的电话是多少？"),
            model("电话是010-5550。"),
            typed("酒店的地址呢？"),
            model("地址是长街9号，价格是300元。"),
        ],
        &["Fact: 海角旧酒店：价格是300元。", "Fact: 海角旧酒店：地址是长街9号。", "Fact: 海角旧酒店：电话是010-5550。"],
    );
    check(
        &[
            typed("你看过《灯塔谣》吗？"),
            model("看过的。"),
            typed("导演是谁？"),
            model("林晓。"),
            typed("主演是谁？"),
            model("周远和白露。"),
        ],
        &["Fact: 灯塔谣：主演：周远和白露。", "Fact: 灯塔谣：导演：林晓。"],
    );
    // nothing is named that it could be of
    check(&[typed("电话是多少？"), model("电话是010-5550。"), typed("地址呢？"), model("地址是长街9号。")], &[]);
}
