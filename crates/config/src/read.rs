//! Reading: TOML text to values with places, every problem collected.

use std::sync::Arc;

use epitome_strategy::{Registry, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::check::check;
use crate::config::Config;
use crate::error::{ConfigErrors, FileLocation, Problem, suggestion};
use crate::keys::{COMPACTION, SecondName, keys, second_names, top_level};
use crate::preset::Preset;
use crate::sections::{NAMED, SECTIONS, Section};
use crate::source::Source;

impl Config {
    /// Reads a file's text: defaults, then its preset, then its keys. `file` is what problems call the file. Every problem
    /// at once, those with what `registry` knows included. Linear in the text.
    pub fn parse(text: &str, file: &str, registry: &Registry) -> Result<Self, ConfigErrors> {
        let (config, mut problems) = read(text, file);
        problems.extend(check(&config, registry));
        ConfigErrors::check(problems)?;
        Ok(config)
    }
}

type Entry<'a, 'i> = (&'a Spanned<toml::de::DeString<'i>>, &'a Spanned<DeValue<'i>>);

/// The configuration that `text` gives, as far as it can be read, and its problems.
fn read(text: &str, file: &str) -> (Config, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let root = table.get_ref();
    let mut reader = Reader { text, root, file: Arc::from(file), config: Config::default(), problems: Vec::new() };
    reader.read();
    // Values read from a line that is not TOML say nothing about the user's intent.
    let syntax: Vec<Problem> = errors
        .iter()
        .map(|error| {
            let place = error.span().map(|span| reader.place(span.start));
            Problem::new(place, format!("not valid TOML: {}", error.message().replace('\n', ", ")))
        })
        .collect();
    let line = |problem: &Problem| problem.place.as_ref().map(|place| place.line);
    reader.problems.retain(|problem| !syntax.iter().any(|error| line(error) == line(problem)));
    reader.problems.extend(syntax);
    (reader.config, reader.problems)
}

struct Reader<'t, 'i> {
    text: &'t str,
    root: &'t DeTable<'i>,
    file: Arc<str>,
    config: Config,
    problems: Vec<Problem>,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        let root = self.root;
        if let Some(value) = root.get("preset") {
            self.preset(value);
        }
        for (key, value) in root.iter().filter(|(key, _)| key.get_ref() != "preset") {
            let name = key.get_ref().as_ref();
            if let Some(second) = SecondName::find(name) {
                self.second_name(second, (key, value));
                continue;
            }
            if !top_level().any(|known| known == name) {
                self.unknown_top_level(name, key.span().start);
                continue;
            }
            let Some(entries) = value.get_ref().as_table() else {
                let problem = format!("`{name}` is a section, not {}", value.get_ref().type_str());
                self.problem(key.span().start, problem, Some(format!("write [{name}] and its keys below it")));
                continue;
            };
            match name {
                "chains" => entries.iter().for_each(|entry| self.chain(entry)),
                "strategies" => entries.iter().for_each(|entry| self.named(name, None, entry)),
                section => match NAMED.iter().find(|declared| declared.name == section) {
                    Some(declared) => entries.iter().for_each(|entry| self.named(section, Some(declared), entry)),
                    None => self.section(section, entries),
                },
            }
        }
    }

    /// One name, or a list of names that are applied one over the other.
    fn preset(&mut self, value: &Spanned<DeValue<'_>>) {
        let one = std::slice::from_ref(value);
        for item in value.get_ref().as_array().map_or(one, |items| items) {
            match item.get_ref().as_str() {
                Some(name) => match name.parse::<Preset>() {
                    Ok(preset) => self.config.apply_preset(preset),
                    Err(error) => self.problem(item.span().start, format!("`preset`: {error}"), None),
                },
                None => {
                    let takes = format!(
                        "`preset` takes one of {}, or a list of them",
                        Preset::ALL.map(Preset::as_str).join(", ")
                    );
                    self.problem(item.span().start, format!("{takes}, not {}", item.get_ref().type_str()), None);
                }
            }
        }
    }

    fn unknown_top_level(&mut self, name: &str, at: usize) {
        let help = match keys().find(|key| key.field.name == name) {
            Some(key) => format!("it belongs below [{}]", key.section),
            None => suggestion(name, top_level().chain(second_names().map(|(name, _)| name)), || {
                format!("there are {}", top_level().collect::<Vec<_>>().join(", "))
            }),
        };
        self.problem(at, format!("`{name}` is neither a section nor a key"), Some(help));
    }

    fn section(&mut self, section: &str, entries: &DeTable<'_>) {
        let fields =
            SECTIONS.iter().find(|declared| declared.name == section).map_or(&[][..], |declared| declared.fields);
        let has_second = section == "budget" || section == COMPACTION;
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            if fields.iter().any(|field| field.name == name) {
                let path = format!("{section}.{name}");
                self.note_items(&path, value);
                self.assign(&path, name, (key, value));
            } else if let Some(second) = SecondName::find(name).filter(|_| has_second) {
                self.second_name(second, (key, value));
            } else {
                let second = second_names().filter(|_| has_second).map(|(name, _)| name);
                let known = || fields.iter().map(|field| field.name).chain(second.clone());
                let help = match keys().find(|key| key.field.name == name) {
                    Some(other) => format!("it belongs below [{}]", other.section),
                    None => {
                        suggestion(name, known(), || format!("there are {}", known().collect::<Vec<_>>().join(", ")))
                    }
                };
                self.problem(key.span().start, format!("`{name}` is not a key of [{section}]"), Some(help));
            }
        }
    }

    /// A second name of a key: the same value, unless the file has the key, or another second name of it, too.
    fn second_name(&mut self, second: &SecondName, (key, value): Entry<'_, '_>) {
        let (name, target) = (second.name, second.key);
        if self.is_set(target) || self.config.sources.place(target).is_some() {
            let problem = format!("`{name}` is a second name of `{target}`, which is set too");
            self.problem(key.span().start, problem, Some("keep one of them".to_owned()));
            return;
        }
        let source = Source::File(self.place(key.span().start));
        let assigned = plain(value.get_ref())
            .and_then(|value| second.value(&value))
            .and_then(|value| self.config.assign(target, &value, source));
        if let Err(problem) = assigned {
            self.problem(value.span().start, format!("`{name}` {problem}"), None);
        }
    }

    /// Whether the file has a value at a path of keys.
    fn is_set(&self, path: &str) -> bool {
        let mut keys = path.split('.');
        let first = keys.next().and_then(|key| self.root.get(key)).map(Spanned::get_ref);
        keys.fold(first, |value, key| value?.as_table()?.get(key).map(Spanned::get_ref)).is_some()
    }

    fn chain(&mut self, (key, value): Entry<'_, '_>) {
        let path = format!("chains.{}", key.get_ref());
        self.note_items(&path, value);
        self.assign(&path, key.get_ref(), (key, value));
    }

    /// Notes the position of each item of a list.
    fn note_items(&mut self, path: &str, value: &Spanned<DeValue<'_>>) {
        for (index, item) in value.get_ref().as_array().into_iter().flatten().enumerate() {
            let place = self.place(item.span().start);
            self.config.sources.note(format!("{path}[{index}]"), Source::File(place));
        }
    }

    /// A table with a name of the user's: a strategy's settings, or one of several of a kind, such as a channel.
    fn named(&mut self, section: &str, declared: Option<&Section>, (key, value): Entry<'_, '_>) {
        let name = key.get_ref().as_ref();
        let Some(settings) = value.get_ref().as_table() else {
            let problem = format!("`{section}.{name}` takes a table of settings, not {}", value.get_ref().type_str());
            self.problem(key.span().start, problem, Some(format!("write [{section}.{name}] and settings below it")));
            return;
        };
        let place = self.place(key.span().start);
        self.config.sources.note(format!("{section}.{name}"), Source::File(place));
        match declared {
            Some(_) => self.config.tables.add(section, name),
            None => drop(self.config.strategies.entry(name.to_owned()).or_default()),
        }
        for (key, value) in settings {
            let setting = key.get_ref().as_ref();
            match declared.and_then(|declared| declared.unknown_key(name, setting)) {
                None => self.assign(&format!("{section}.{name}.{setting}"), setting, (key, value)),
                Some(problem) => self.problem(key.span().start, problem.message, problem.help),
            }
        }
    }

    fn assign(&mut self, path: &str, name: &str, (key, value): Entry<'_, '_>) {
        let source = Source::File(self.place(key.span().start));
        let problem = match plain(value.get_ref()) {
            Ok(plain) => self.config.assign(path, &plain, source).err(),
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            self.problem(value.span().start, format!("`{name}` {problem}"), None);
        }
    }

    fn problem(&mut self, at: usize, message: String, help: Option<String>) {
        let problem = Problem::new(Some(self.place(at)), message);
        self.problems.push(Problem { help, ..problem });
    }

    fn place(&self, at: usize) -> FileLocation {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |feed| feed + 1);
        FileLocation {
            file: Arc::clone(&self.file),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A TOML value as settings take it.
fn plain(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map(Value::from)
            .map_err(|_| format!("is out of range: {digits}"))?,
        DeValue::Float(digits) => {
            let number: f64 = digits.as_str().parse().map_err(|_| format!("is no number: {digits}"))?;
            serde_json::Number::from_f64(number).map(Value::Number).ok_or("takes a finite number")?
        }
        DeValue::Datetime(_) => return Err("takes no date".to_owned()),
        DeValue::Array(items) => items.iter().map(|item| plain(item.get_ref())).collect::<Result<_, _>>()?,
        DeValue::Table(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| Ok((key.get_ref().as_ref().to_owned(), plain(value.get_ref())?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}
