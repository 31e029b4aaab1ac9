//! The default embedder.

use epitome_strategy::{EmbedError, Embedder, Embeddings, async_trait};

use crate::lexical::{self, LexicalFeatures};
use crate::pieces::{Cutter, parts_of_name};
use crate::scripts::{Script, plain_letter, script_of};
use crate::table::Table;

/// The share of a vector's (squared) length for exact names and rare words beside the meaning: more finds identifiers
/// better and paraphrases worse. Chosen on the questions in `tests/check` themselves, where names go from .86 at .10 to
/// .89 and paraphrases do not change by more than such small sets can show.
const LEXICAL_SHARE: f32 = 0.15;

/// The word frequency at which a word counts half; the rows of the table were weighted with the same number.
const SMOOTHING: f32 = 1e-3;

/// Embeds texts with the table that is compiled in, and a small share of hashed names.
///
/// A vector has three parts: the meaning of Chinese words, of Latin ones, and hashed features: exact names (paths, error
/// codes, ids) with a small weight, and all words of the scripts that the table does not know (Cyrillic, kana, Hangul, …)
/// with the weight of their share of the text. One dot product compares all of it. A text without any letter or digit gets
/// zeros.
///
/// It makes of the order of 100,000 vectors a second on one core, is ready after some milliseconds and needs about 10
/// MB. It does not match a Chinese question with an English text, and ignores the order of words.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticEmbedder;

impl StaticEmbedder {
    /// Returns the embedder; costs nothing. The table is laid out at the first text.
    pub fn new() -> Self {
        Self
    }

    /// Returns the vector of `text`: [`dimensions`](Embedder::dimensions) numbers, of length 1, or zeros. Linear in the
    /// text, without waiting.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions()];
        if let Some(table) = Table::shipped() {
            embed_into(table, &mut Cutter::default(), text, &mut vector);
        }
        vector
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn name(&self) -> &str {
        "static-v1"
    }

    fn dimensions(&self) -> usize {
        Table::shipped().map_or(0, |table| 2 * table.dimensions() + lexical::DIMENSIONS)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let damaged = || EmbedError { message: "the compiled-in table is damaged".to_owned(), retryable: false };
        let table = Table::shipped().ok_or_else(damaged)?;
        let dimensions = self.dimensions();
        let mut values = vec![0.0; texts.len() * dimensions];
        let mut cutter = Cutter::default();
        for (text, row) in texts.iter().zip(values.chunks_exact_mut(dimensions)) {
            embed_into(table, &mut cutter, text, row);
        }
        Ok(Embeddings::new(dimensions, values))
    }
}

/// Writes the vector of `text` into `row`, which is all zeros.
fn embed_into(table: &Table, cutter: &mut Cutter, text: &str, row: &mut [f32]) {
    let (meaning, features) = row.split_at_mut(2 * table.dimensions());
    let (han, latin) = meaning.split_at_mut(table.dimensions());
    let mut reader = Reader {
        table,
        cutter,
        han,
        latin,
        lexical: LexicalFeatures::new(features),
        known: 0,
        foreign: 0,
        word: String::new(),
    };
    reader.read(text);
    let (known, foreign) = (reader.known as f32, reader.foreign as f32);
    let foreign_share = if foreign > 0.0 { foreign / (known + foreign) } else { 0.0 };
    let (meaning_length, features_length) = (length(meaning), length(features));
    let share = match (meaning_length > 0.0, features_length > 0.0) {
        (true, true) => LEXICAL_SHARE + (1.0 - LEXICAL_SHARE) * foreign_share,
        (true, false) => 0.0,
        (false, _) => 1.0,
    };
    scale(meaning, meaning_length, (1.0 - share).sqrt());
    scale(features, features_length, share.sqrt());
}

fn length(numbers: &[f32]) -> f32 {
    numbers.iter().map(|number| number * number).sum::<f32>().sqrt()
}

fn scale(numbers: &mut [f32], length: f32, wanted: f32) {
    if length > 0.0 {
        numbers.iter_mut().for_each(|number| *number *= wanted / length);
    }
}

/// Adds a text to the three parts of a vector.
struct Reader<'a> {
    table: &'a Table,
    cutter: &'a mut Cutter,
    han: &'a mut [f32],
    latin: &'a mut [f32],
    lexical: LexicalFeatures<'a>,
    /// Bytes of Latin and Han letters.
    known: usize,
    /// Bytes of letters without rows.
    foreign: usize,
    word: String,
}

impl Reader<'_> {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let script = script_of(first);
            let end = match script {
                Script::None => first.len_utf8(),
                Script::Latin => {
                    // Nearly always ASCII to its end: then no character has to be decoded.
                    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || is_joint(char::from(*byte));
                    let ascii = rest.bytes().take_while(goes_on).count();
                    ascii
                        + end_of(&rest[ascii..], |character| {
                            character.is_ascii_alphanumeric()
                                || is_joint(character)
                                || !character.is_ascii() && script_of(character) == Script::Latin
                        })
                }
                _ => end_of(rest, |character| script_of(character) == script),
            };
            let (run, behind) = rest.split_at(end);
            match script {
                Script::None => {}
                Script::Latin => self.latin_run(run),
                Script::Han => self.han_run(run),
                Script::Alphabet => {
                    self.foreign += run.len();
                    self.lexical.word(run);
                }
                Script::Syllables => {
                    self.foreign += run.len();
                    self.lexical.syllables(run);
                }
            }
            rest = behind;
        }
    }

    fn han_run(&mut self, run: &str) {
        self.known += run.len();
        self.lexical.han(run);
        let (table, han) = (self.table, &mut *self.han);
        self.cutter.han(table, run, |piece| table.han.add_row(piece, han));
    }

    /// A run of Latin letters and digits, with the marks that join the parts of a name.
    fn latin_run(&mut self, run: &str) {
        self.lexical.run(run);
        for word in run.split(is_joint).filter(|word| !word.is_empty()) {
            self.known += word.len();
            if word.is_ascii() {
                for part in parts_of_name(word) {
                    self.latin_word(part.chars().map(|character| character.to_ascii_lowercase()));
                }
            } else {
                self.latin_word(word.chars().filter_map(plain_letter));
            }
        }
    }

    fn latin_word(&mut self, letters: impl Iterator<Item = char>) {
        let mut word = std::mem::take(&mut self.word);
        word.clear();
        word.extend(letters);
        let (table, latin) = (self.table, &mut *self.latin);
        let whole = table.latin.find(&word);
        let weight = whole.map_or(1.0, |piece| SMOOTHING / (SMOOTHING + table.latin.score(piece).exp()));
        self.lexical.latin_word(&word, weight);
        match whole {
            // The longest piece that a word can begin with; most words are one.
            Some(piece) => table.latin.add_row(piece, latin),
            None => self.cutter.latin(&table.latin, &word, |piece| table.latin.add_row(piece, latin)),
        }
        self.word = word;
    }
}

fn end_of(text: &str, goes_on: impl Fn(char) -> bool) -> usize {
    text.find(|character| !goes_on(character)).unwrap_or(text.len())
}

/// The characters between the parts of one name.
fn is_joint(character: char) -> bool {
    matches!(character, '_' | '.' | '/' | ':' | '-')
}
