//! Writes the list of strategies from this crate's dependencies: `epitome-tool-results` has `epitome_tool_results::ToolResults`.

use std::{env, fs, path::Path};

/// The strategies among the dependencies of `manifest`, in their order.
pub(crate) fn strategies(manifest: &str) -> impl Iterator<Item = &str> {
    let dependencies = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let names =
        dependencies.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split([' ', '=', '.']).next());
    names.filter_map(|name| name.strip_prefix("epitome-")).filter(|name| *name != "strategy")
}

/// `tool-results` as the name of a type.
pub(crate) fn type_name(id: &str) -> String {
    let capitalise = |word: &str| word[..1].to_uppercase() + &word[1..];
    id.split('-').map(capitalise).collect()
}

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=Cargo.toml");
    let registrations: String = strategies(&fs::read_to_string("Cargo.toml")?)
        .map(|id| format!("    Registration::of::<epitome_{}::{}>(),\n", id.replace('-', "_"), type_name(id)))
        .collect();
    let folder = env::var("OUT_DIR").map_err(std::io::Error::other)?;
    fs::write(Path::new(&folder).join("registrations.rs"), format!("vec![\n{registrations}]"))
}
