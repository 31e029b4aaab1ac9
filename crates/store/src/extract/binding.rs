//! Exact strings that are bound to words: "the staging database is db-7".

use epitome_strategy::text::is_cjk;

/// The words between the name and the string.
const BINDS: &[&str] = &[
    " is called ",
    " is named ",
    " is at ",
    " is on ",
    " is in ",
    " is ",
    " are ",
    " runs on ",
    " lives at ",
    " lives in ",
    " listens on ",
    " = ",
    ": ",
    "：",
    "是",
    "为",
];

/// The first words of a binding in English: they mark a thing that both sides know.
const KNOWN: &[&str] = &["the", "our", "my", "your", "its", "his", "her", "their", "production", "staging"];

/// Things that last longer than the step in which a model speaks of them.
const LASTING: &[&str] = &[
    "database",
    "server",
    "host",
    "url",
    "endpoint",
    "branch",
    "bucket",
    "account",
    "key",
    "ticket",
    "project",
    "repo",
    "repository",
    "plan",
    "version",
    "password",
    "address",
    "channel",
    "cluster",
    "region",
    "port",
    "数据库",
    "服务器",
    "端口",
    "分支",
    "地址",
    "账号",
    "密码",
    "仓库",
    "项目",
];

/// Things whose name is a plain number.
const NUMBERED: &[&str] = &[
    "port",
    "password",
    "pin",
    "code",
    "number",
    "id",
    "extension",
    "phone",
    "account",
    "ticket",
    "order",
    "密码",
    "端口",
    "编号",
    "号码",
    "电话",
    "账号",
    "工号",
    "订单",
];

/// Whether a sentence says what an exact string is: a known thing, a verb, and the string. From a model's text only
/// lasting things count.
pub(super) fn binds_an_identifier(sentence: &str, person: bool) -> bool {
    // "I'm ada_lovelace_17": who says so is known by that.
    let names_self = person
        && ["I'm ", "I am ", "I’m "].iter().any(|start| {
            let token = sentence.strip_prefix(start).and_then(|rest| rest.split([',', ' ']).next());
            token.is_some_and(|token| token.contains('_') && is_identifier(token))
        });
    names_self
        || BINDS.iter().any(|bind| {
            let Some((before, behind)) = sentence.split_once(bind) else { return false };
            let ends = |char: char| char.is_whitespace() || is_cjk(char) || "，。；（(".contains(char);
            let Some(token) = behind.trim_start().split(ends).next() else { return false };
            // Of several clauses the last one is bound: "I have no invoice, but my customer number is C-7741".
            let before = [", but ", ", and ", " but ", " and ", ", ", "，"]
                .iter()
                .filter_map(|mark| before.rfind(mark).map(|at| at + mark.len()))
                .max()
                .map_or(before, |at| &before[at..]);
            let named = token.chars().any(|char| char.is_ascii_alphabetic()) || names(before, NUMBERED);
            is_identifier(token) && named && is_thing(before) && (person || names(before, LASTING))
        })
}

/// Whether one of `things` is among the words.
fn names(words: &str, things: &[&str]) -> bool {
    let words = words.to_lowercase();
    let mut latin = words.split(|char: char| !char.is_ascii_alphanumeric());
    latin.any(|word| things.contains(&word)) || things.iter().any(|thing| !thing.is_ascii() && words.contains(thing))
}

fn is_thing(words: &str) -> bool {
    let chinese = words.chars().filter(|char| is_cjk(*char)).count();
    if chinese > 0 {
        return (3..=16).contains(&chinese);
    }
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    (2..=8).contains(&words.len()) && words.iter().take(3).any(|word| KNOWN.contains(&word.as_str()))
}

/// Whether a string cannot be guessed: letters with digits or underscores, addresses, paths, long numbers.
pub(super) fn is_identifier(token: &str) -> bool {
    let token = token.trim_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '/' | '_' | '~' | '#'));
    let has = |test: fn(char) -> bool| token.chars().any(test);
    let (digits, letters) = (has(|char| char.is_ascii_digit()), has(|char| char.is_ascii_alphabetic()));
    let plain = |char: char| char.is_ascii() && !char.is_whitespace();
    if token.len() < 3 || !token.chars().all(plain) {
        return false;
    }
    let ordinal = ["st", "nd", "rd", "th", "am", "pm", "k", "x", "s", "%"].iter().any(|end| {
        token
            .strip_suffix(end)
            .is_some_and(|rest| rest.chars().all(|char| char.is_ascii_digit() || ",.:-".contains(char)))
    });
    if ordinal {
        return false;
    }
    let address = token.contains("://") || (token.contains('@') && token.contains('.'));
    let path = token.len() > 4 && letters && token.matches('/').count() >= 2;
    let name = letters && (digits || token.trim_matches('_').contains('_'));
    let number = !letters && token.chars().filter(char::is_ascii_digit).count() >= 4;
    address || path || name || number
}
