//! Types of TypeScript.

use std::fmt::Write as _;

use super::schema::{Declared, Field, Kind};
use super::{Use, wrap};

/// The declarations as a module.
pub(super) fn write(declared: &[Declared], of: Use) -> String {
    let mut out = String::new();
    for Declared { name, about, kind } in declared {
        out.push('\n');
        out.push_str(&comment(about, ""));
        match kind {
            Kind::Fields(fields) => {
                let _ = writeln!(out, "export interface {name} {{");
                fields.iter().for_each(|field| out.push_str(&member(field, of)));
                out.push_str("}\n");
            }
            Kind::Names(names) => {
                let names = wrap(&format!("\"{}\"", names.join("\" | \"")), 116).join("\n  ");
                let _ =
                    writeln!(out, "export type {name} ={}{names};", if names.contains('\n') { "\n  " } else { " " });
            }
            kind => {
                let _ = writeln!(out, "export type {name} = {};", text(kind, of));
            }
        }
    }
    out
}

fn member(Field { name, about, kind, is_required }: &Field, of: Use) -> String {
    let (mark, more) = match (is_required, of) {
        (true, _) => ("", ""),
        (false, Use::Given) if *kind == Kind::Anything => ("?", ""),
        (false, Use::Given) => ("?", " | undefined"),
        (false, Use::Told) => ("?", ""),
    };
    format!("{}  {name}{mark}: {}{more};\n", comment(about, "  "), text(kind, of))
}

fn text(kind: &Kind, of: Use) -> String {
    match kind {
        Kind::Anything => "unknown".to_owned(),
        Kind::Nothing => "null".to_owned(),
        Kind::Flag => "boolean".to_owned(),
        Kind::Whole | Kind::Number => "number".to_owned(),
        Kind::Text => "string".to_owned(),
        Kind::Bytes => "Uint8Array".to_owned(),
        Kind::Object if of == Use::Given => "object".to_owned(),
        Kind::Object => "Record<string, any>".to_owned(),
        Kind::Names(names) => names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" | "),
        Kind::List(item) => {
            let readonly = if of == Use::Given { "readonly " } else { "" };
            match &**item {
                Kind::Either(_) | Kind::Names(_) => format!("{readonly}({})[]", text(item, of)),
                item => format!("{readonly}{}[]", text(item, of)),
            }
        }
        Kind::Tuple(items) => format!("[{}]", items.iter().map(|item| text(item, of)).collect::<Vec<_>>().join(", ")),
        Kind::Map(values) => format!("Record<string, {}>", text(values, of)),
        Kind::Fields(fields) => {
            let member = |field: &Field| {
                let mark = if field.is_required { "" } else { "?" };
                format!("{}{mark}: {}", field.name, text(&field.kind, of))
            };
            format!("{{ {} }}", fields.iter().map(member).collect::<Vec<_>>().join("; "))
        }
        Kind::Named(name) => name.clone(),
        Kind::Either(kinds) => kinds.iter().map(|kind| text(kind, of)).collect::<Vec<_>>().join(" | "),
    }
}

/// A comment in front of what it is about; nothing where there is nothing to say.
pub(super) fn comment(about: &str, indent: &str) -> String {
    let about = about.replace("`None`", "`null`");
    let lines = wrap(&about, 116 - indent.len());
    match &lines[..] {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}
