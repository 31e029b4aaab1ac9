//! Counts a file with each counter and tells how fast that is.
//!
//! `cargo run --release -p epitome-tokens --example count -- [--counter NAME] [--once] [--reference] FILE`
//!
//! Prints the tokens, the time of the first count (what a short-lived process pays, loading included) and, unless
//! `--once`, the speed of repeated counts. All runs on one thread, so on an idle machine the times are CPU time.
//! `--counter` restricts it to one counter; `--reference` adds `tiktoken-rs`.

#![allow(clippy::print_stdout, reason = "a command-line tool")]

use std::error::Error;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use std::{env, fs};

use epitome_tokens::{NAMES, by_name};

/// How long repeated counts are measured, for each counter.
const MEASURED: Duration = Duration::from_millis(500);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (mut names, mut once, mut reference, mut file) = (NAMES.map(String::from).to_vec(), false, false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--counter" => names = vec![arguments.next().ok_or("`--counter` needs a name")?],
            "--once" => once = true,
            "--reference" => reference = true,
            _ => file = Some(argument),
        }
    }
    let text = fs::read_to_string(file.ok_or("which file?")?)?;
    println!("{} bytes, {:.1} MB resident", text.len(), resident_megabytes());
    println!("{:<24} {:>10} {:>11} {:>9} {:>12}", "counter", "tokens", "first, ms", "MB/s", "resident MB");

    for name in names {
        let counter = by_name(&name)?;
        measure(&name, &text, once, || counter.count(&text) as usize);
    }
    if reference {
        let o200k = LazyLock::new(|| tiktoken_rs::o200k_base().ok());
        let cl100k = LazyLock::new(|| tiktoken_rs::cl100k_base().ok());
        let count = |encoding: Option<&tiktoken_rs::CoreBPE>| {
            encoding.map_or(0, |encoding| encoding.encode_ordinary(&text).len())
        };
        measure("tiktoken-rs o200k_base", &text, once, || count(o200k.as_ref()));
        measure("tiktoken-rs cl100k_base", &text, once, || count(cl100k.as_ref()));
    }
    Ok(())
}

fn measure(name: &str, text: &str, once: bool, count: impl Fn() -> usize) {
    let start = Instant::now();
    let n_tokens = count();
    let first = start.elapsed().as_secs_f64() * 1e3;

    let (mut n_rounds, start) = (0_u32, Instant::now());
    while !once && start.elapsed() < MEASURED {
        black_box(count());
        n_rounds += 1;
    }
    let speed = f64::from(n_rounds) * text.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
    let speed = if once { String::from("-") } else { format!("{speed:.0}") };
    println!("{name:<24} {n_tokens:>10} {first:>11.2} {speed:>9} {:>12.1}", resident_megabytes());
}

/// The memory this process holds, pages of its image included; 0 where the system does not tell.
fn resident_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}
