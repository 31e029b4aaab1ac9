//! The names of places, films and people in a talk in Chinese.

use epitome_strategy::text::is_cjk;

use super::super::words::Words;

/// What may be asked and told of something, as the first word of a clause.
pub(super) static ATTRIBUTES: Words = Words::of_section("places.attributes");

/// Characters of a message in which a name is looked for again.
pub(super) const MOST_COMPARED: usize = 120;

/// The name that a text repeats of an earlier one: the longest run of characters in both, of four at least.
pub(super) fn repeated_name(earlier: &str, text: &str) -> Option<String> {
    let (earlier, text): (Vec<char>, Vec<char>) =
        (earlier.chars().collect(), text.chars().take(MOST_COMPARED).collect());
    let (mut best, mut end) = (0, 0);
    let mut row = vec![0_usize; text.len() + 1]; // how long a run ends at each character of the text
    for before in &earlier {
        let mut diagonal = 0;
        for (at, char) in text.iter().enumerate() {
            let next = if char == before
                && (is_cjk(*char) || char.is_alphanumeric() || matches!(char, '(' | ')' | '（' | '）' | '·'))
            {
                diagonal + 1
            } else {
                0
            };
            diagonal = std::mem::replace(&mut row[at + 1], next);
            if next > best {
                (best, end) = (next, at + 1);
            }
        }
    }
    let run: String = text[end - best..end].iter().collect();
    let name = run
        .trim_start_matches("您可以考虑")
        .trim_start_matches("可以考虑")
        .trim_end_matches("可以")
        .trim_matches(['去', '在', '到', '的', '和', '了']);
    let is_whole = name.chars().filter(|char| matches!(char, '(' | '（')).count()
        == name.chars().filter(|char| matches!(char, ')' | '）')).count();
    ((4..=24).contains(&name.chars().count())
        && is_whole
        && is_a_name(name)
        && name.chars().filter(|char| is_cjk(*char)).count() >= 3)
        .then(|| name.to_owned())
}

/// The name in a question: between "have you heard of" and the end of the question.
pub(super) fn name_asked_for(sentence: &str) -> Option<&str> {
    let forms = [
        ("对", "有了解"),
        ("对", "了解"),
        ("听说过", "吗"),
        ("了解", "吗"),
        ("知道", "吗"),
        ("去过", "吗"),
        ("介绍一下", "吗"),
        ("看过", "吗"),
        ("打听一下", "在"),
        ("打听一下", "，"),
    ];
    forms.iter().find_map(|(start, end)| {
        let name = sentence.split_once(start)?.1.split_once(end)?.0.trim_end_matches("这个人");
        let name = name.trim_matches(['《', '》', '【', '】']);
        ((2..=16).contains(&name.chars().count()) && is_a_name(name)).then_some(name)
    })
}

/// A name with another one in brackets behind it.
pub(super) fn with_another_name(sentence: &str) -> Option<&str> {
    let (before, rest) = sentence.split_once('（')?;
    let (inside, _) = rest.split_once('）')?;
    let start = before
        .rfind(['，', '。', '的', '下', '、', '：'])
        .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    let name = &before[start..];
    let is_plain = |text: &str| text.chars().all(is_cjk) && (2..=12).contains(&text.chars().count());
    (is_plain(name) && is_plain(inside) && is_a_name(name))
        .then(|| &sentence[start..before.len() + '（'.len_utf8() + inside.len() + '）'.len_utf8()])
}

/// Whether the text counts or measures: "100 acres", "4 stars and more".
fn is_measured(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    chars
        .windows(2)
        .any(|two| two[0].is_ascii_digit() && matches!(two[1], '分' | '亩' | '元' | '米' | '个' | '小' | '年' | '月'))
}

/// Whether the text may be the name of something: it has no verb of asking.
pub(super) fn is_a_name(subject: &str) -> bool {
    ![
        "我", "你", "想", "给", "哪", "什么", "推荐", "一个", "一家", "一部", "有", "是", "，", "请", "找", "吃", "玩",
        "这", "那", "把", "还", "记得", "合计", "就", "啥", "时候", "多久", "大概", "现在", "参观", "怎么", "都", "说",
        "”", "面向",
    ]
    .iter()
    .any(|word| subject.contains(word))
        && !is_measured(subject)
        && !ATTRIBUTES.iter().any(|word| word.chars().count() > 1 && subject.contains(word))
}

/// What the names of places end with.
static ENDINGS: Words = Words::of_section("places.endings");

/// Whether a name ends as those of places do.
pub(super) fn sounds_like_a_place(name: &str) -> bool {
    name.ends_with([')', '）']) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}
