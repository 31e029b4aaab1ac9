//! How well the shipped table answers: questions of ours, each with one passage that says the answer in other words.
#![allow(clippy::print_stdout)]

use epitome_embeddings::StaticEmbedder;
use epitome_strategy::Embeddings;

/// Questions, and passages of which the first ones answer them in order.
struct Set {
    questions: Vec<&'static str>,
    passages: Vec<&'static str>,
}

impl Set {
    fn read(text: &'static str) -> Self {
        let lines = || text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let (questions, mut passages): (Vec<_>, Vec<_>) = lines().filter_map(|line| line.split_once(" => ")).unzip();
        passages.extend(lines().filter(|line| !line.contains(" => ")));
        Self { questions, passages }
    }

    fn english() -> Self {
        Self::read(include_str!("check/english.txt"))
    }

    fn chinese() -> Self {
        Self::read(include_str!("check/chinese.txt"))
    }

    fn identifiers() -> Self {
        let mut set = Self::read(include_str!("check/identifiers.txt"));
        set.passages.extend(Self::english().passages);
        set
    }

    /// The mean reciprocal rank: 1 where each answer is nearest to its question, ½ where it is the second, …
    fn rank(&self, near: impl Fn(&str, &str) -> f32) -> f32 {
        let of_question = |(at, question): (usize, &&str)| {
            let nearness: Vec<f32> = self.passages.iter().map(|passage| near(question, passage)).collect();
            let nearer = nearness.iter().filter(|other| **other > nearness[at]).count() as f32;
            // Of those that are as near, half come before it.
            let as_near = nearness.iter().filter(|other| **other == nearness[at]).count() as f32 - 1.0;
            1.0 / (1.0 + nearer + as_near / 2.0)
        };
        self.questions.iter().enumerate().map(of_question).sum::<f32>() / self.questions.len() as f32
    }
}

fn by_meaning(left: &str, right: &str) -> f32 {
    let embedder = StaticEmbedder::new();
    Embeddings::similarity(&embedder.vector(left), &embedder.vector(right))
}

/// What the words alone tell: the hashed features of runs of letters and of pairs of Han characters, the same for all.
fn by_words(left: &str, right: &str) -> f32 {
    let sum = |text: &str| {
        let mut sum = vec![0.0_f32; 4096];
        let mut put = |feature: &str| {
            let hash =
                feature.bytes().fold(17_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
            sum[(hash >> 20) as usize % 4096] += 1.0;
        };
        for word in text.split(|character: char| !character.is_alphanumeric()) {
            let characters: Vec<char> = word.to_lowercase().chars().collect();
            if characters.iter().all(char::is_ascii) {
                put(&characters.iter().collect::<String>());
            } else {
                characters.windows(2).for_each(|pair| put(&pair.iter().collect::<String>()));
            }
        }
        sum[17] = 0.0;
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt().max(1.0);
        sum.into_iter().map(|number| number / length).collect::<Vec<_>>()
    };
    Embeddings::similarity(&sum(left), &sum(right))
}

#[test]
fn answers_are_found() {
    let check = |name: &str, set: Set, at_least: f32, times_words: f32| {
        let (meaning, words) = (set.rank(by_meaning), set.rank(by_words));
        println!(
            "{name}: {} questions, {} passages, {meaning:.3}; words alone {words:.3}",
            set.questions.len(),
            set.passages.len()
        );
        assert!(meaning >= at_least, "{name}: {meaning:.3}");
        assert!(meaning >= words * times_words, "{name}: {meaning:.3} where words alone give {words:.3}");
    };
    check("English", Set::english(), 0.30, 2.5);
    check("Chinese", Set::chinese(), 0.42, 3.0);
    check("identifiers", Set::identifiers(), 0.85, 1.0);
}

#[test]
fn vectors() {
    let embedder = StaticEmbedder::new();
    let length = |text: &str| embedder.vector(text).iter().map(|number| number * number).sum::<f32>().sqrt();
    for text in [
        "a",
        "word",
        "数据库",
        "привет мир",
        "データベース",
        "src/lib.rs:12",
        "7",
        "mixed 数据 и слова",
        "ħ",
        "안녕하세요",
    ] {
        assert!((length(text) - 1.0).abs() < 1e-4, "{text}: {}", length(text));
    }
    for text in ["", " \n\t", "!?…", "——"] {
        assert!(length(text) == 0.0, "{text}");
    }
    assert_eq!(embedder.vector("the same"), embedder.vector("the same"));
}

#[test]
fn nearer() {
    let check = |text: &str, near: &str, far: &str| {
        let (nearness, farness) = (by_meaning(text, near), by_meaning(text, far));
        assert!(nearness > farness + 0.05, "{text}: {near} {nearness:.3}, {far} {farness:.3}");
    };
    check("the cat sat on the mat", "a kitten is sitting on a rug", "quarterly revenue grew by 4%");
    check("我们最后选了哪个数据库", "团队决定采用 Postgres 存储数据", "今天天气晴朗");
    // Scripts without rows: by their words.
    check("база данных не отвечает", "почему база данных медленная", "погода сегодня хорошая");
    check("データベースの設定", "データベースを選ぶ", "きょうはいいてんきですね");
    check("데이터베이스 오류", "데이터베이스가 느리다", "오늘 날씨가 좋다");
    // Accents and case do not matter.
    check("Café Zürich", "cafe zurich", "train station");
    check("E0382 in the parser", "error[E0382]: use of moved value", "error[E0502]: cannot borrow");
}
