use epitome_testkit::FakeCounter;

use super::*;

const GOOD: &str = "# Hand-off\n\n- The user wants the lexer in src/lexer.rs to accept nested brackets and to report each of them with \
its line.\n\nWhat comes now: the agent has to write the time that it takes into README.md, as the user asked; it \
changed next_token so that it counts the depth; cargo test passes with 3 tests.";

fn read(text: &str, stop: Stop, expected: &AnswerRequirements) -> Result<String, String> {
    let request = epitome_strategy::SummaryRequest::new(expected.max_tokens, None);
    let task = SummaryTask {
        messages: &[],
        session: None,
        request: &request,
        language: expected.language,
        counter: &FakeCounter,
    };
    let answer = ChatAnswer { text: text.to_owned(), stop, input_tokens: 1, cached_tokens: 0, output_tokens: 1 };
    read_answer(&answer, expected, &task).map_err(|problem| problem.say(Language::English))
}

fn expected() -> AnswerRequirements {
    AnswerRequirements {
        layout: AnswerLayout::Sections,
        language: Language::English,
        max_tokens: 400,
        source: Some(Size { chars: 4000, tokens: 1000 }),
    }
}

#[test]
fn only_these_are_no_summaries() {
    let check = |text: &str, stop: Stop, expect: &str| {
        assert_eq!(read(text, stop, &expected()).err().as_deref(), Some(expect), "{text}");
    };
    check(" \n", Stop::End, "it is empty");
    check("<think>hm, hm", Stop::End, "it is empty");
    check(GOOD, Stop::ToolCall, "it calls a tool instead of summarizing");
    check("<tool_call>{}</tool_call>", Stop::End, "it calls a tool instead of summarizing");
    check("{\"name\":\"Bash\",\"arguments\":{}}", Stop::End, "it calls a tool instead of summarizing");
    let refusal = "it is a refusal; a summary tells what others said and does nothing of it";
    check("I cannot help with that.", Stop::Refused, refusal);
    check(GOOD, Stop::Length, "it was cut off; it has to be shorter");
    check("## Goal\n- x", Stop::End, "it has 11 characters, too few to tell what happened");
    let chinese = AnswerRequirements { language: Language::Chinese, ..expected() };
    assert_eq!(read(GOOD, Stop::End, &chinese), Err("it is not written in English".to_owned()));
}

#[test]
fn any_form_is_a_summary() {
    let check = |text: &str, layout: AnswerLayout, expect: &str| {
        assert_eq!(read(text, Stop::End, &AnswerRequirements { layout, ..expected() }).as_deref(), Ok(expect));
    };
    for layout in [AnswerLayout::Sections, AnswerLayout::Brief, AnswerLayout::Json] {
        check(GOOD, layout, GOOD);
        let prose = GOOD.replace(['#', '-', '\n'], " ").trim().to_owned();
        check(&prose, layout, &prose);
        check(&format!("```markdown\n{GOOD}\n```"), layout, GOOD);
    }
    let topic = "nested brackets ".repeat(20);
    check(&format!("{{\"topic\":\"{topic}\"}}"), AnswerLayout::Json, &format!("## Topic\n- {}", topic.trim()));
}

#[test]
fn short_is_enough_for_short_sources_and_small_budgets() {
    let check = |chars: usize, max_tokens: Tokens, expect: bool| {
        let short = "## Goal\n- The user wants a poem.\n## Next step\n- The poem.";
        let expected = AnswerRequirements { max_tokens, source: Some(Size { chars, tokens: 1000 }), ..expected() };
        assert_eq!(read(short, Stop::End, &expected).is_ok(), expect, "{chars} {max_tokens}");
    };
    check(4000, 400, false);
    check(200, 400, true);
    check(4000, 25, true);
}
