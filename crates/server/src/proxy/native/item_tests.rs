#![allow(clippy::unwrap_used)]

use super::*;

const WIRE: Wire = Wire::OpenaiResponses;
const MOST: usize = 1 << 20;

fn keys(letter: char) -> ItemKeys {
    let mut keys = ItemKeys::default();
    keys.push(&letter.to_string().repeat(32));
    keys
}

fn sealer(keys: &ItemKeys) -> Sealer<'_> {
    Sealer { keys, tenant: "one", wire: WIRE, most: 64 * MOST }
}

fn item(text: &str) -> CompactionItem {
    let message = serde_json::json!({ "role": "user", "content": text }).to_string();
    CompactionItem::new(vec![RawValue::from_string(message).unwrap()], CoveredMessages::default())
}

fn open(sealed: &str, keys: &ItemKeys, tenant: &str) -> Result<String, ItemProblem> {
    let opened =
        CompactionItem::open(sealed, &Opener { keys, tenant, wire: WIRE, most: MOST, parts: 100, reserve: &|_| true })?;
    Ok(opened.messages.iter().map(|message| message.get()).collect())
}

#[test]
fn an_item_is_read_by_those_for_whom_it_was_made() {
    let sealed = item("hello").seal(&sealer(&keys('a')), 0).unwrap();
    let mut rotated = keys('b');
    rotated.push(&"a".repeat(32));
    let message = r#"{"role":"user","content":"hello"}"#;
    assert_eq!(open(&sealed, &keys('a'), "one").as_deref(), Ok(message));
    assert_eq!(open(&sealed, &rotated, "one").as_deref(), Ok(message), "an old key that is still there");
    assert_eq!(open(&sealed, &keys('b'), "one"), Err(ItemProblem::UnknownKey), "an old key that is gone");
    assert_eq!(open(&sealed, &keys('a'), "other"), Err(ItemProblem::WrongSignature), "another tenant");
    let another = Wire::Anthropic;
    let opener = Opener { keys: &keys('a'), tenant: "one", wire: another, most: MOST, parts: 100, reserve: &|_| true };
    let of_another = CompactionItem::open(&sealed, &opener);
    assert_eq!(of_another.err(), Some(ItemProblem::WrongSignature), "another wire");
    assert_eq!(item("hello").seal(&sealer(&ItemKeys::default()), 0), None, "without a key");
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let keys = keys('a');
    let sealed = item("a text of some length, for there to be bytes").seal(&sealer(&keys), 0).unwrap();
    for at in 0..sealed.len() {
        for other in ["A", "z", ".", "0", "\u{e9}"] {
            let changed = format!("{}{other}{}", &sealed[..at], &sealed[at + 1..]);
            assert!(changed == sealed || open(&changed, &keys, "one").is_err(), "{at}: {changed}");
        }
        assert!(open(&sealed[..at], &keys, "one").is_err(), "cut at {at}");
        let (one, other) = sealed.split_at(at);
        assert!(open(&format!("{one}x{other}"), &keys, "one").is_err(), "longer at {at}");
    }
}

#[test]
fn what_is_no_item() {
    let check = |text: &str, expect| assert_eq!(open(text, &keys('a'), "one"), Err(expect), "{text}");
    for text in ["", "epitome.c", "epitome.c1", "epitome.c1.", "epitome.c1.x.y", "epitome.cx.a.b.c"] {
        check(text, ItemProblem::Damaged);
    }
    for text in ["epitome.c1...", "epitome.c1.aaaaaaaa.aaaa.aaaa"] {
        check(text, ItemProblem::UnknownKey);
    }
    check("epitome.c2.whatever.it.is", ItemProblem::Newer);
    check("epitome.c0.a.b.c", ItemProblem::Damaged);
    check(&format!("epitome.c1.a.{}.a", "a".repeat(LONGEST)), ItemProblem::TooLarge);
}

#[test]
fn items_are_bounded() {
    let keys = keys('a');
    // Incompressible: each digit of a hash is new.
    let long: String =
        (0..LONGEST as u32 / 40).map(|number| blake3::hash(&number.to_le_bytes()).to_hex().to_string()).collect();
    assert_eq!(item(&long).seal(&sealer(&keys), 0), None);
    let small = item("hello");
    let sealed = small.seal(&sealer(&keys), 0).unwrap();
    let beside = |bytes| small.seal(&sealer(&keys), bytes).is_some();
    assert_eq!((beside(LONGEST - sealed.len()), beside(LONGEST - sealed.len() + 1)), (true, false), "shown");
    let bytes = serde_json::to_vec(&small).unwrap().len();
    let within = |most| small.seal(&Sealer { most, ..sealer(&keys) }, 0).is_some();
    assert_eq!((within(2 * bytes), within(2 * bytes - 1)), (true, false), "half is left for what comes next");
    let blown_up = item(&"x".repeat(2 * MOST)).seal(&sealer(&keys), 0).unwrap();
    assert!(blown_up.len() < MOST / 100, "it is small as it is sent");
    assert_eq!(open(&blown_up, &keys, "one"), Err(ItemProblem::TooLarge));
    let opener = Opener {
        keys: &keys,
        tenant: "one",
        wire: WIRE,
        most: 4 * MOST,
        parts: 100,
        reserve: &|bytes| bytes > 4 * MOST,
    };
    assert_eq!(CompactionItem::open(&blown_up, &opener).err(), Some(ItemProblem::NoRoom));
}
