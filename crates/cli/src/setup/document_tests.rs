#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

fn keys(place: &str) -> Vec<String> {
    place.split('.').map(str::to_owned).collect()
}

#[test]
fn a_value_is_put_and_taken_back() {
    // The text with the value, which becomes the text before again.
    let check = |syntax: Syntax, text: &str, place: &str, value: Value, expect: &str| {
        let (with, record) = syntax.put(text, &keys(place), &value).unwrap();
        assert_eq!(with, expect, "{text}");
        assert_eq!(syntax.value(&with, &keys(place)).unwrap(), Some(value));
        assert_eq!(record.take_back(&with).unwrap().as_deref(), Some(text), "{with}");
        assert_eq!(record.take_back(text).unwrap(), None, "{text}");
        assert!(record.is_as_before(text).unwrap() && !record.is_as_before(&with).unwrap());
    };
    let json = |text: &str, value: Value, expect: &str| check(Syntax::Json, text, "b", value, expect);
    json("{\n  // mine\n  \"a\": 1, // one\n}\n", json!(2), "{\n  \"b\": 2,\n  // mine\n  \"a\": 1, // one\n}\n");
    json("", json!(2), "{\n  \"b\": 2\n}\n");
    json("{}", json!({"c": "d"}), "{\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
    json("{\"a\":1}", json!("x"), "{\n  \"b\": \"x\",\"a\":1}");
    json("\u{feff}{\r\n  \"a\": 1\r\n}\r\n", json!(2), "\u{feff}{\r\n  \"b\": 2,\r\n  \"a\": 1\r\n}\r\n");
    json("{\"b\": 1 /* mine */}", json!(2), "{\"b\": 2 /* mine */}");
    let toml = |text: &str, place: &str, value: Value, expect: &str| check(Syntax::Toml, text, place, value, expect);
    let commented = "# mine\na = 1 # one\n\n[t] # t\nx = 'y'\n";
    toml(commented, "b", json!(2), "# mine\na = 1 # one\nb = 2\n\n[t] # t\nx = 'y'\n");
    toml(commented, "t.b", json!(2), "# mine\na = 1 # one\n\n[t] # t\nb = 2\nx = 'y'\n");
    toml(commented, "a", json!("z"), "# mine\na = \"z\" # one\n\n[t] # t\nx = 'y'\n");
    let table = json!({"c": "d", "l": ["p", "q"]});
    toml(commented, "m.e", table, &format!("{commented}\n[m.e]\nc = \"d\"\nl = [\"p\", \"q\"]\n"));
    toml("", "m.e", json!({"c": true}), "[m.e]\nc = true\n");
    toml("[t]", "b", json!(2), "b = 2\n[t]");
    toml("a = 1", "b", json!(2), "a = 1\nb = 2\n");
    toml("[t]", "t.b", json!(2), "[t]\nb = 2\n");
    toml("m = { o = 1 }\n", "m.e", json!(2), "m = { e = 2, o = 1 }\n");
    toml("m = {}\n", "m.e", json!(2), "m = { e = 2}\n");
    toml("m.o = 1\n", "m.e", json!(2), "m.e = 2\nm.o = 1\n");
    toml("a = 1 # one\r\n", "m.e", json!({"c": 1}), "a = 1 # one\r\n\r\n[m.e]\r\nc = 1\r\n");
    toml("a = 1\r\nb = 2\n", "c", json!(3), "a = 1\r\nb = 2\nc = 3\r\n");
    toml("\u{feff}a = 1\n", "m.e", json!({"c": 1}), "\u{feff}a = 1\n\n[m.e]\nc = 1\n");
    toml("\u{feff}[t]\n", "b", json!(2), "\u{feff}b = 2\n[t]\n");
    toml("[m]\ne = { c = 2026-01-02 } # beside\n", "m.e", json!("y"), "[m]\ne = \"y\" # beside\n");
}

#[test]
fn what_is_taken_back_of_an_edited_text() {
    let check =
        |syntax: Syntax, (before, place, value): (&str, &str, Value), edit: (&str, &str), expect: Option<&str>| {
            let (with, record) = syntax.put(before, &keys(place), &value).unwrap();
            let edited = with.replacen(edit.0, edit.1, 1);
            assert_ne!(edited, with);
            assert_eq!(record.take_back(&edited).unwrap().as_deref(), expect, "{edited}");
        };
    let put = ("b = 'x'\n", "a", json!(1));
    check(Syntax::Toml, put.clone(), ("b = 'x'", "b = 'y' # new\nc = 1"), Some("b = 'y' # new\nc = 1\n"));
    check(Syntax::Toml, put.clone(), ("a = 1", "a = 2"), None);
    // Where the entry ends is not known any more.
    check(Syntax::Toml, put, ("a = 1", "a  = 1"), None);
    check(Syntax::Toml, ("", "m.e", json!({"c": 1})), ("c = 1\n", "c = 1\nd = 2\n"), None);
    // An agent may write its file anew.
    let status = |text: &'static str| (text, "s", json!({"c": 1}));
    check(Syntax::Json, status("{}"), ("\n}", ",\n  \"m\": 2\n}"), Some("{\n  \"m\": 2\n}"));
    check(Syntax::Json, status("{}"), ("\n  \"s\": {", "\n    \"m\": 2,\n    \"s\": {"), Some("{\n    \"m\": 2\n}"));
    check(Syntax::Json, status("{\"m\":2}"), (",", " , "), Some("{ \"m\":2}"));
    check(Syntax::Json, status("{}"), ("{\n  \"s\": {\n    \"c\": 1\n  }", "{\"s\":{\"c\":1}"), Some("{\n}"));
}

#[test]
fn what_is_not_understood() {
    let check = |syntax: Syntax, text: &str, place: &str, expect: &str| {
        let problem = syntax.put(text, &keys(place), &json!(1)).unwrap_err();
        assert!(problem.contains(expect), "{text}: {problem}");
    };
    check(Syntax::Json, "{\"a\": ", "a", "it is not JSON");
    check(Syntax::Json, "[1]", "a", "not a JSON object");
    check(Syntax::Json, "{\"a\": 1, \"a\": 2}", "b", "`b` cannot be written there");
    check(Syntax::Json, "{a: 1}", "a", "it is not JSON");
    check(Syntax::Json, "{'a': 1}", "a", "it is not JSON");
    check(Syntax::Toml, "a = ", "a", "it is not TOML");
    check(Syntax::Toml, "a = 1\na = 2\n", "b", "it is not TOML");
    check(Syntax::Toml, "a = 1\n", "a.b", "`a` is not a table");
    check(Syntax::Toml, "[[a]]\nx = 1\n", "a.b", "`a` is not a table");
    check(Syntax::Toml, "[a.b]\nx = 1\n", "a.b", "`a.b` is a table");
    check(Syntax::Toml, "[m]\na.x = 1\n", "m.a.b", "`m.a.b` cannot be written there");
    let doubled = Syntax::Json.value("{\"a\": 1, \"a\": 2}", &keys("b")).unwrap_err();
    assert!(doubled.contains("`a` is in one object twice"), "{doubled}");
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
