//! Facts that a talk in Chinese states about places, films and people that it names: "the phone is 010-…" belongs to
//! the current subject, which the sentence itself leaves out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{Message, Origin, Role};
use epitome_strategy::text::is_cjk;

use super::ComposedMemory;
use super::place_names::{
    ATTRIBUTES, MOST_COMPARED, is_a_name, name_asked_for, repeated_name, sounds_like_a_place, with_another_name,
};
use crate::memory::MemoryKind;

/// Kinds of things, each with what people do there: the newest of a kind is meant where only the kind is named.
const KINDS: &[(&str, &[&str], &str)] = &[
    ("酒店", &["酒店", "宾馆", "旅馆"], "住宿"),
    ("餐馆", &["餐馆", "餐厅", "饭店", "饭馆"], "用餐"),
    ("景点", &["景点", "景区", "公园"], "游玩"),
];

/// Words in front of the name of a recommended or wanted thing, and the words that end it.
const NAMING: &[&str] = &[
    "推荐您去",
    "建议您去",
    "推荐你去",
    "建议你去",
    "给您推荐",
    "为您推荐",
    "家店是",
    "餐馆叫",
    "酒店叫",
    "首选就是",
    "只有",
    "想去",
];
const ENDING: &[&str] =
    &["住宿", "用餐", "游玩", "溜达", "看看", "逛", "玩", "尝尝", "吃", "了", "，", "。", "！", ",", "吧", "这"];

/// Words in front of a name that are not a part of it.
const LEADING: &[&str] = &[
    "嗯呢",
    "嗯",
    "恩",
    "好的",
    "好",
    "那么",
    "那",
    "还有",
    "请问",
    "请在",
    "请帮我查一下",
    "可以帮我查一下",
    "帮我查一下",
    "查一下",
    "比如",
    "还",
    "大概",
    "我想知道",
    "你知道",
    "知道",
    "在",
    "，",
    "。",
    " ",
];

/// The number of facts from which a session is a talk about places and the like.
const LEAST: usize = 2;
/// The largest number of facts that are remembered, the newest.
const MOST: usize = 12;
/// The worth of each.
const WORTH: f64 = 2.2;

/// The facts about one thing.
#[derive(Default)]
struct ThingClauses {
    /// With the place of the message that says it.
    clauses: Vec<(usize, String)>,
}

/// The state of the talk at one place of it.
#[derive(Default)]
struct Talk {
    /// The newest name of each kind, and of all.
    by_kind: HashMap<&'static str, Option<String>>,
    current: Option<String>,
    things: HashMap<String, ThingClauses>,
    /// Names that are between marks, or were recommended.
    certain: HashSet<String>,
    /// The last two messages.
    last: Vec<String>,
    /// The attribute that the newest question asks for, and its subject.
    asked: Option<(&'static str, Option<String>)>,
}

/// Things with the facts about them. Linear in the texts of the talk.
pub(super) fn compose(messages: &[Arc<Message>]) -> Vec<ComposedMemory> {
    let mut talk = Talk::default();
    let mut texts: Vec<String> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        let speaks = message.is_typed() || message.role == Role::Assistant && message.origin == Origin::Model;
        if !speaks || message.name.is_some() || message.calls().next().is_some() {
            continue;
        }
        let text = message.plain_text();
        if text.chars().any(is_cjk) && text.chars().count() <= 400 {
            talk.read(&text, message.is_typed(), position);
            texts.push(text);
        }
    }
    // A thing that was not named explicitly must be named twice, and sound like a place.
    let certain = std::mem::take(&mut talk.certain);
    let is_said = |name: &str| texts.iter().filter(|text| text.contains(name)).count();
    let is_sure = |name: &str| is_said(name) >= if sounds_like_a_place(name) { 2 } else { 4 };
    talk.things.retain(|name, _| certain.contains(name) || is_sure(name));
    // One or two are a word in a talk about something else.
    if talk.things.values().map(|thing| thing.clauses.len()).sum::<usize>() < LEAST {
        return Vec::new();
    }
    let mut told: Vec<ComposedMemory> =
        talk.things.into_iter().flat_map(|(name, thing)| thing.compose(&name)).collect();
    told.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    told.truncate(MOST);
    told
}

impl ThingClauses {
    /// Each fact as a memory of its own: a later statement replaces that one alone.
    fn compose(self, name: &str) -> Vec<ComposedMemory> {
        let told =
            self.clauses.into_iter().map(|(at, clause)| (at, format!("{name}：{clause}。"), (MemoryKind::Fact, WORTH)));
        told.collect()
    }
}

impl Talk {
    fn read(&mut self, text: &str, typed: bool, position: usize) {
        // A part of the last message that the speaker repeats is the current subject.
        let named = self.last.iter().rev().filter_map(|last| repeated_name(last, text)).next();
        if let Some(name) = named {
            self.current = Some(name);
        }
        self.last.push(text.chars().take(MOST_COMPARED).collect());
        if self.last.len() > 2 {
            self.last.remove(0);
        }
        let mut found_any = false;
        let asked = self.asked.take();
        for sentence in text.split_inclusive(['。', '！', '？', '；', '?', '!', '\n']) {
            self.name(sentence);
            let clauses: Vec<&str> = sentence.split('，').collect();
            for (number, clause) in clauses.iter().enumerate() {
                let asks = number + 1 == clauses.len() && clause.ends_with(['？', '?'])
                    || ["吗", "多少", "什么", "哪", "谁", "啥", "几点", "多久", "怎么"]
                        .iter()
                        .any(|word| clause.contains(word));
                let clause = trim_clause(clause);
                let Some((attribute, at)) = attribute_in(clause) else { continue };
                let subject = ["的", "具体在什么", "在什么", "具体"]
                    .iter()
                    .fold(&clause[..at], |subject, tail| subject.strip_suffix(tail).unwrap_or(subject));
                // "It is open": the text in front of a verb is a name in a question only.
                if !subject.is_empty()
                    && (asks || !matches!(attribute, "玩" | "能玩" | "开放" | "上映" | "位置" | "用时"))
                {
                    self.turn_to(subject);
                }
                if asks {
                    // A question about the surroundings of a place has many forms, and its answer is advice.
                    self.asked = Some((attribute, self.current.clone()))
                        .filter(|_| !matches!(attribute, "周边" | "附近" | "人均消费" | "人均"));
                } else if !asks && at == 0 && has_value(clause, attribute) && !(typed && is_wished(attribute)) {
                    found_any = true;
                    self.tell(clause.to_owned(), position);
                }
            }
        }
        // "Who directed it?" "Ang Lee": the question says what the answer is.
        let first = trim_clause(text.split(['。', '！', '？', '；', '?', '!', '\n']).next().unwrap_or_default());
        if let Some((attribute, Some(name))) =
            asked.filter(|_| !found_any && self.asked.is_none() && is_an_answer(first))
        {
            self.current = Some(name);
            // "The theatre's phone is 010-…": only the new part.
            let behind = first.split_once(attribute).map(|(_, rest)| rest.trim_start_matches(['是', '在', '为']));
            let first = first.trim_start_matches('是');
            let value = behind.filter(|value| value.contains(|char: char| char.is_ascii_digit())).unwrap_or(first);
            let value = if matches!(attribute, "主演" | "地址") {
                value
            } else {
                value.split('，').next().unwrap_or(value)
            };
            if fits(attribute, value) {
                let attribute = if matches!(attribute, "玩" | "能玩") { "游玩时间" } else { attribute };
                self.tell(format!("{attribute}：{}", value.trim_end_matches('吧')), position);
            }
        }
    }

    /// Notes recommended, wanted and marked names.
    fn name(&mut self, sentence: &str) {
        for (open, close) in [('《', '》'), ('【', '】')] {
            if let Some(name) =
                sentence.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(name, _)| name)
            {
                let name = name.trim_matches(['《', '》', '【', '】']).to_owned();
                self.certain.insert(name.clone());
                self.current = Some(name);
            }
        }
        // "The village is there too": from here on that is the subject, or the subject is unknown.
        let beside = ["也在", "我觉得不错", "就在附近", "就在周边", "作为", "这部电影", "这部影片", "这个人", "这首歌"]
            .iter()
            .find_map(|mark| sentence.split_once(mark));
        if let Some((name, _)) = beside {
            let name = trim_clause(name.rsplit('，').next().unwrap_or_default());
            let named = ((2..=20).contains(&name.chars().count()) && is_a_name(name)).then(|| name.to_owned());
            self.certain.extend(named.clone());
            self.current = named;
            return;
        }
        // "Have you heard of the lantern theatre?", "the Nest (National Stadium)"
        if let Some(name) = name_asked_for(sentence).or_else(|| with_another_name(sentence)) {
            self.certain.insert(name.to_owned());
            self.current = Some(name.to_owned());
            return;
        }
        let sentence = sentence.trim();
        let gone_to = sentence.strip_prefix('去').or_else(|| sentence.strip_prefix("就去"));
        let named = || NAMING.iter().find_map(|mark| sentence.split_once(mark)).map(|(_, rest)| rest);
        let Some(rest) = gone_to.or_else(named).map(|rest| rest.trim_start_matches([',', '，', ' '])) else {
            return;
        };
        let end = ENDING.iter().filter_map(|mark| rest.find(mark)).filter(|at| *at > 0).min().unwrap_or(rest.len());
        let name = rest[..end].trim_matches(['。', '！', ' ']);
        let kind = KINDS
            .iter()
            .find(|(kind, _, done)| sentence.contains(done) || sentence.contains(kind))
            .map(|(kind, ..)| *kind);
        // Of several names the later subject cannot be known.
        let is_one = !name.contains(['和', '、', '或'])
            && !["一家", "一个", "一下"].iter().any(|word| name.contains(word))
            && (3..=20).contains(&name.chars().count());
        // "赛百味" of "人均消费34元的赛百味".
        let name = name
            .rsplit_once('的')
            .filter(|(lead, _)| lead.ends_with('型') || lead.contains(|char: char| char.is_ascii_digit()))
            .map_or(name, |(_, name)| name);
        let name = is_one.then(|| name.to_owned());
        if let Some(kind) = kind {
            self.by_kind.insert(kind, name.clone());
        }
        self.certain.extend(name.clone());
        self.current = name;
    }

    /// Turns to the subject in front of an attribute: a name, or a kind that means the newest of its kind.
    fn turn_to(&mut self, subject: &str) {
        let mut subject = subject;
        while let Some(rest) = LEADING.iter().find_map(|lead| subject.strip_prefix(lead)) {
            subject = rest;
        }
        // "Beihai, this park": the name counts.
        let of_a_kind = KINDS.iter().flat_map(|(_, words, _)| words.iter());
        let behind = of_a_kind
            .filter_map(|word| subject.strip_suffix(word)?.strip_suffix(['个', '家', '座'])?.strip_suffix('这'))
            .find(|name| !name.is_empty());
        let subject = behind.unwrap_or(subject).trim_end_matches('的');
        let bare = subject
            .trim_start_matches(['这', '那', '该', '个', '家', '座', '部', '它', '他', '她', '其', '里', '儿', '位']);
        let kind = KINDS.iter().find(|(_, words, _)| words.contains(&bare)).map(|(kind, ..)| *kind);
        if let Some(kind) = kind {
            // "This restaurant" is the one that was just named, where that was not said to be something else.
            let is_named = self.current.is_some() && !self.by_kind.values().any(|known| *known == self.current);
            if !(is_named && bare.len() < subject.len()) {
                self.current = self.by_kind.get(kind).cloned().unwrap_or_default();
            }
        } else if bare.chars().count() == subject.chars().count()
            && (3..=20).contains(&subject.chars().count())
            && is_a_name(subject)
            && !subject.contains("的")
        {
            let kind = KINDS
                .iter()
                .find(|(_, words, _)| words.iter().any(|word| subject.contains(word)))
                .map(|(kind, ..)| *kind);
            self.current = Some(subject.trim_matches(['《', '》', '【', '】']).to_owned());
            if let Some(kind) = kind {
                self.by_kind.insert(kind, self.current.clone());
            }
        }
    }

    fn tell(&mut self, clause: String, position: usize) {
        let Some(name) = self.current.clone() else { return };
        let thing = self.things.entry(name).or_default();
        // A second address is that of something else which was named on the way.
        let attribute = ATTRIBUTES.iter().find(|word| clause.starts_with(**word));
        let is_known = attribute
            .filter(|word| !matches!(**word, "周边" | "附近"))
            .is_some_and(|word| thing.clauses.iter().any(|(_, known)| known.starts_with(word)));
        if is_known && !thing.clauses.iter().any(|(_, known)| *known == clause) {
            self.current = None;
            return;
        }
        if !thing.clauses.iter().any(|(_, known)| *known == clause) {
            thing.clauses.push((position, clause));
        }
    }
}

fn trim_clause(clause: &str) -> &str {
    let mut clause = clause.trim();
    while let Some(rest) = [
        "嗯呢",
        "嗯",
        "恩",
        "好的",
        "那",
        "大概",
        "清楚呀",
        "记得啊",
        "记得",
        "而",
        "他家是",
        "清楚",
        "知道",
        "哇",
        "啊",
        "差不多可以",
        "差不多",
        "它的",
        "他的",
        "这里的",
        "这里",
        "我知道",
    ]
    .iter()
    .find_map(|lead| clause.strip_prefix(lead))
    {
        clause = rest.trim_start_matches(['，', ',', ' ']);
    }
    clause.trim_end_matches(['。', '！', '；', '？', '?', '!', '呢', '哦', '呀', '啊', ' '])
}

/// The first attribute in a clause, with its place.
fn attribute_in(clause: &str) -> Option<(&'static str, usize)> {
    ATTRIBUTES
        .iter()
        .filter_map(|word| Some((*word, clause.find(word)?)))
        .min_by_key(|(word, at)| (*at, std::cmp::Reverse(word.len())))
}

/// Whether a person who asks for something states this attribute as a wish.
fn is_wished(attribute: &str) -> bool {
    matches!(attribute, "人均消费" | "人均" | "评分" | "价格" | "游玩时间")
}

/// The words between an attribute and its value.
const BINDING: &[&str] = &[
    "是",
    "在",
    "为",
    "：",
    ":",
    "有",
    "的",
    "餐馆",
    "酒店",
    "景点",
    "价格",
    "只要",
    "需要",
    "要",
    "大概",
    "一般",
    "请您记好",
    "达到了",
    "达",
];

/// Whether a clause has the value of the attribute, and not only its existence.
fn has_value(clause: &str, attribute: &str) -> bool {
    let behind = &clause[attribute.len()..];
    let mut value = behind;
    while let Some(rest) = BINDING.iter().find_map(|word| value.strip_prefix(word)) {
        value = rest;
    }
    let is_bound = value.len() < behind.len()
        || value.starts_with(|char: char| char.is_ascii_digit())
        || ["免费", "不要钱"].iter().any(|word| value.starts_with(word));
    is_bound
        && value.chars().count() >= 2
        && !value.contains(['？', '?'])
        && !["也", "就", "都", "很", "不错", "符合", "要求"].iter().any(|word| value.starts_with(word))
        && !["就行", "以上的", "最好", "合适", "挺多", "想", "符合", "以下的"].iter().any(|word| clause.contains(word))
        && !clause.ends_with('的')
        && !clause.ends_with('吧')
        && (attribute != "电话" || value.chars().filter(char::is_ascii_digit).count() >= 5)
        && (attribute != "地址" || value.chars().count() >= 4)
}

/// Whether an answer fits the question: an address names a street, a price a number.
fn fits(attribute: &str, answer: &str) -> bool {
    let has_digit = answer.contains(|char: char| char.is_ascii_digit());
    match attribute {
        "地址" | "位置" => {
            ["区", "路", "街", "号", "市", "县", "镇", "村"].iter().any(|part| answer.contains(part))
        }
        "导演" | "主演" | "作者" | "演唱者" | "歌手" | "代表作" => true,
        "开放" | "开放时间" | "营业时间" => has_digit || answer.contains("全天"),
        "门票" | "价格" | "票房" => {
            has_digit || ["免费", "不要钱", "无需"].iter().any(|part| answer.contains(part))
        }
        _ => has_digit,
    }
}

/// Whether a text may be a one-word answer to the question.
fn is_an_answer(text: &str) -> bool {
    (2..=40).contains(&text.chars().count())
        && !["您", "你", "推荐", "觉得", "建议", "不错", "除了", "挺"].iter().any(|word| text.contains(word))
        && ![
            "是的", "不", "没", "我", "你", "抱歉", "对", "哦", "哈", "太", "谢", "都", "只", "好", "很", "是挺",
            "还行", "了解",
        ]
        .iter()
        .any(|start| text.starts_with(start))
}
