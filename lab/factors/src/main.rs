//! Fits what a family of models spends on a text, by what providers reported for recorded sessions: the weights in
//! `crates/tokens/src/families.rs`.
//!
//! ```text
//! cargo run --release -p epitome-factors -- FOLDER…
//! ```
//!
//! For each family that the recordings have, it prints the weights, and for each session how far the provider's figure is from
//! that of weights which were fitted without the session, at the median by growth.

#![allow(clippy::print_stdout, reason = "what it prints is its result")]

mod fit;
mod growth;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use epitome_formats::{ReadOptions, read};
use epitome_tokens::by_model;

use fit::{Weights, fit, median_ratio};
use growth::{Growth, KINDS, growths};

fn main() -> anyhow::Result<()> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        bail!("name the folders that hold recorded sessions");
    }
    let mut files = Vec::new();
    for folder in &folders {
        collect(folder, &mut files).with_context(|| folder.display().to_string())?;
    }
    files.sort();
    let mut families: BTreeMap<String, Vec<(String, Vec<Growth>)>> = BTreeMap::new();
    for file in &files {
        // A folder of recordings holds other files too.
        let Ok(loaded) = read(std::fs::read(file)?, ReadOptions::default()) else { continue };
        for loaded in loaded.sessions {
            let Some(model) = loaded.session.model.as_deref() else { continue };
            let grown = growths(&loaded.session);
            let family = by_model(Some(model))?.name().to_owned();
            let name = format!("{} {model}", file.file_name().unwrap_or_default().to_string_lossy());
            if !grown.is_empty() {
                families.entry(family).or_default().push((name, grown));
            }
        }
    }
    for (family, sessions) in &families {
        print_family(family, sessions);
    }
    Ok(())
}

/// The files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn print_family(family: &str, sessions: &[(String, Vec<Growth>)]) {
    let all = |without: Option<&str>| -> Vec<Growth> {
        let others = sessions.iter().filter(|(name, _)| Some(name.as_str()) != without);
        others.flat_map(|(_, grown)| grown.iter().cloned()).collect()
    };
    let requests: usize = sessions.iter().map(|(_, grown)| grown.len()).sum();
    println!("{family}: {requests} requests of {} sessions", sessions.len());
    print_weights(&fit(&all(None)));
    if sessions.len() < 2 {
        println!("  one session alone: nothing to hold it against\n");
        return;
    }
    let names: BTreeSet<&str> = sessions.iter().map(|(name, _)| name.as_str()).collect();
    for name in names {
        let weights = fit(&all(Some(name)));
        let own: Vec<Growth> =
            sessions.iter().filter(|(other, _)| other == name).flat_map(|(_, grown)| grown.iter().cloned()).collect();
        if let Some(ratio) = median_ratio(&weights, &own) {
            println!("  {ratio:.2}  {name}");
        }
    }
    println!();
}

fn print_weights(weights: &Weights) {
    let named: Vec<String> = KINDS.iter().zip(weights).map(|(kind, weight)| format!("{kind} {weight:.3}")).collect();
    println!("  {}", named.join(", "));
}
