#![allow(clippy::panic)]

use epitome_strategy::{HostChanges, Protection};
use epitome_testkit::PlanCase;
use epitome_testkit::plan_check::CheckedPlan;

use super::*;

const DEMAND: &str = "From now on, run the parser tests before each commit.";

/// A session of `steps` reads, each of a file of its own that holds `lines` lines, behind a task and a demand.
fn agent(steps: usize, lines: usize) -> String {
    let mut text = format!("system: You are an agent.\nuser: fix the parser\nassistant: ok\nuser: {DEMAND}\n");
    for step in 1..=steps {
        text.push_str(&format!(
            "assistant: Module {step} calls helper_{step}, I look there.\n\
             call Read c{step} {{\"file_path\":\"src/module_{step}.rs\"}}\n\
             result c{step}:\n  the helper_{step} function calls inner_{step} for this\n  \
             plain words of nothing in particular {{n}} … x{lines} lines\n"
        ));
    }
    text + "assistant: The loop ends now: inner_1 was never reset.\nuser: and the lexer?\nassistant: I look.\n\
            call Bash last {\"command\":\"cargo test -p parser\"}\nresult last: all passed\n"
}

fn case(fixture: &str, settings: &str) -> PlanCase {
    PlanCase::new::<Transcript>(fixture, settings)
}

/// The transcripts of a plan, in order.
fn transcripts(planned: &CheckedPlan) -> Vec<&str> {
    let ready = planned.plan.edits.iter().filter_map(|edit| match edit {
        Edit::Summarize { summary: SummaryText::Ready(text), .. } => Some(text.as_str()),
        _ => None,
    });
    ready.collect()
}

#[track_caller]
fn check(planned: &CheckedPlan, holds: &[&str], lacks: &[&str]) {
    let text = transcripts(planned).join("\n~~~\n");
    holds.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in:\n{text}\n{}", planned.text));
    lacks.iter().for_each(|part| assert!(!text.contains(part), "`{part}` is in:\n{text}"));
}

#[test]
fn declines_where_it_has_nothing_to_offer() {
    case("user: hi\nassistant: hello\nuser: bye", "")
        .protect(1, Protection::Pinned)
        .target(1)
        .expect("declined: nothing may leave but what was typed");
}

#[test]
fn what_was_said_comes_before_what_was_printed() {
    let planned = case(&agent(20, 40), "").target(700).run();
    check(
        &planned,
        &["» Module 20 calls helper_20", "▸ Read: src/module_20.rs", "→ the helper_20 function"],
        &[DEMAND, "in particular 2"],
    );
    assert!(planned.after <= 700 && planned.after > 630, "the room is used: {}", planned.after);
}

#[test]
fn typed_messages_stay_and_transcripts_stand_between_them() {
    let fixture = "user: fix it\nassistant:\n  The first is fixed.\n  a line {n} of it … x40 lines\nuser: now the second\n\
        assistant:\n  The other is fixed.\n  a line {n} of that … x40 lines\nuser: go on\nassistant: yes";
    let planned = case(fixture, "tail_share=0").target(170).run();
    assert_eq!(transcripts(&planned).len(), 2, "{}", planned.text);
    check(&planned, &["The first", "The other"], &["now the second"]);
}

#[test]
fn of_a_long_typed_message_the_demands_stay() {
    let fixture = format!(
        "user: start\nassistant: ok\nuser:\n  Look at this log:\n  plain words of a log {{n}} … x60 lines\n  {DEMAND}\n  more words of it {{n}} … x60 lines\n\
         assistant: ok\nuser: go on\nassistant: yes"
    );
    let planned = case(&fixture, "short_message=20").target(250).run();
    let kept = planned.plan.edits.iter().find_map(|edit| match edit {
        Edit::Excerpt { keep, reason, .. } if &*reason.code == "long-message" => Some(keep),
        _ => None,
    });
    let kept = kept.unwrap_or_else(|| panic!("not cut: {}", planned.text));
    // The fixture's message begins behind its own name and holds its lines without their indent.
    let start = "Look at this log:\n".len();
    let logged: usize = (1..=60).map(|n| format!("plain words of a log {n}").len() + 1).sum();
    let demand = (start + logged) as u32..(start + logged + DEMAND.len()) as u32;
    let holds = |range: &std::ops::Range<u32>| range.start <= demand.start && demand.end <= range.end;
    assert!(kept.iter().any(holds), "{demand:?} is not in {kept:?}");
}

#[test]
fn a_pasted_table_leaves_room_for_what_others_demand() {
    // Each row demands something, and all of them are before the other demand.
    let fixture = format!(
        "user: start\nassistant: ok\nuser:\n  Shelf {{n}} must never carry more than {{n}}00 kilograms. … x80 lines\n\
         assistant: Seen.\nuser:\n  many plain words of it {{n}} … x60 lines\n  {DEMAND}\nassistant: I will.\nuser: go on\nassistant: yes"
    );
    for target in (160..400).step_by(20) {
        let planned = case(&fixture, "short_message=20").target(target).run();
        // The plan's text shortens what is kept.
        for part in ["tests before each commit.", "must never carry"] {
            assert!(planned.text.contains(part), "{target}: `{part}` is not in:\n{}", planned.text);
        }
    }
}

#[test]
fn changes_are_told_by_sign_and_replaced_text_leaves() {
    let fixture = "user: rename it\n\
        assistant: Reading.\ncall Read r {\"file_path\":\"src/a.rs\"}\nresult r:\n  let first_name = compute_the_value();\n  fn other() {}\n\
        assistant: Changing.\ncall Edit e {\"file_path\":\"src/a.rs\",\"old_string\":\"let first_name = compute_the_value();\",\"new_string\":\"let second_name = compute_the_value();\"}\nresult e: done\n\
        assistant: Listing.\ncall Bash b {\"command\":\"ls\"}\nresult b:\n  entry {n} … x90 lines\nuser: go on\nassistant: yes";
    let planned = case(fixture, "tail_share=0").target(150).run();
    check(&planned, &["▸ Edit: src/a.rs", "+ let second_name = compute_the_value();"], &["→ let first_name"]);
}

#[test]
fn the_newest_step_is_cut_where_it_stands() {
    let fixture = "user: go\nassistant: I print it.\ncall Bash b {\"command\":\"cat big.log\"}\nresult b:\n  line {n} of the log … x400 lines\n  error: it broke\n";
    let planned = case(fixture, "").target(600).run();
    assert!(planned.text.contains("newest-output"), "{}", planned.text);
    assert!(planned.after <= 600, "{}", planned.after);
    let giant = format!(
        "user: go\nassistant: I write it.\ncall Write w {{\"file_path\":\"a\",\"content\":\"{}\"}}\nresult w: rejected\n",
        "many words ".repeat(3000)
    );
    let planned = case(&giant, "").target(1_000).run();
    assert!(planned.text.contains("trim") && planned.text.contains("newest-arguments"), "{}", planned.text);
}

#[test]
fn what_the_model_said_last_is_cut_last() {
    // The texts that are cut, by their message, with what stays of them.
    let excerpts = |planned: &CheckedPlan| -> Vec<(u32, Vec<std::ops::Range<u32>>)> {
        let excerpt = |edit: &Edit| match edit {
            Edit::Excerpt { message, keep, .. } => Some((*message, keep.clone())),
            _ => None,
        };
        planned.plan.edits.iter().filter_map(excerpt).collect()
    };
    let printed = "user: go\nassistant: I print it, for libfoo was missing.\ncall Bash b {\"command\":\"cat big.log\"}\n\
        result b:\n  line {n} of the log … x400 lines\n  error: it broke\n";
    let planned = case(printed, "").target(600).run();
    let cut: Vec<u32> = excerpts(&planned).iter().map(|(message, _)| *message).collect();
    assert_eq!(cut, [2], "the result is cut, what was said is not: {}", planned.text);
    // Of a long answer the beginning and the end stay, and what else there is room for.
    let answer = "user: review\nassistant:\n  Module {n} has a defect which breaks some input. … x60 lines\n  Shall I mend them?\n";
    let planned = case(answer, "").target(300).run();
    let found = excerpts(&planned);
    let [(1, keep)] = &found[..] else { panic!("{}", planned.text) };
    let lines: usize = (1..=60).map(|n| format!("Module {n} has a defect which breaks some input.\n").len()).sum();
    let last = keep.last().map(|range| range.end as usize);
    assert_eq!((keep[0].start, last), (0, Some(lines + "Shall I mend them?".len())), "{keep:?}");
    assert!(keep[0].end > 500 && planned.after <= 300, "{} {keep:?}", planned.after);
    // Of one line its first sentence stays, if nothing else fits.
    let planned = case("user: what is it?\nassistant: It is a chain of several steps. Many more are there, of which each passes something on to the next one in some way or other, as long as the room that is there lasts, and no longer than that.", "").target(20).run();
    assert!(matches!(&excerpts(&planned)[..], [(1, keep)] if keep[0].start == 0), "{}", planned.text);
}

#[test]
fn an_earlier_transcript_is_read_back_and_another_summary_keeps_its_sections() {
    let earlier = "user: go\nuser(summary):\n  [Summary of 9 earlier messages]\n  » I ran the tests.\n  ▸ Bash: cargo test\n  → test result: FAILED\n  \
        » words of little use … x300\nuser: on\nassistant: yes\nuser: and?\nassistant: no";
    let planned = case(earlier, "tail_share=0").target(120).run();
    check(&planned, &["» I ran the tests.", "▸ Bash: cargo test\n→ test result: FAILED"], &["[Summary of", "\n◦"]);
    let other = "user: go\nuser(summary):\n  ## Files\n  file {n} of the session … x200 lines\n  ## Pending tasks\n  ship the parser\n\
        user: on\nassistant: yes\nuser: and?\nassistant: no";
    let planned = case(other, "").target(300).run();
    assert!(planned.text.contains("earlier-summary"), "{}", planned.text);
}

#[test]
fn the_same_view_gives_the_same_plan() {
    let fixture = agent(15, 30);
    let plans: Vec<String> = (0..3).map(|_| case(&fixture, "").target(900).run().text).collect();
    assert!(plans.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn lines_in_place_of_steps_can_be_bounded() {
    let bounded = |most: u32| {
        let planned = case(&agent(20, 40), "").max_summary_tokens(most).target(3_000).run();
        let longest = transcripts(&planned).iter().map(|text| text.len().div_ceil(4) as u32).max().unwrap_or(0);
        assert!(planned.after <= 3_000, "{}", planned.after);
        (longest, planned.after)
    };
    let (free, _) = bounded(0);
    let (longest, after) = bounded(300);
    assert!(free > 1_500 && longest <= 300, "{free} and {longest}");
    // What the lines may not take the newest steps have.
    assert!(after > 2_200, "{after}");
}

/// A host that takes one text: the typed messages between the steps are quoted in it, so that it is one run.
#[test]
fn one_text_quotes_what_was_typed() {
    let planned = case(&agent(20, 40), "").host(HostChanges::Cut).target(700).run();
    let [text] = transcripts(&planned)[..] else { panic!("{}", planned.text) };
    assert_eq!(planned.plan.edits.len(), 1, "{}", planned.text);
    assert!(text.contains(DEMAND) && text.contains("» Module 20 calls helper_20"), "{text}");
}

/// A line that introduces a list or a block, and what follows it.
#[test]
fn what_is_introduced_stands_with_what_introduces_it() {
    let said = |lead: &str, list: &str| {
        format!(
            "user: go\nassistant:\n  {lead}\n  {list}\ncall Bash b {{\"command\":\"ls\"}}\nresult b:\n  entry {{n}} … x90 lines\n\
             user: on\nassistant: yes\nuser: and?\nassistant: no"
        )
    };
    let check = |lead: &str, list: &str, target: u32, holds: &[&str]| {
        let planned = case(&said(lead, list), "tail_share=0").target(target).run();
        let text = transcripts(&planned).join("\n");
        assert!(!text.contains(lead) || holds.iter().all(|part| text.contains(part)), "{target}\n{text}");
        text.contains(lead)
    };
    let lead = "The queue_limit, retry_delay and base_url obey three rules of config.toml:";
    let list = "- never more than this many words of little use in one item of the list that nobody else names\n  \
        - plain words {n} … x30 lines";
    let shown: Vec<bool> = (30..200).map(|target| check(lead, list, target, &["- never more"])).collect();
    assert!(shown.contains(&true) && shown.contains(&false), "{shown:?}");
    let block = "```toml\n  plain = words\n  other {n} … x30 lines\n  ```";
    let shown: Vec<bool> = (30..200).map(|target| check(lead, block, target, &["```toml", "plain = words"])).collect();
    assert!(shown.contains(&true) && shown.contains(&false), "{shown:?}");
}

/// How a call ended, where nothing else of its result is shown.
#[test]
fn calls_show_how_they_ended() {
    let step = |number: usize, command: &str, result: &str| {
        format!(
            "assistant: Step {number}.\ncall Bash c{number} {{\"command\":\"{command}\"}}\nresult c{number}:{result}\n"
        )
    };
    let listing = "\n  plain words of nothing in particular {n} … x60 lines";
    let fixture = format!(
        "user: go\n{}{}{}{}user: on\nassistant: yes\nuser: and?\nassistant: no",
        step(1, "./build_all.sh", listing),
        step(2, "python run_suite.py", &format!("{listing}\n  2 failed, 61 passed in 3.1s")),
        step(3, "rm old_notes.txt", " (Bash completed with no output)"),
        step(4, "python run_suite.py -q", &format!("{listing}\n  63 passed in 3.0s")),
    );
    let planned = case(&fixture, "tail_share=0").target(155).run();
    check(
        &planned,
        &[
            "▸ Bash: ./build_all.sh\n",
            "▸ Bash: python run_suite.py ✗\n→ … 2 failed, 61 passed in 3.1s",
            "▸ Bash: rm old_notes.txt ✓\n»",
            "▸ Bash: python run_suite.py -q\n→",
            "63 passed in 3.0s",
        ],
        &["in particular 9"],
    );
}

/// A detail that is kept stands under the item that it belongs to, whatever else left.
#[test]
fn a_detail_stands_under_its_item() {
    let option = |number: u32| {
        format!(
            "  {number}. **Option {number}:**\n     - flight HAT{number}84\n     - plain words of little use\n     - price ${number}42\n"
        )
    };
    let options: String = (1..=9).map(option).collect();
    let fixture =
        format!("user: go\nassistant:\n{options}user: HAT384 or HAT784?\nassistant: yes\nuser: and?\nassistant: no");
    let mut details = 0;
    for target in (30..200).step_by(5) {
        let planned = case(&fixture, "tail_share=0").target(target).run();
        let text = transcripts(&planned).join("\n");
        let mut item = None;
        for line in text.lines() {
            let number = line.find("**Option ").and_then(|at| line[at + 9..].chars().next());
            item = number.or(item);
            if let Some(at) = line.find("flight HAT") {
                details += 1;
                assert_eq!(line[at + 10..].chars().next(), item, "{target}\n{text}");
            }
        }
    }
    assert!(details > 20, "{details}");
}

/// The first line of a command is not taken for all of it.
#[test]
fn a_command_that_goes_on_says_so() {
    let fixture = "user: go\nassistant: First.\ncall Bash b {\"command\":\"export TABLE=users\\npsql -c 'drop plain words'\"}\n\
        result b:\n  entry {n} of nothing … x60 lines\nuser: on\nassistant: yes\nuser: and?\nassistant: no";
    let mut cut = 0;
    for target in (20..120).step_by(5) {
        let planned = case(fixture, "tail_share=0").target(target).run();
        let text = transcripts(&planned).join("\n");
        if text.contains("export TABLE=users") && !text.contains("psql") {
            cut += 1;
            assert!(text.contains("export TABLE=users …"), "{target}\n{text}");
        }
    }
    assert!(cut > 0);
}

/// A short reply says nothing without the question, and the option, that it answers.
#[test]
fn what_a_short_reply_answers_stays() {
    let fixture = |reply: &str| {
        format!(
            "user: design it\nassistant:\n  Plain words of little use {{n}}. … x40 lines\n  Which of them do you prefer?\n  \
             **A)** one process does it all\n  **B)** two processes share a lock\n  **C)** a queue stands between\n\
             user: {reply}\nassistant: I look.\ncall Bash b {{\"command\":\"ls\"}}\nresult b:\n  entry {{n}} … x90 lines\n\
             user: on\nassistant: yes\nuser: and?\nassistant: no"
        )
    };
    let check = |reply: &str, holds: &[&str], lacks: &[&str]| {
        check(&case(&fixture(reply), "tail_share=0").target(170).run(), holds, lacks);
    };
    check("b", &["Which of them do you prefer?", "**B)** two processes share a lock"], &["**A)**"]);
    check("yes", &["Which of them do you prefer?"], &[]);
}

/// Checks that a text within some room has `part`, and that each that has it has all of `with` too; but the one of the tightest
/// room, from which lines are taken back.
#[track_caller]
fn check_kept_with(fixture: &str, part: &str, with: &[&str]) {
    let kept = |target: u32| case(fixture, "tail_share=0").target(target).run().text;
    let texts: Vec<String> = (60..260).step_by(5).map(kept).filter(|text| text.contains(part)).collect();
    let lacking: Vec<&String> = texts.iter().filter(|text| !with.iter().all(|other| text.contains(other))).collect();
    assert!(texts.len() > 2 && lacking.len() < 2, "{} of {} lack {with:?}: {lacking:#?}", lacking.len(), texts.len());
}

/// A file alone does not tell what was changed, nor a passage where it was found.
#[test]
fn changes_and_fields_stand_with_what_they_are_of() {
    let others = "assistant:\n  Some other words of little use {n}. … x40 lines\nuser: on\nassistant: yes\nuser: and?\nassistant: no";
    let edit = r#"{"file_path":"src/parse_queue.rs","old_string":"fn a() {\nlet x = 1;","new_string":"fn a() {\nlet depth = 7;"}"#;
    check_kept_with(
        &format!("user: go\nassistant: I edit.\ncall Edit e {edit}\nresult e: ok\n{others}"),
        "▸ Edit: src/parse_queue.rs",
        &["+ let depth = 7;"],
    );
    let record = |name: &str| {
        format!(
            "  \"title\": \"{name} show\",\n  \"url\": \"https://{name}.net/a\",\n  \"text\": \"words about {name} caves\",\n"
        )
    };
    let found = format!("{}{}", record("Lascaux"), record("Altamira"));
    check_kept_with(
        &format!(
            "user: where are Altamira caves\nassistant: I search.\ncall web_search w {{\"query\":\"caves\"}}\nresult w:\n{found}{others}"
        ),
        "words about Altamira caves",
        &["Altamira show", "https://Altamira.net/a"],
    );
}

/// What people typed again and again answers another question each time.
#[test]
fn a_short_message_that_is_repeated_is_quoted_in_its_place() {
    let round = |number: u32| {
        format!("assistant:\n  plain words {{n}} of part {number}. … x30 lines\n  Is part {number} right?\nuser: yes\n")
    };
    let rounds: String = (1..=4).map(round).collect();
    let fixture = format!("user: design it\n{rounds}assistant: done\nuser: and?\nassistant: no");
    let planned = case(&fixture, "tail_share=0").target(200).run();
    let quoted = |number: u32| format!("Is part {number} right?\n« yes");
    check(&planned, &[&quoted(1), &quoted(2), &quoted(3)], &[&quoted(4)]);
    // The newest is a message of its own; of a long one that is repeated the newest alone is sure to stay.
    assert!(planned.text.contains("part 4 right?"), "{}", planned.text);
}

/// Pictures leave before words: they have the room that all typed words leave, the newest first.
#[test]
fn words_stay_when_their_pictures_leave() {
    let round = |number: u32| {
        format!(
            "user: Rule {number}: keep part_{number} as it is.\nuser: look at screen {number}\nimage\n\
             assistant: so\ncall Bash c{number} {{\"command\":\"ls\"}}\nresult c{number}:\n  entry {{n}} … x60 lines\n"
        )
    };
    let fixture = format!("{}user: and?\nassistant: no", (1..=9).map(round).collect::<String>());
    let screen = |number: u32| format!("« look at screen {number}\n« [image]");
    let mut pictures = Vec::new();
    for target in [1_000, 1_200, 1_400, 1_700] {
        let planned = case(&fixture, "tail_share=0").target(target).run();
        check(&planned, &[&screen(1)], &[]);
        let texts = transcripts(&planned).join("\n");
        let leaves = |rule: u32| {
            let mut edits = planned.plan.edits.iter();
            edits.any(|edit| matches!(edit, Edit::Summarize { units, .. } if units.contains(&(3 * rule))))
                && !texts.contains(&format!("« Rule {}: keep part_{0} as it is.", rule + 1))
        };
        assert!((0..9).all(|rule| !leaves(rule)), "{target}: {}", planned.text);
        assert!(planned.after <= target, "{target}: {}", planned.after);
        pictures.push(9 - planned.text.matches("« [image]").count());
    }
    assert!(pictures.is_sorted() && pictures[0] < pictures[3], "more room, more pictures: {pictures:?}");
}

/// A list stands below its heading, and below the line that introduces it.
#[test]
fn a_list_stands_below_its_heading() {
    let section =
        |name: &str, lead: &str| format!("  ## {name}\n{lead}  - the {name}_limit of parse_{name}\n  - plain words\n");
    let fixture = format!(
        "user: design it\nassistant:\n{}{}  - plain words {{n}} … x60 lines\nuser: queue_limit or retry_limit?\nassistant: yes\n\
         user: and?\nassistant: no",
        section("queue", ""),
        section("retry", "  These matter:\n")
    );
    let mut items = 0;
    for target in (30..160).step_by(5) {
        let planned = case(&fixture, "tail_share=0").target(target).run();
        let text = transcripts(&planned).join("\n");
        for (item, above) in [("the queue_limit", "## queue"), ("the retry_limit", "## retry")] {
            let Some(at) = text.find(item) else { continue };
            items += 1;
            let headings = text[..at].rmatches("## ").count();
            assert!(headings > 0 && text[..at].contains(above), "{target}\n{text}");
        }
        assert!(!text.contains("the retry_limit") || text.contains("These matter:"), "{target}\n{text}");
    }
    assert!(items > 10, "{items}");
}

/// Calls of which nothing is shown are counted where they were, and the files that they read are named.
#[test]
fn calls_that_left_are_counted() {
    check_left_calls(r#"Bash c{number} {"command":"ls"}"#, "▸ … ×5: ls\n▸ Edit: src/parse_queue.rs");
    check_left_calls(r#"Read c{number} {"path":"src/deep/a.rs"}"#, "▸ … ×5: a.rs\n▸ Edit: src/parse_queue.rs");
}

/// Checks that some room leaves out five such calls and says `told` of them, also when only the text is left.
#[track_caller]
fn check_left_calls(call: &str, told: &str) {
    let step = |number: u32| {
        let call = call.replace("{number}", &number.to_string());
        format!("assistant:\ncall {call}\nresult c{number}:\n  entry {{n}} … x9 lines\n")
    };
    let steps: String = (1..=5).map(step).collect();
    let fixture = format!(
        "user: go\n{steps}assistant:\ncall Edit e {{\"file_path\":\"src/parse_queue.rs\"}}\nresult e: done\n\
         user: on\nassistant: yes\nuser: and?\nassistant: no"
    );
    let counted = |planned: &CheckedPlan| transcripts(planned).join("").contains(told);
    let planned = (60..200).map(|target| case(&fixture, "tail_share=0").target(target).run()).find(counted);
    let planned = planned.unwrap_or_else(|| panic!("no target leaves the five calls out and keeps the change"));
    // A later compaction of the text alone knows them still.
    let text = transcripts(&planned)[0].replace('\n', "\n  ");
    let again = format!(
        "user: go\nuser(summary):\n  [Summary of 9 earlier messages]\n  {text}\n  » plain words of it\n  plain words of little use … x60\nuser: on\nassistant: yes\nuser: and?\nassistant: no"
    );
    let planned = case(&again, "tail_share=0").target(150).run();
    check(&planned, &[told], &[]);
}

/// Where calls are made in plain text, a reply of which the harness took none did not run the code that is in it.
#[test]
fn code_that_was_never_run_leaves() {
    let fixture = "user: fix it\nassistant: I look.\ntextcall bash: ls -la\n\
         assistant:\n  I change the queue.\n  ```bash\n  sed -i s/old/new/ queue.py\n  ```\n  And the list.\n  ```bash\n  rm list.py\n  ```\n\
         assistant: One at a time.\ntextcall bash: cat queue.py\n\
         assistant:\n  plain words of little use {n} … x60 lines\ntextcall bash: ls\nuser: on\nassistant: yes\nuser: and?\nassistant: no";
    let planned = case(fixture, "tail_share=0").target(200).run();
    check(&planned, &["I change the queue.", "And the list.", "▸ bash: cat queue.py"], &["sed -i", "rm list.py"]);
}

/// Among calls of which nothing is shown, those that failed are counted too.
#[test]
fn failures_that_left_are_counted() {
    let step = |number: u32, printed: &str| {
        format!("assistant:\ncall Bash c{number} {{\"command\":\"make\"}}\nresult c{number}:\n{printed}")
    };
    let (fine, broken) = ("  entry {n} … x9 lines\n", "  Error: it broke\n");
    let steps: String = (1..=5).map(|number| step(number, if number == 3 { broken } else { fine })).collect();
    let fixture = format!(
        "user: go\n{steps}assistant:\ncall Edit e {{\"file_path\":\"src/parse_queue.rs\"}}\nresult e: done\n\
         user: on\nassistant: yes\nuser: and?\nassistant: no"
    );
    let counted =
        |planned: &CheckedPlan| transcripts(planned).join("").contains("▸ … ×5 (✗): make\n▸ Edit: src/parse_queue.rs");
    assert!(
        (40..200).map(|target| case(&fixture, "tail_share=0").target(target).run()).any(|planned| counted(&planned))
    );
}

/// Two messages of a person with an answer between them that left do not read as one.
#[test]
fn an_answer_that_left_has_a_mark() {
    let said = "And so on, with many plain words of little use. ".repeat(20);
    let turns: String = (1..=6)
        .map(|turn| format!("user: I have a wish of number {turn}, and it is about cities.\nassistant: {said}\n"))
        .collect();
    let fixture = format!("{turns}user: go on\nassistant: yes");
    let marked = |planned: &CheckedPlan| transcripts(planned).join("").contains("cities.\n» …\n« I have a wish");
    assert!(
        (100..600).step_by(5).map(|target| case(&fixture, "tail_share=0").target(target).run()).any(|it| marked(&it))
    );
}

/// Of calls that write one task each, as of lists, the newest stays.
#[test]
fn earlier_calls_that_write_one_task_leave() {
    let create = |number: u32| {
        format!(
            "assistant:\ncall TaskCreate t{number} {{\"subject\":\"mend queue_{number}\",\"description\":\"All of it.\"}}\nresult t{number}: Task #{number} created successfully: mend queue_{number}\n"
        )
    };
    let fixture = format!(
        "user: go\n{}{}{}assistant: I look.\ncall Bash b {{\"command\":\"ls\"}}\nresult b:\n  entry {{n}} … x90 lines\n\
         user: on\nassistant: yes\nuser: and?\nassistant: no",
        create(1),
        create(2),
        create(3)
    );
    let planned = case(&fixture, "tail_share=0").target(200).run();
    check(&planned, &["▸ … ×2\n▸ TaskCreate: mend queue_3"], &["queue_1", "queue_2"]);
}

/// Of lists of tasks the newest stays; the calls that set earlier ones are only counted.
#[test]
fn earlier_lists_of_tasks_leave_with_their_calls() {
    let list = |number: u32, first: &str| {
        format!(
            "assistant:\ncall TodoWrite t{number} {{\"todos\":[{{\"content\":\"mend queue_limit\",\"status\":\"{first}\"}},{{\"content\":\"test parse_queue\",\"status\":\"pending\"}}]}}\nresult t{number}: Todos have been modified successfully\n"
        )
    };
    let fixture = format!(
        "user: go\n{}{}{}assistant: I look.\ncall Bash b {{\"command\":\"ls\"}}\nresult b:\n  entry {{n}} … x90 lines\n\
         user: on\nassistant: yes\nuser: and?\nassistant: no",
        list(1, "pending"),
        list(2, "in_progress"),
        list(3, "completed")
    );
    let planned = case(&fixture, "tail_share=0").target(200).run();
    check(&planned, &["▸ … ×2\n▸ TodoWrite", "mend queue_limit | completed"], &["in_progress"]);
}

#[test]
fn texts_are_cut_in_whole_lines() {
    // What is kept of the newest result, as its own lines.
    let check = |printed: &str, target: u32| {
        let fixture =
            format!("user: go\nassistant: I read it.\ncall Read r {{\"file_path\":\"a.rs\"}}\nresult r:\n{printed}");
        let planned = case(&fixture, "").target(target).run();
        let kept = planned.plan.edits.iter().find_map(|edit| match edit {
            Edit::Excerpt { keep, .. } => Some(keep.clone()),
            _ => None,
        });
        let kept = kept.unwrap_or_else(|| panic!("not cut: {}", planned.text));
        let text: String = printed.lines().map(|line| format!("{}\n", &line[2..])).collect();
        let text = text.trim_end();
        for range in &kept {
            let (start, end) = (range.start as usize, range.end as usize);
            assert!(start == 0 || text[..start].ends_with('\n'), "{:?}", &text[start..end]);
            assert!(end == text.len() || text[..end].ends_with('\n'), "{:?}", &text[start..end]);
        }
        for gap in kept.windows(2) {
            let gap = &text[gap[0].end as usize..gap[1].start as usize];
            assert!(gap.len() > 60, "no longer than its mark: {gap:?}");
        }
    };
    let numbered = |line: usize| match line % 9 {
        0 => format!("  {line:>6}→fn read_config_{line}() -> Result<Config, Error> {{\n"),
        4 => format!("  {line:>6}→    return Err(Error::missing(\"port_{line}\"));\n"),
        _ => format!("  {line:>6}→    word;\n"),
    };
    check(&(1..=300).map(numbered).collect::<String>(), 900);
}

/// Typed messages in their places part the transcript, and each part needs a heading: where these take more than there is,
/// the messages are quoted within the lines, and none is lost to what comes after the transcript.
#[test]
fn more_room_never_loses_what_less_room_kept() {
    const RULES: u32 = 60;
    let mut fixture = "system: S\nuser: build the service\n".to_owned();
    for rule in 1..=RULES {
        let words = "and its tests ".repeat(rule as usize % 7);
        fixture += &format!(
            "assistant:\n  Part {rule} is built.\n  Its tests pass now.\n  I go on with the next.\n\
             user: Never touch part_{rule} {words}again.\n"
        );
    }
    fixture += "assistant: all are built\nuser: go on\nassistant: yes";
    let kept = |target: u32| {
        let planned = case(&fixture, "").target(target).run();
        assert!(planned.after <= target, "{} of {target}", planned.after);
        let texts = transcripts(&planned).join("\n");
        let leaves = |unit: u32| {
            planned.plan.edits.iter().any(|edit| match edit {
                Edit::Summarize { units, .. } | Edit::Drop { units, .. } => units.contains(&unit),
                _ => false,
            })
        };
        (1..=RULES).filter(|rule| !leaves(2 * rule + 1) || texts.contains(&format!("touch part_{rule} "))).count()
    };
    let (mut most, total) = (0, case(&fixture, "").target(1_200).run().before);
    for target in (1_200..total).step_by(total as usize / 40) {
        let now = kept(target);
        assert!(now >= most, "{target} tokens keep {now} rules, fewer kept {most}");
        most = now;
    }
    assert_eq!(most, RULES as usize);
}
