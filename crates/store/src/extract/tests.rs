#![allow(clippy::unwrap_used)]
use epitome_strategy::Cue;

use super::*;

fn said(texts: &[(&str, Role, Origin)]) -> Vec<String> {
    let message = |(index, (text, role, origin)): (usize, &(&str, Role, Origin))| {
        Arc::new(Message::text(format!("m{index}"), *role, *origin, *text))
    };
    let messages: Vec<Arc<Message>> = texts.iter().enumerate().map(message).collect();
    let memories = extract(&messages, None, &Lexicon::standard(), 10);
    memories.iter().map(|memory| format!("{:?}: {}", memory.kind, memory.text)).collect()
}

/// What is remembered of something that a person types.
fn check(text: &str, expect: &[&str]) {
    assert_eq!(said(&[(text, Role::User, Origin::Typed)]), expect, "{text}");
}

/// What is remembered of something that the model says.
fn check_model(text: &str, expect: &[&str]) {
    assert_eq!(said(&[(text, Role::Assistant, Origin::Model)]), expect, "{text}");
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
    check("My name is Ada and I work for a brewery.", &["Fact: My name is Ada and I work for a brewery."]);
}

#[test]
fn preferences_and_instructions() {
    check("I prefer tabs over spaces in this project.", &["Preference: I prefer tabs over spaces in this project."]);
    check("我更喜欢用表格来展示结果。", &["Preference: 我更喜欢用表格来展示结果。"]);
    check("Never push to main without a review.", &["Instruction: Never push to main without a review."]);
    check("Please do not touch the vendored folder.", &["Instruction: Please do not touch the vendored folder."]);
    check("提交之前务必运行全部测试。", &["Instruction: 提交之前务必运行全部测试。"]);
    check("I'll dim the lights, and make sure that it is warm.", &[]);
    check("I don't know what that means at all.", &[]);
    check("I've never been to Lisbon before, honestly.", &[]);
    check("She always brings cake to our meetings.", &[]);
    check("我不要再去那家餐馆吃饭了。", &[]);
    // Cues of what to keep in a context, which hold for the task at hand or tell of something.
    check("If the build fails, run it again in the other folder.", &[]);
    check("Each of those files needs a header at most.", &[]);
    check("I always bring cake to our meetings.", &[]);
    check("I'd like to see the museum tomorrow afternoon.", &[]);
    check("My flight leaves tomorrow and the budget is tight.", &[]);
    check("如果构建失败，先告诉我是哪一步。", &[]);
    // A longer cue around a clear one says as much.
    check("You should never push to main.", &["Instruction: You should never push to main."]);
    check(
        "Always, without exception, must never be left out.",
        &["Instruction: Always, without exception, must never be left out."],
    );
}

/// What the configuration calls a cue counts whatever it is.
#[test]
fn words_of_the_configuration() {
    let more = [(Cue::Instruction, vec!["ganz bestimmt".to_owned()])].into();
    let lexicon = Lexicon::extended(&more).unwrap();
    let text = "Ganz bestimmt kein Push ohne Review.";
    let message = Arc::new(Message::text("m0", Role::User, Origin::Typed, text));
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
        "The root cause is a stale lock file there.\nLet me look at it.",
        &["Decision: The root cause is a stale lock file there."],
    );
    check_model("我们一致同意先迁移数据库再改接口。", &["Decision: 我们一致同意先迁移数据库再改接口。"]);
    check_model("The root cause!", &[]);
    check("I have not decided which one to take.", &[]);
    check("我尊重你的决定，也会一直支持你。", &[]);
    check_model("I'm happy that you decided to take the trip.", &[]);
    check_model("Always wear a helmet, and never ride at night.", &[]);
}

#[test]
fn identifiers_with_their_words() {
    check("The staging database is db-7, by the way.", &["Identifier: The staging database is db-7, by the way."]);
    check(
        "Our ticket for this is called OPS-4312 in the tracker.",
        &["Identifier: Our ticket for this is called OPS-4312 in the tracker."],
    );
    check("测试环境的数据库是 db-7，别弄混。", &["Identifier: 测试环境的数据库是 db-7，别弄混。"]);
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
    check("Never saw this coming, to be honest.", &[]);
    check("In 1991 the government decided to close the base.", &[]);
    check_model("The second argument is `on_change_2` here.", &[]);
    check(
        "```\n# never remove this line from here\n```\n| always | never | must not |\n> Never do that again, please.",
        &[],
    );
    check(&format!("Never {}.", "mind the gap ".repeat(30)), &[]);
    assert_eq!(said(&[("Never trust the old cache folder.", Role::User, Origin::Injected)]), Vec::<String>::new());
    assert_eq!(said(&[("Never trust the old cache folder.", Role::Tool, Origin::Tool)]), Vec::<String>::new());
    let twice = ("Always run the formatter first.", Role::User, Origin::Typed);
    assert_eq!(said(&[twice, ("We decided to keep the old parser.", Role::User, Origin::Typed), twice]).len(), 2);
}

#[test]
fn the_newest_message_that_says_it_is_named() {
    let messages: Vec<Arc<Message>> = ["Always run the formatter first.", "always run  the formatter first"]
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let message = Message::text(format!("m{index}"), Role::User, Origin::Typed, *text);
            Arc::new(Message { timestamp: Some(index as i64), ..message })
        })
        .collect();
    let memories = extract(&messages, Some(&Arc::from("s")), &Lexicon::standard(), 5);
    let [memory] = &memories[..] else { unreachable!("{memories:?}") };
    assert_eq!((memory.message.as_str(), memory.time, memory.session.as_deref()), ("m1", Some(1), Some("s")));
    assert!(extract(&messages, None, &Lexicon::standard(), 0).is_empty());
}
