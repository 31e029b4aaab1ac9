//! Lists the built files of the console, `console/dist`, as a table that the crate compiles in. Building them is npm's
//! business (docs/console.md); they are committed, so that building the crate needs no npm.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("console").join("dist");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let parts: Option<Vec<&str>> = file.strip_prefix(&root)?.iter().map(|part| part.to_str()).collect();
        let name = parts.ok_or("a file of the console has a name that is no text")?.join("/");
        // Named by the crate's folder when it is compiled: a build folder may be used for another checkout than this one.
        let path = format!("/console/dist/{name}");
        writeln!(table, "    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),")?;
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("console_files"), table)?;
    println!("cargo::rerun-if-changed=console/dist");
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, into)? } else { into.push(path) }
    }
    Ok(())
}
