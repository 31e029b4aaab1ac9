//! Writes the list of strategies from this crate's dependencies: `epitome-tool-results` has `epitome_tool_results::ToolResults`.

use std::{env, fs, path::Path};

/// The strategies among the dependencies of `manifest`, in their order, of the optional ones those of which `has` the feature.
pub(crate) fn strategies(manifest: &str, has: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let dependencies = lines.take_while(|line| !line.starts_with('['));
    dependencies.filter_map(move |line| {
        let id = line.split([' ', '=', '.']).next()?.strip_prefix("epitome-")?;
        (id != "strategy" && (!line.contains("optional = true") || has(id))).then_some(id)
    })
}

/// `tool-results` as the name of a type.
pub(crate) fn type_name(id: &str) -> String {
    let capitalise = |word: &str| word[..1].to_uppercase() + &word[1..];
    id.split('-').map(capitalise).collect()
}

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=Cargo.toml");
    let has = |id: &str| env::var_os(format!("CARGO_FEATURE_{}", id.replace('-', "_").to_uppercase())).is_some();
    let registrations: String = strategies(&fs::read_to_string("Cargo.toml")?, has)
        .map(|id| format!("    Registration::configurable::<epitome_{}::{}>(),\n", id.replace('-', "_"), type_name(id)))
        .collect();
    let folder = env::var("OUT_DIR").map_err(std::io::Error::other)?;
    fs::write(Path::new(&folder).join("registrations.rs"), format!("vec![\n{registrations}]"))
}
