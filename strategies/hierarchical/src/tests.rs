use super::*;
use epitome_strategy::{Language, Protection};
use epitome_testkit::PlanCase;

/// A round with a plain result, a key one, texts on the way, reasoning, long arguments, a conclusion; then small steps.
const ROUND: &str = "
system: S
user: fix the parser … x50
thinking: hm … x200
assistant: I look at the file. Then I read it. … x40
call Read c1 {\"path\":\"a.rs\"}
result c1: line {n} … x400 lines
assistant: I change it.
call Edit c2 {\"path\":\"a.rs\",\"new\":\"x … x600\"}
result c2: changed {n} … x300 lines
call Bash c3 {}
result c3: ok {n} … x300 lines
assistant: First the cause. Then the fix. … x60
user: now the lexer … x50
";

/// [`ROUND`] and the steps that are recent.
fn session() -> String {
    let args = "x".repeat(1200);
    ROUND.replace("x … x600", &args) + &"call Bash d {}\nresult d: small\n".repeat(5)
}

#[track_caller]
fn check(fixture: &str, settings: &str, target: Tokens, expect: &str) {
    PlanCase::new::<Hierarchical>(fixture, settings).target(target).expect(expect);
}

#[test]
fn tier_after_tier() {
    check(
        &session(),
        "",
        4000,
        r#"excerpt m2.0 keep "hm hm hm hm hm hm hm hm hm hm …hm hm hm hm hm hm hm hm hm hm " + "hm hm hm hm hm hm hm hm hm hm … hm hm hm hm hm hm hm hm hm hm" (reasoning)"#,
    );
    check(
        &session(),
        "",
        3300,
        r#"excerpt m2.0 keep nothing (reasoning)
           excerpt m3.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…ne 54⏎line 55⏎line 56⏎line 57⏎" + "line 344⏎line 345⏎line 346⏎lin…397⏎line 398⏎line 399⏎line 400" (result-details)
           trim m4.1 to 200 characters (call-details)"#,
    );
    check(
        &session(),
        "",
        2500,
        r#"excerpt m2.0 keep nothing (reasoning)
           excerpt m3.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…line 8⏎line 9⏎line 10⏎line 11⏎" + "line 390⏎line 391⏎line 392⏎lin…397⏎line 398⏎line 399⏎line 400" (result-details)
           excerpt m2.1 keep nothing (text-on-the-way)
           trim m4.1 to 200 characters (call-details)"#,
    );
    check(
        &session(),
        "",
        1000,
        r#"excerpt m2.0 keep nothing (reasoning)
           excerpt m3.0 keep nothing (result-details)
           excerpt m2.1 keep nothing (text-on-the-way)
           trim m4.1 to 50 characters (call-details)
           excerpt m5.0 keep "changed 1⏎changed 2⏎changed 3⏎…nged 12⏎changed 13⏎changed 14⏎" + "changed 287⏎changed 288⏎change…ed 298⏎changed 299⏎changed 300" (key-result)
           excerpt m7.0 keep "ok 1⏎ok 2⏎ok 3⏎ok 4⏎ok 5⏎ok 6⏎…ok 17⏎ok 18⏎ok 19⏎ok 20⏎ok 21⏎" + "ok 280⏎ok 281⏎ok 282⏎ok 283⏎ok…96⏎ok 297⏎ok 298⏎ok 299⏎ok 300" (key-result)
           excerpt m8.0 keep "First the cause. Then the fix.…First the cause. Then the fix." + "Then the fix. First the cause.…First the cause. Then the fix." (conclusion-middle)"#,
    );
}

#[test]
fn the_newest_steps_come_last() {
    let newest = "call Bash d {}\nresult d: line {n} … x200 lines\n".repeat(3);
    let fixture = ROUND.to_owned() + &newest;
    check(
        &fixture,
        "",
        2700,
        r#"excerpt m2.0 keep nothing (reasoning)
           excerpt m3.0 keep nothing (result-details)
           excerpt m2.1 keep nothing (text-on-the-way)
           excerpt m5.0 keep "changed 1⏎changed 2⏎changed 3⏎…nged 21⏎changed 22⏎changed 23⏎" + "changed 278⏎changed 279⏎change…ed 298⏎changed 299⏎changed 300" (key-result)
           excerpt m7.0 keep "ok 1⏎ok 2⏎ok 3⏎ok 4⏎ok 5⏎ok 6⏎…ok 67⏎ok 68⏎ok 69⏎ok 70⏎ok 71⏎" + "ok 230⏎ok 231⏎ok 232⏎ok 233⏎ok…96⏎ok 297⏎ok 298⏎ok 299⏎ok 300" (key-result)"#,
    );
    check(
        &fixture,
        "keep_newest_steps=0",
        4000,
        r#"excerpt m2.0 keep nothing (reasoning)
           excerpt m3.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…ne 54⏎line 55⏎line 56⏎line 57⏎" + "line 344⏎line 345⏎line 346⏎lin…397⏎line 398⏎line 399⏎line 400" (result-details)
           excerpt m11.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…ne 54⏎line 55⏎line 56⏎line 57⏎" + "line 144⏎line 145⏎line 146⏎lin…197⏎line 198⏎line 199⏎line 200" (result-details)
           excerpt m13.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…ne 55⏎line 56⏎line 57⏎line 58⏎" + "line 144⏎line 145⏎line 146⏎lin…197⏎line 198⏎line 199⏎line 200" (result-details)"#,
    );
    // Nothing older is left to give: the newest step is cut too, but never becomes a stub.
    check(
        &format!("user: go\n{newest}"),
        "",
        10,
        r#"excerpt m2.0 keep nothing (result-details)
           excerpt m4.0 keep nothing (result-details)
           excerpt m6.0 keep "line 1⏎line 2⏎line 3⏎line 4⏎li…ne 54⏎line 55⏎line 56⏎line 57⏎" + "line 144⏎line 145⏎line 146⏎lin…197⏎line 198⏎line 199⏎line 200" (result-details)"#,
    );
}

#[test]
fn what_the_user_typed_and_summaries_stay_whole() {
    let fixture = "system: s … x500\nuser: a … x500\nuser(summary): b … x500\nuser: c … x500\nassistant: d\nuser: e";
    check(fixture, "", 10, "declined: no result, text or argument that may be cut is long enough");
    PlanCase::new::<Hierarchical>(&session(), "")
        .target(4000)
        .protect(2, Protection::Pinned)
        .expect("trim m4.1 to 200 characters (call-details)");
}

#[test]
fn errors_and_focus_are_kept_in_results() {
    let mut fixture = String::from("user: go\ncall Bash c {}\nresult c:\n  begin\n  line {n} … x200 lines\n");
    fixture.push_str("  error[E0308]: mismatched types\n  more {n} … x200 lines\n  the lexer is here\n");
    fixture.push_str("  rest {n} … x200 lines\nassistant: on\ncall Bash d {}\nresult d: x\nuser: why?\n");
    PlanCase::new::<Hierarchical>(&fixture, "keep_newest_steps=0 result_tokens=100").focus("lexer").target(200).expect(r#"excerpt m2.0 keep "begin⏎line 1⏎line 2⏎line 3⏎lin…ne 19⏎line 20⏎line 21⏎line 22⏎" + "error[E0308]: mismatched types⏎more 1⏎" + "the lexer is here⏎" + "rest 178⏎rest 179⏎rest 180⏎res…197⏎rest 198⏎rest 199⏎rest 200" (result-details)"#);
}

#[test]
fn chinese_sessions() {
    let fixture = "user: 修复解析器\nassistant: 我先看文件。然后再读一遍。 … x60\ncall Read c {}\n\
        result c: 第{n}行内容 … x300 lines\nassistant: 原因是死循环。 … x80\nuser: 然后呢？\n";
    let case = |target| {
        PlanCase::new::<Hierarchical>(fixture, "keep_newest_steps=0").language(Language::Chinese).target(target)
    };
    case(1500).expect(r#"excerpt m1.0 keep nothing (text-on-the-way)
           excerpt m2.0 keep "第1行内容⏎第2行内容⏎第3行内容⏎第4行内容⏎第5行内容⏎…22行内容⏎第123行内容⏎第124行内容⏎第125行内容⏎" + "第177行内容⏎第178行内容⏎第179行内容⏎第180行内…297行内容⏎第298行内容⏎第299行内容⏎第300行内容" (key-result)"#);
    case(300).expect(r#"excerpt m1.0 keep nothing (text-on-the-way)
           excerpt m2.0 keep "第1行内容⏎第2行内容⏎第3行内容⏎第4行内容⏎第5行内容⏎第6行内容⏎第7行内容⏎第8行内容⏎第9行内容⏎第10行内容⏎" + "第291行内容⏎第292行内容⏎第293行内容⏎第294行内…297行内容⏎第298行内容⏎第299行内容⏎第300行内容" (key-result)
           excerpt m3.0 keep "原因是死循环。 原因是死循环。 原因是死循环。 原因是死循环…因是死循环。 原因是死循环。 原因是死循环。 原因是死循环。" + "原因是死循环。 原因是死循环。 原因是死循环。 原因是死循环…因是死循环。 原因是死循环。 原因是死循环。 原因是死循环。" (conclusion-middle)"#);
}

#[test]
fn agents_that_call_tools_in_plain_text() {
    let mut fixture = String::from("user: fix it\n");
    for step in 1..=8 {
        fixture.push_str(&format!("textcall bash: ls {step}\nuser(output): out {{n}} … x100 lines\n"));
    }
    check(
        &fixture,
        "",
        700,
        r#"excerpt m2.0 keep nothing (result-details)
           excerpt m4.0 keep nothing (result-details)
           excerpt m6.0 keep nothing (result-details)
           excerpt m8.0 keep nothing (result-details)
           excerpt m10.0 keep nothing (result-details)"#,
    );
}

#[test]
fn what_was_cut_before_is_left_alone() {
    let stub = "[… 1,204 tokens elided · recall e3f9]";
    let fixture = format!("user: go\ncall Read c {{}}\nresult c: {stub}\nassistant: done\nuser: more\n");
    check(&fixture, "", 10, "declined: no result, text or argument that may be cut is long enough");
}

#[test]
fn declines() {
    check(
        "user: a\nassistant: b\nuser: c",
        "",
        1,
        "declined: no result, text or argument that may be cut is long enough",
    );
}
