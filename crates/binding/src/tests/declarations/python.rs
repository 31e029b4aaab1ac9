//! Types of Python, for its type checkers.

use std::fmt::Write as _;

use super::schema::{Declared, Field, Kind};
use super::{Use, wrap};

/// The declarations as a module's text. Names of fields are those of Python: `next_step`.
pub(super) fn write(declared: &[Declared], of: Use) -> String {
    let mut classes = Classes { out: String::new(), of };
    declared.iter().for_each(|it| classes.declare(it));
    classes.out
}

/// A class of dictionaries whose keys have the types of the declaration `name`, for classes that are dictionaries themselves:
/// a `TypedDict` has no methods.
pub(super) fn write_keys(declared: &[Declared], name: &str) -> String {
    let Some(Declared { kind: Kind::Fields(fields), .. }) = declared.iter().find(|it| it.name == name) else {
        panic!("`{name}` is not declared");
    };
    let mut classes = Classes { out: String::new(), of: Use::Told };
    let mut out =
        format!("\n\nclass {name}Keys(dict[str, Any]):\n    \"\"\"A dictionary with the keys of `{name}`.\"\"\"\n");
    for Field { name: key, kind, .. } in fields {
        let text = classes.text(kind, &format!("{name}{}", pascal(key)));
        let _ = writeln!(out, "\n    @overload\n    def __getitem__(self, key: Literal[\"{key}\"], /) -> {text}: ...");
    }
    out.push_str("\n    @overload\n    def __getitem__(self, key: str, /) -> Any: ...\n");
    out + "\n    def __getitem__(self, key: str, /) -> Any:\n        return super().__getitem__(key)\n"
}

struct Classes {
    out: String,
    of: Use,
}

impl Classes {
    fn declare(&mut self, Declared { name, about, kind }: &Declared) {
        match kind {
            Kind::Fields(fields) => self.class(name, about, fields),
            kind => {
                let text = self.text(kind, name);
                self.out.push_str("\n\n");
                wrap(&about.replace("`null`", "`None`"), 118).iter().for_each(|line| {
                    let _ = writeln!(self.out, "# {line}");
                });
                let _ = writeln!(self.out, "{name} = {text}");
            }
        }
    }

    fn class(&mut self, name: &str, about: &str, fields: &[Field]) {
        // Objects within come first, as classes of their own.
        let fields: Vec<String> = fields.iter().map(|field| self.field(field, name)).collect();
        let total = if self.of == Use::Given { ", total=False" } else { "" };
        // A checker tells the variants of an enumeration by their keys where no class can have more.
        let mark = if self.of == Use::Told && fields.len() == 1 { "@final\n" } else { "" };
        let _ = writeln!(self.out, "\n\n{mark}class {name}(TypedDict{total}):");
        self.out.push_str(&docstring(about));
        if !about.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&fields.concat());
    }

    fn field(&mut self, Field { name, about, kind, is_required }: &Field, class: &str) -> String {
        let name = super::snake(name);
        let text = self.text(kind, &format!("{class}{}", pascal(&name)));
        let text = match self.of {
            Use::Given if *kind != Kind::Anything && !text.ends_with("None") => format!("{text} | None"),
            Use::Told if !is_required => format!("NotRequired[{text}]"),
            _ => text,
        };
        format!("    {name}: {text}\n{}", docstring(about))
    }

    /// The type of a kind; an object within another becomes the class `name`.
    fn text(&mut self, kind: &Kind, name: &str) -> String {
        match kind {
            Kind::Anything => "Any".to_owned(),
            Kind::Nothing => "None".to_owned(),
            Kind::Flag => "bool".to_owned(),
            Kind::Whole => "int".to_owned(),
            Kind::Number => "float".to_owned(),
            Kind::Text => "str".to_owned(),
            Kind::Bytes => "bytes".to_owned(),
            Kind::Object if self.of == Use::Given => "Mapping[str, Any]".to_owned(),
            Kind::Object => "dict[str, Any]".to_owned(),
            Kind::Names(names) => {
                let names: String = names.iter().map(|name| format!(" \"{name}\",")).collect();
                match wrap(names.trim_end_matches(','), 114).join("\n    ") {
                    names if names.contains('\n') => format!("Literal[\n    {names}\n]"),
                    names => format!("Literal[{names}]"),
                }
            }
            Kind::List(item) => {
                let list = if self.of == Use::Given { "Sequence" } else { "list" };
                format!("{list}[{}]", self.text(item, name))
            }
            Kind::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.text(item, name)).collect();
                format!("tuple[{}]", items.join(", "))
            }
            Kind::Map(values) => format!("dict[str, {}]", self.text(values, name)),
            Kind::Fields(fields) => {
                // The variants of an enumeration are objects of one field each.
                let name = match &fields[..] {
                    [field] => format!("{name}{}", pascal(&field.name)),
                    _ => name.to_owned(),
                };
                self.class(&name, "", fields);
                name
            }
            Kind::Named(name) => name.clone(),
            Kind::Either(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| self.text(kind, name)).collect();
                kinds.join(" | ")
            }
        }
    }
}

fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}

fn docstring(about: &str) -> String {
    let about = about.replace("`null`", "`None`").replace('\\', "\\\\");
    let lines = wrap(&about, 112);
    match lines.is_empty() {
        true => String::new(),
        false => format!("    \"\"\"{}\"\"\"\n", lines.join("\n    ")),
    }
}
