#![allow(clippy::unwrap_used)]
use epitome_session::{Block, Content, ToolCall, ToolResult};
use epitome_strategy::Cue;

use super::*;

fn said(messages: Vec<Message>) -> Vec<String> {
    let mut session = epitome_session::Session::new();
    messages.into_iter().for_each(|message| {
        session.push(message);
    });
    let memories = extract(session.log(), None, &Lexicon::standard(), 10);
    memories.iter().map(|memory| format!("{:?}: {}", memory.kind, memory.text)).collect()
}

fn typed(text: &str) -> Message {
    Message::text("", Role::User, Origin::Typed, text)
}

fn model(text: &str) -> Message {
    Message::text("", Role::Assistant, Origin::Model, text)
}

/// The memories of a text that a person types.
fn check(text: &str, expect: &[&str]) {
    assert_eq!(said(vec![typed(text)]), expect, "{text}");
}

/// The memories of a text that the model writes.
fn check_model(text: &str, expect: &[&str]) {
    assert_eq!(said(vec![model(text)]), expect, "{text}");
}

#[test]
fn what_people_want_remembered() {
    check(
        "Hi! Remember that the fair is in Leipzig this year. Bye now.",
        &["Fact: Remember that the fair is in Leipzig this year."],
    );
    check("请记得周五之前交报告。今天天气不错。", &["Fact: 请记得周五之前交报告。"]);
    check("I can still remember the smell of that kitchen.", &[]);
    check("Do you remember what we talked about?", &[]);
}

/// What was asked for and is remembered for itself is there once.
#[test]
fn a_wish_that_is_remembered() {
    check("Please remember: the shed key is K-17.", &["Fact: Please remember: the shed key is K-17."]);
    check("I'd like a ticket to Bergen on the 12th.", &["Fact: Asked: “I'd like a ticket to Bergen on the 12th.”"]);
}

#[test]
fn facts_about_people() {
    check("My name is Ada and I work for a brewery.", &["Fact: My name is Ada and I work for a brewery."]);
    check("My sister Nora lives in a village near Bergen.", &["Fact: My sister Nora lives in a village near Bergen."]);
    check("Sure, I grew up on a farm with horses.", &["Fact: Sure, I grew up on a farm with horses."]);
    check("我叫林晓，在一家书店工作。", &["Fact: 我叫林晓，在一家书店工作。"]);
    check("我家养了两只猫，都很黏人。", &["Fact: 我家养了两只猫，都很黏人。"]);
    // of the talk and not of the person, or of nobody named
    check("My question is whether the cache is used.", &[]);
    check("I have a problem with your advice here.", &[]);
    check("Our bond with him was very special.", &[]);
    check("最近我想和你聊聊我的工作。", &[]);
}

#[test]
fn days_are_told_as_dates() {
    let at = |text: &str, time| said(vec![Message { timestamp: time, ..typed(text) }]);
    let noon = Some(1_684_000_000_000); // 2023-05-13
    let text = "I started learning the accordion last month.";
    assert_eq!(at(text, noon), ["Fact: I started learning the accordion last month. (said on 2023-05-13)"]);
    assert_eq!(at(text, None), ["Fact: I started learning the accordion last month."]);
    assert_eq!(at("我最近开始学做面包了。", noon), ["Fact: 我最近开始学做面包了。（2023-05-13）"]);
    // The future may be over when it is read.
    assert_eq!(at("My flight to Oslo leaves tomorrow morning.", None), Vec::<String>::new());
    assert_eq!(at("I live in Ghent, near the old harbour.", noon), ["Fact: I live in Ghent, near the old harbour."]);
}

#[test]
fn preferences_and_instructions() {
    check("I prefer tabs over spaces in every file.", &["Preference: I prefer tabs over spaces in every file."]);
    check(
        "I love hiking in the mountains with friends.",
        &["Preference: I love hiking in the mountains with friends."],
    );
    check("我更喜欢用表格来展示结果。", &["Preference: 我更喜欢用表格来展示结果。"]);
    check("I love it, and I like how the page looks.", &[]);
    check("Never push to main without a review.", &["Instruction: Never push to main without a review."]);
    check("Please do not touch the vendored folder.", &["Instruction: Please do not touch the vendored folder."]);
    check("提交之前务必运行全部测试。", &["Instruction: 提交之前务必运行全部测试。"]);
    check("Session rows should not show the raw id.", &["Instruction: Session rows should not show the raw id."]);
    check("I'll dim the lights, and make sure that it is warm.", &[]);
    check("I've never been to Lisbon before, honestly.", &[]);
    check("She always brings cake to our meetings.", &[]);
    check("我不要再去那家餐馆吃饭了。", &[]);
    // Cues of what to keep in a context, which hold for the task at hand or tell of something.
    check("Run the tests now, please, and commit.", &[]);
    check("If the build fails, run it again in the other folder.", &[]);
    check("For now only look at the parser first.", &[]);
    check("That should be fine for most of the users.", &[]);
    check("如果构建失败，先告诉我是哪一步。", &[]);
    // A longer cue around a clear one says as much.
    check("You should never push to main.", &["Instruction: You should never push to main."]);
    // What refers to the sentence before it is remembered with that.
    check("My budget is $740. Never go over it.", &["Instruction: My budget is $740. Never go over it."]);
}

/// What the configuration calls a cue counts whatever it is.
#[test]
fn words_of_the_configuration() {
    let more = [(Cue::Instruction, vec!["ganz bestimmt".to_owned()])].into();
    let lexicon = Lexicon::extended(&more).unwrap();
    let message = Arc::new(typed("Ganz bestimmt kein Push ohne Review."));
    let found = |lexicon: &Lexicon| extract(std::slice::from_ref(&message), None, lexicon, 10).len();
    assert_eq!((found(&lexicon), found(&Lexicon::standard())), (1, 0));
}

#[test]
fn decisions_of_both() {
    check(
        "We decided to ship on Tuesday, after the freeze.",
        &["Decision: We decided to ship on Tuesday, after the freeze."],
    );
    check_model(
        "Together we decided to keep the old parser for tables.",
        &["Decision: Together we decided to keep the old parser for tables."],
    );
    check_model("我们一致同意先迁移数据库再改接口。", &["Decision: 我们一致同意先迁移数据库再改接口。"]);
    check("I have not decided which one to take.", &[]);
    check("我尊重你的决定，也会一直支持你。", &[]);
    check_model("I'm happy that you decided to take the trip.", &[]);
    check("In 1991 the government decided to close the base.", &[]);
}

#[test]
fn failures_and_facts_that_the_model_found() {
    check_model(
        "The root cause is a stale lock file in `var/run`.\nLet me look at it.",
        &["Failure: The root cause is a stale lock file in `var/run`."],
    );
    check_model(
        "The export fails because `Writer::flush` drops the last row.",
        &["Failure: The export fails because `Writer::flush` drops the last row."],
    );
    check_model(
        "`load_rates()` reads the table from `rates.csv` at every start.",
        &["Fact: `load_rates()` reads the table from `rates.csv` at every start."],
    );
    check_model("订单服务通过 Kafka 把事件发给仓库系统。", &["Fact: 订单服务通过 Kafka 把事件发给仓库系统。"]);
    check_model(
        "The refund for the two tickets has been processed.",
        &["Fact: The refund for the two tickets has been processed."],
    );
    // guesses, offers, what is done or said for the moment, parts of sentences, and what is not named
    check_model("The export probably fails because `flush` drops the last row.", &[]);
    check_model("I'll change `load_rates()` so that it reads the file once.", &[]);
    check_model("It reads the table from `rates.csv` at every start.", &[]);
    check_model("All tests pass and the working tree is clean on `main`.", &[]);
    check_model("reads the table from `rates.csv` at every start", &[]);
    check_model("Run `make check` before you push to the branch.", &[]);
    check_model("The worker is looking at `load_rates()` in another branch.", &[]);
    check_model("Speed: the table is held in memory by `Cache`.", &[]);
    check_model("The root cause!", &[]);
    // On the way to a call only the cause of something is told.
    let with_call = |text: &str| {
        let call =
            ToolCall { id: "c".into(), name: "Read".into(), arguments: epitome_session::Arguments::Json("{}".into()) };
        let blocks = vec![Block::text(text), Block::new(Content::ToolCall(call))];
        said(vec![Message::new("", Role::Assistant, Origin::Model, blocks)])
    };
    assert!(with_call("`load_rates()` reads the table from `rates.csv` at every start.").is_empty());
    assert_eq!(with_call("Root cause: `flush` runs before the last row is written.").len(), 1);
}

#[test]
fn identifiers_with_their_words() {
    check("The staging database is db-7, by the way.", &["Identifier: The staging database is db-7, by the way."]);
    check(
        "Our ticket for the parser is called OPS-4312 in the tracker.",
        &["Identifier: Our ticket for the parser is called OPS-4312 in the tracker."],
    );
    check(
        "I have no invoice, but my customer number is C-7741.",
        &["Identifier: I have no invoice, but my customer number is C-7741."],
    );
    check("测试环境的数据库是 db-7，别弄混。", &["Identifier: 测试环境的数据库是 db-7，别弄混。"]);
    check("I'm ada_byron_1815, by the way.", &["Identifier: I'm ada_byron_1815, by the way."]);
    check("The weather here is really nice today.", &[]);
    check("The meeting is 10am on the second floor.", &[]);
}

#[test]
fn only_what_somebody_says() {
    check(
        "Use relative paths, and never\nabsolute ones. Always run the formatter first.",
        &["Instruction: Always run the formatter first."],
    );
    check("Thanks for always being there for me.", &[]);
    check(
        "```\n# never remove this line from here\n```\n| always | never | must not |\n> Never do that again, please.",
        &[],
    );
    check(&format!("Never {}.", "mind the gap ".repeat(30)), &[]);
    check(&format!("Never trust the cache folder. {}", "data ".repeat(600)), &[]);
    check("You may look around. REMEMBER: YOU MUST ENTER ONE COMMAND. Never trust the old cache folder.", &[]);
    let never = "Never trust the old cache folder.";
    for (role, origin) in [(Role::User, Origin::Injected), (Role::Tool, Origin::Tool), (Role::User, Origin::Summary)] {
        assert_eq!(said(vec![Message::text("", role, origin, never)]), Vec::<String>::new(), "{origin:?}");
    }
    check(&format!("<system-reminder>{never}</system-reminder>\nLook at the parser, please."), &[]);
    // what a person says through a tool
    let call =
        ToolCall { id: "c".into(), name: "Edit".into(), arguments: epitome_session::Arguments::Json("{}".into()) };
    let text = format!(
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{never}"
    );
    for (is_error, expect) in [(true, vec![format!("Instruction: {never}")]), (false, Vec::new())] {
        let text = text.as_str().into();
        let result = ToolResult { call_id: "c".into(), name: None, text, attachments: Vec::new(), is_error };
        let asked = Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call.clone()))]);
        assert_eq!(said(vec![asked, Message::result("", result)]), expect);
    }
}

#[test]
fn people_who_talk_are_named() {
    let named = |message: Message, name: &str| Message { name: Some(name.into()), ..message };
    let talk = vec![
        named(typed("I play the cello in a small orchestra."), "Ines"),
        named(model("I love baking bread at the weekend with my kids. Remember to rest a little!"), "Tomas"),
    ];
    assert_eq!(
        said(talk),
        [
            "Preference: Tomas: I love baking bread at the weekend with my kids.",
            "Fact: Ines: I play the cello in a small orchestra.",
        ]
    );
}

#[test]
fn what_is_said_again_or_otherwise_is_there_once() {
    let again = ["The staging port is 8080.", "the staging port is  8080", "Our tracker is at tracker.example/T-1."];
    assert_eq!(said(again.map(typed).into()).len(), 2);
    assert_eq!(
        said(["The staging port is 8080.", "The staging port is 8443."].map(typed).into()),
        ["Identifier: The staging port is 8443."]
    );
    assert_eq!(said(["My cat is called Mia Bell.", "My dog is called Rex Bell."].map(typed).into()).len(), 2);
    let messages: Vec<Arc<Message>> =
        ["Always run the formatter first thing.", "always run  the formatter first thing"]
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let message = Message::text(format!("m{index}"), Role::User, Origin::Typed, *text);
                Arc::new(Message { timestamp: Some(index as i64), ..message })
            })
            .collect();
    let memories = extract(&messages, Some(&Arc::from("s")), &Lexicon::standard(), 5);
    assert_eq!(memories.len(), 1, "{memories:?}");
    let memory = &memories[0];
    assert_eq!((memory.message.as_str(), memory.time, memory.session.as_deref()), ("m1", Some(1), Some("s")));
    assert!(extract(&messages, None, &Lexicon::standard(), 0).is_empty());
}
