#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;
use crate::proxy::native::item::Sealer;
use crate::proxy::native::keys::ItemKeys;

const TENANT: &str = "one";

/// Enough for a request to hang where each message in front of an item costs a look at all of its contents.
const PARTS: usize = 40_000;

fn keys() -> ItemKeys {
    let mut keys = ItemKeys::default();
    keys.push("0123456789abcdef0123456789abcdef");
    keys
}

fn said(role: &str, text: &str) -> Value {
    json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] })
}

/// An item with these contents, which covers these messages.
fn sealed(wire: Wire, contents: &[Value], covered: &[Value], more: impl Fn(&mut CompactionItem)) -> String {
    let mut hashes = CoveredMessages::default();
    covered.iter().filter_map(message_hash).for_each(|hash| hashes.push(hash));
    let contents = contents.iter().map(|message| RawValue::from_string(message.to_string()).unwrap()).collect();
    let mut item = CompactionItem::new(contents, hashes);
    more(&mut item);
    item.seal(&Sealer { keys: &keys(), tenant: TENANT, wire, most: 1 << 24 }, 0).unwrap()
}

fn expanded(wire: Wire, messages: &[Value]) -> Result<Vec<Value>, Cause> {
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let keys = keys();
    let opener = Opener { keys: &keys, tenant: TENANT, wire, most: 1 << 24, parts: PARTS, reserve: &|_| true };
    let expanded = expand(&texts, opener).map_err(|refusal| refusal.cause())?;
    Ok(expanded.messages.iter().map(|json| serde_json::from_str(json).unwrap()).collect())
}

#[test]
fn what_a_client_leaves_in_front_of_an_item() {
    let user = |text: &str| said("user", text);
    let instructions = |text: &str| said("developer", text);
    let summary = user("[Summary of 9 earlier messages]");
    let contents =
        [instructions("Old rules."), user("First."), summary.clone(), user("Last."), said("assistant", "So.")];
    let covered = [instructions("Old rules."), user("First."), user("Middle."), user("Last.")];
    let item = json!({ "type": "compaction", "id": "cmp_1",
        "encrypted_content": sealed(Wire::OpenaiResponses, &contents, &covered, |_| ()) });
    let check = |front: &[Value], expect: &[Value]| {
        let behind = user("Next.");
        let messages: Vec<Value> = front.iter().chain([&item, &behind]).cloned().collect();
        let expect: Vec<Value> = expect.iter().chain([&behind]).cloned().collect();
        assert_eq!(expanded(Wire::OpenaiResponses, &messages), Ok(expect), "{front:?}");
    };
    check(&[], &contents);
    check(&[user("First."), user("Middle."), user("Last.")], &contents);
    check(&covered, &contents);
    // Written in another way, as a client writes what it has read.
    check(&[json!({"role": "user", "content": "First.", "id": "x"})], &contents);
    // All of the history, with what the model said and called.
    let call = json!({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"});
    check(&[user("First."), call, said("assistant", "Once."), user("Last.")], &contents);
    // What the item does not know stays, in front of what it was in front of.
    let [rules, first, _, last, so] = contents.clone();
    check(
        &[user("First."), user("Here."), user("Last.")],
        &[rules.clone(), first.clone(), summary.clone(), user("Here."), last.clone(), so.clone()],
    );
    check(&[user("Here."), user("Middle.")], &[&[user("Here.")], &contents[..]].concat());
    check(&[user("Last."), user("Last.")], &[&contents[..4], &[user("Last."), so.clone()]].concat());
    // New instructions replace those of then; the same ones stay where they are.
    check(
        &[user("First."), instructions("New rules."), user("Last.")],
        &[first.clone(), summary.clone(), instructions("New rules."), last.clone(), so.clone()],
    );
    check(
        &[instructions("Old rules."), instructions("More."), user("Last.")],
        &[rules, first, summary, instructions("More."), last, so],
    );
    // A compaction by the provider stays: only it can read it.
    let theirs = json!({"type": "compaction", "encrypted_content": "gAAAA"});
    check(std::slice::from_ref(&theirs), &[std::slice::from_ref(&theirs), &contents[..]].concat());
    // An earlier item of ours is in the newer one.
    check(std::slice::from_ref(&item), &contents);
}

#[test]
fn what_is_not_ours_passes() {
    let theirs = json!({"type": "compaction", "encrypted_content": "gAAAAABo", "id": "cmp_2"});
    let quoted =
        said("user", "what is epitome.c1.abc in {\"type\":\"compaction\",\"encrypted_content\":\"epitome.c1.x\"}?");
    let messages = [theirs, quoted, json!("text"), json!({"type": "new_kind", "encrypted_content": "epitome.c1.x"})];
    assert_eq!(expanded(Wire::OpenaiResponses, &messages), Ok(messages.to_vec()));
    let block = |block: Value| json!({"role": "assistant", "content": [block]});
    let messages = [
        block(json!({"type": "compaction", "content": "So far.", "encrypted_content": "gAAA", "signature": "EuYB"})),
        block(json!({"type": "compaction", "content": "epitome.c1.x"})),
        json!({"role": "user", "content": "epitome.c1.x"}),
    ];
    assert_eq!(expanded(Wire::Anthropic, &messages), Ok(messages.to_vec()));
}

#[test]
fn items_that_cannot_be_used_are_refused() {
    let check = |sealed: &str, expect: ItemProblem| {
        let item = json!({ "type": "compaction", "encrypted_content": sealed });
        assert_eq!(expanded(Wire::OpenaiResponses, &[item]), Err(Cause::Item(expect)), "{sealed}");
        let block = json!({ "role": "assistant", "content": [{ "type": "compaction", "encrypted_content": sealed }] });
        assert_eq!(expanded(Wire::Anthropic, &[block]), Err(Cause::Item(expect)), "{sealed}");
    };
    check("epitome.c1.x", ItemProblem::Damaged);
    check("epitome.c9.x", ItemProblem::Newer);
    check("epitome.c1.00000000.aaaa.aaaa", ItemProblem::UnknownKey);
    let of_openai = sealed(Wire::OpenaiResponses, &[said("user", "x")], &[], |_| ());
    let block = json!({ "role": "assistant", "content": [{ "type": "compaction", "encrypted_content": of_openai }] });
    assert_eq!(expanded(Wire::Anthropic, &[block]), Err(Cause::Item(ItemProblem::WrongSignature)));
}

#[test]
fn blocks_of_anthropics() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let contents = [user("Mend it."), json!({"role": "assistant", "content": "Yes."}), user("Go on.")];
    let item = |is_first: bool| {
        sealed(Wire::Anthropic, &contents, &[], |item| {
            (item.is_first, item.shown) = (is_first, Some(text_hash("So far.")));
        })
    };
    let block = |is_first: bool, content: Value| json!({"type": "compaction", "content": content, "encrypted_content": item(is_first)});
    let message = |blocks: &[Value]| json!({"role": "assistant", "content": blocks});
    let shown = json!("So far.");
    let check = |messages: &[Value], expect: Result<&[Value], Cause>| {
        assert_eq!(expanded(Wire::Anthropic, messages), expect.map(<[Value]>::to_vec), "{messages:?}");
    };
    for is_first in [false, true] {
        // What comes behind it is of the same side as its end: one message.
        let alone = message(&[block(is_first, shown.clone())]);
        let text = |text: &str| json!({"type": "text", "text": text});
        let both = json!({"role": "user", "content": [text("Go on."), text("Next.")]});
        check(&[alone.clone(), user("Next.")], Ok(&[&contents[..2], &[both]].concat()));
        check(&[alone, message(&[text("Yes.")])], Ok(&[&contents[..], &[message(&[text("Yes.")])]].concat()));
        check(&[message(&[block(is_first, Value::Null)])], Ok(&contents));
        check(&[message(&[block(is_first, json!("Other."))])], Err(Cause::ContentMismatch));
    }
    // In the middle of a history, in front of the answer that came with it.
    let text = json!({"type": "text", "text": "Done."});
    let answer = message(&[block(false, shown.clone()), text.clone()]);
    check(
        &[user("Long ago."), answer.clone(), user("Next.")],
        Ok(&[&contents[..], &[message(&[text]), user("Next.")]].concat()),
    );
    // What stands for the whole conversation is its beginning.
    let whole = message(&[block(true, shown)]);
    check(&[user("Before."), whole.clone()], Err(Cause::Misplaced));
    check(&[whole.clone(), user("x"), whole.clone()], Err(Cause::Ambiguous));
    check(&[whole, user("x"), answer.clone()], expanded(Wire::Anthropic, &[answer]).as_deref().map_err(|cause| *cause));
}

#[test]
fn as_many_messages_as_a_request_may_have() {
    let half = PARTS as u32 / 2;
    let (same, rules) = (said("user", "Again."), said("developer", "Rules."));
    let contents: Vec<Value> = (0..half).flat_map(|_| [same.clone(), rules.clone()]).collect();
    // With each count of an equal message in front of the item: those that it covers are left out, the rest stays.
    let check = |covered: u32, front: Vec<Value>, expect: usize| {
        let covered: Vec<Value> = (0..covered).map(|_| same.clone()).collect();
        let sealed = sealed(Wire::OpenaiResponses, &contents, &covered, |_| ());
        let mut messages = front;
        messages.push(json!({ "type": "compaction", "encrypted_content": sealed }));
        let expanded = expanded(Wire::OpenaiResponses, &messages).map(|messages| messages.len());
        assert_eq!(expanded, Ok(contents.len() + expect), "{}", messages.len());
    };
    let of = |message: &Value, count: u32| (0..count).map(|_| message.clone()).collect::<Vec<_>>();
    let most = PARTS as u32 - 1;
    check(most, of(&same, most), 0);
    check(half, of(&same, most), (most - half) as usize);
    check(0, of(&said("user", "Not in it."), most), most as usize);
    check(1, [of(&same, 1), of(&rules, half - 1), of(&same, half - 1)].concat(), half as usize - 1);
}

#[test]
fn more_messages_than_a_request_may_have() {
    let contents = |count: usize| (0..count).map(|_| said("user", "x")).collect::<Vec<_>>();
    let check = |in_item: usize, others: usize, expect: Result<usize, Cause>| {
        let sealed = sealed(Wire::OpenaiResponses, &contents(in_item), &[], |_| ());
        let mut messages = contents(others);
        messages.push(json!({ "type": "compaction", "encrypted_content": sealed }));
        let expanded = expanded(Wire::OpenaiResponses, &messages).map(|messages| messages.len());
        assert_eq!(expanded, expect, "{in_item} {others}");
    };
    let too_large = Err(Cause::Item(ItemProblem::TooLarge));
    check(PARTS, 0, Ok(PARTS));
    check(PARTS + 1, 0, too_large);
    check(1, PARTS - 1, Ok(PARTS));
    check(1, PARTS, too_large);
    let sealed = sealed(Wire::Anthropic, &[said("user", "x")], &[], |_| ());
    let block = json!({ "role": "assistant", "content": [{ "type": "compaction", "encrypted_content": sealed }] });
    let messages = [vec![block], contents(PARTS)].concat();
    assert_eq!(expanded(Wire::Anthropic, &messages).map(|messages| messages.len()), too_large);
}
