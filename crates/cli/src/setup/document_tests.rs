#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

fn keys(place: &str) -> Vec<String> {
    place.split('.').map(str::to_owned).collect()
}

#[test]
fn a_value_is_put_and_taken_out_again() {
    // The text with the value, and without it again where that is not the text before.
    let check = |syntax: Syntax, text: &str, place: &str, value: Value, expect: &str, again: &str| {
        let (with, made) = syntax.with(text, &keys(place), &value).unwrap();
        assert_eq!(with, expect, "{text}");
        assert_eq!(syntax.value(&with, &keys(place)).unwrap(), Some(value));
        assert_eq!(syntax.without(&with, &keys(place), made).unwrap(), again, "{text}");
    };
    let commented = "{\n  // mine\n  \"a\": 1, // one\n}\n";
    let with = "{\n  // mine\n  \"a\": 1, // one\n  \"b\": 2,\n}\n";
    check(Syntax::Json, commented, "b", json!(2), with, commented);
    check(Syntax::Json, "", "b", json!(2), "{\n  \"b\": 2\n}\n", "{}\n");
    check(Syntax::Json, "{\"a\":1}", "b", json!("x"), "{\n  \"a\":1,\n  \"b\": \"x\"\n}", "{\n  \"a\":1\n}");
    let commented = "# mine\na = 1 # one\n\n[t]\nx = 'y'\n";
    check(Syntax::Toml, commented, "b", json!(2), "# mine\na = 1 # one\nb = 2\n\n[t]\nx = 'y'\n", commented);
    let with = "# mine\na = 1 # one\n\n[t]\nx = 'y'\n\n[m.e]\nc = \"d\"\nl = [\"p\", \"q\"]\n";
    check(Syntax::Toml, commented, "m.e", json!({"c": "d", "l": ["p", "q"]}), with, commented);
    check(Syntax::Toml, "", "m.e", json!({"c": true}), "[m.e]\nc = true\n", "");
}

#[test]
fn a_value_within_a_line() {
    let (text, made) = Syntax::Toml.with("m = { o = 1 }\n", &keys("m.e"), &json!({"c": 1})).unwrap();
    assert_eq!((text.as_str(), made), ("m = { o = 1 , e = { c = 1 } }\n", 0));
    let without = Syntax::Toml.without(&text, &keys("m.e"), made).unwrap();
    assert_eq!(Syntax::Toml.value(&without, &keys("m")).unwrap(), Some(json!({"o": 1})));
}

#[test]
fn a_replaced_value_keeps_its_comment() {
    let (text, made) = Syntax::Toml.with("a = \"x\" # mine\n", &keys("a"), &json!("y")).unwrap();
    assert_eq!((text.as_str(), made), ("a = \"y\" # mine\n", 0));
    let (text, _) = Syntax::Json.with("{\"a\": 1 /* mine */}", &keys("a"), &json!(2)).unwrap();
    assert_eq!(text, "{\"a\": 2 /* mine */}");
}

#[test]
fn what_is_taken_back_is_as_it_was() {
    let check = |syntax: Syntax, text: &str, place: &str, value: Value| {
        let own = syntax.own_text(text, &keys(place)).unwrap().unwrap();
        let (with, made) = syntax.with(text, &keys(place), &value).unwrap();
        assert_eq!(made, 0);
        assert_eq!(syntax.with_own_text(&with, &keys(place), &own).unwrap(), text, "{with}");
    };
    check(Syntax::Toml, "# above\nm = 'x' # beside\n", "m", json!("y"));
    check(Syntax::Toml, "[m]\n# above\ne = 'a \"b\"' # beside\nf = 1\n", "m.e", json!("y"));
    check(Syntax::Toml, "[m]\n# above\ne = { c = 2026-01-02 } # beside\nf = 1\n", "m.e", json!("y"));
    check(Syntax::Json, "{\"a\": \"x\" /* mine */, \"b\": 1}", "a", json!({"c": [2]}));
    assert_eq!(Syntax::Toml.own_text("a = 1\n", &keys("m.e")), Ok(None));
    assert_eq!(Syntax::Toml.own_text("[m.e]\nc = 1\n", &keys("m.e")), Ok(None), "a table is not replaced");
    assert_eq!(Syntax::Json.own_text("{}", &keys("m.e")), Ok(None));
}

#[test]
fn ends_of_lines_and_a_mark_stay() {
    let check = |syntax: Syntax, text: &str, expect: &str| {
        let (with, made) = syntax.with(text, &keys("m.e"), &json!({"c": 1})).unwrap();
        assert_eq!(with, expect);
        assert_eq!(syntax.without(&with, &keys("m.e"), made).unwrap(), text);
    };
    check(Syntax::Toml, "a = 1 # one\r\n", "a = 1 # one\r\n\r\n[m.e]\r\nc = 1\r\n");
    check(Syntax::Toml, "\u{feff}a = 1\n", "\u{feff}a = 1\n\n[m.e]\nc = 1\n");
    let json = "\u{feff}{\r\n  \"a\": 1\r\n}\r\n";
    let with = "\u{feff}{\r\n  \"a\": 1,\r\n  \"m\": {\r\n    \"e\": {\r\n      \"c\": 1\r\n    }\r\n  }\r\n}\r\n";
    check(Syntax::Json, json, with);
    let problem = Syntax::Toml.with("a = 1\r\nb = 2\n", &keys("c"), &json!(1)).unwrap_err();
    assert!(problem.contains("1 of its lines end with CRLF, and 1 with LF"), "{problem}");
    let (mixed, _) = Syntax::Json.with("{\r\n  \"a\": 1,\n  \"b\": 2\r\n}", &keys("a"), &json!(3)).unwrap();
    assert_eq!(mixed, "{\r\n  \"a\": 3,\n  \"b\": 2\r\n}");
}

#[test]
fn what_is_not_understood() {
    let check = |syntax: Syntax, text: &str, place: &str, expect: &str| {
        let problem = syntax.with(text, &keys(place), &json!(1)).unwrap_err();
        assert!(problem.contains(expect), "{text}: {problem}");
    };
    check(Syntax::Json, "{\"a\": ", "a", "it is not JSON");
    check(Syntax::Json, "[1]", "a", "not a JSON object");
    check(Syntax::Json, "{\"a\": 1, \"a\": 2}", "a", "`a` is in one object twice");
    check(Syntax::Json, "{\"a\": 1}", "a.b", "`a` is not an object");
    check(Syntax::Json, "{a: 1}", "a", "it is not JSON");
    check(Syntax::Json, "{'a': 1}", "a", "it is not JSON");
    check(Syntax::Toml, "a = ", "a", "it is not TOML");
    check(Syntax::Toml, "a = 1\na = 2\n", "b", "it is not TOML");
    check(Syntax::Toml, "a = 1\n", "a.b", "`a` is not a table");
    check(Syntax::Toml, "[[a]]\nx = 1\n", "a.b", "`a` is not a table");
}

#[test]
fn a_text_that_holds_nothing() {
    let check = |syntax: Syntax, text: &str, expect: bool| assert_eq!(syntax.is_empty(text), expect, "{text:?}");
    check(Syntax::Json, "", true);
    check(Syntax::Json, " { \n}\n", true);
    check(Syntax::Json, "{ /* mine */ }", false);
    check(Syntax::Json, "{\"a\": 1}", false);
    check(Syntax::Toml, "\n", true);
    check(Syntax::Toml, "# mine\n", false);
    check(Syntax::Toml, "{}", false);
}
