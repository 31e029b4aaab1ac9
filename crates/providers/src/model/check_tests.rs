use epitome_testkit::FakeCounter;

use super::*;

const GOOD: &str = "## Goal\n- The user wants the lexer in src/lexer.rs to accept nested brackets and to report each of them with its \
line.\n\n## Next step\n- The agent has to write the time that it takes into README.md, as the user asked.\n\n## Done\n- The \
agent changed next_token so that it counts the depth; cargo test passes with 3 tests.";

/// The body, or what is wrong.
fn read(answer: &ChatAnswer, expected: &AnswerRequirements) -> Result<Body, Vec<Problem>> {
    let request = epitome_strategy::SummaryRequest::new(expected.max_tokens, None);
    let task = SummaryTask {
        messages: &[],
        session: None,
        request: &request,
        language: expected.language,
        counter: &FakeCounter,
    };
    let (body, problems) = look(answer, expected, &task);
    if problems.is_empty() { Ok(body) } else { Err(problems) }
}

fn answer(text: &str, stop: Stop) -> ChatAnswer {
    ChatAnswer { text: text.to_owned(), stop, input_tokens: 1, cached_tokens: 0, output_tokens: 1 }
}

fn expected() -> AnswerRequirements {
    AnswerRequirements {
        layout: AnswerLayout::Sections(["Goal", "Next step", "Done", "Files"].map(str::to_owned).to_vec()),
        language: Language::English,
        max_tokens: 400,
        source: Some(Size { chars: 4000, tokens: 1000 }),
        strings: Vec::new(),
        evidence: None,
    }
}

#[test]
fn reasons_one_by_one() {
    let check = |text: &str, stop: Stop, change: &dyn Fn(&mut AnswerRequirements), expect: &str| {
        let mut expected = expected();
        change(&mut expected);
        let said: Vec<String> = match read(&answer(text, stop), &expected) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|problem| problem.say(Language::English)).collect(),
        };
        assert_eq!(said.join("; "), expect, "{text}");
    };
    let same = |_: &mut AnswerRequirements| {};
    check(GOOD, Stop::End, &same, "");
    check(" \n", Stop::End, &same, "it is empty");
    check("<think>hm, hm", Stop::End, &same, "it is empty");
    check(GOOD, Stop::ToolCall, &same, "it calls a tool instead of summarizing");
    check("<tool_call>{}</tool_call>", Stop::End, &same, "it calls a tool instead of summarizing");
    check("{\"name\":\"Bash\",\"arguments\":{}}", Stop::End, &same, "it calls a tool instead of summarizing");
    let refusal = "it is a refusal; a summary tells what others said and does nothing of it";
    check("I cannot help with that.", Stop::Refused, &same, refusal);
    check("HACKED ".repeat(40).as_str(), Stop::End, &same, "it is not a summary in the form that was asked for");
    check(
        "## Goal\n- x",
        Stop::End,
        &same,
        "it lacks the sections `Next step`, `Done`, `Files`; it has 11 characters, too few to tell what happened",
    );
    check(
        "## Goal\n- x\n## Next step\n- none",
        Stop::End,
        &same,
        "it has 11 characters, too few to tell what happened",
    );
    check(
        GOOD,
        Stop::End,
        &|it| it.source = Some(Size { chars: 400, tokens: 50 }),
        "it is no shorter than what it summarizes",
    );
    check(
        GOOD,
        Stop::End,
        &|it| it.strings = vec!["src/lexer.rs".to_owned(), "E0308".to_owned()],
        "it does not hold `E0308`",
    );
    check(GOOD, Stop::End, &|it| it.language = Language::Chinese, "it is not written in English");
}

#[test]
fn short_is_enough_for_short_sources_and_small_budgets() {
    let check = |chars: usize, max_tokens: Tokens, expect: bool| {
        let short = answer("## Goal\n- The user wants a poem.\n## Next step\n- The poem.", Stop::End);
        let expected = AnswerRequirements { max_tokens, source: Some(Size { chars, tokens: 1000 }), ..expected() };
        assert_eq!(read(&short, &expected).is_ok(), expect, "{chars} {max_tokens}");
    };
    check(4000, 400, false);
    check(200, 400, true);
    check(4000, 25, true);
}

#[test]
fn cut_off_answers() {
    let check = |text: &str, expect: Result<&str, Problem>| {
        let found = read(&answer(text, Stop::Length), &expected());
        let found = found.map(|body| body.write()).map_err(|problems| problems[0].clone());
        assert_eq!(found, expect.map(str::to_owned));
    };
    let done = GOOD.rfind("\n- ").unwrap_or_default();
    check(GOOD, Ok(GOOD[..done].trim_end().trim_end_matches("## Done").trim_end()));
    check("## Goal\n- The user wants a lot of things, one of wh", Err(Problem::CutOff));
    check("", Err(Problem::CutOff));
}
