//! Writes `assets/link/first.ld`: which code the linker puts next to each other because every session runs it.
//!
//! `cargo build --release && cargo run --example order` watches the program under `valgrind` while it starts, shows a large
//! session and runs a thousand commands, and asks `nm` how large everything is. Worth doing anew with a new compiler, a
//! new version and when the program has grown: what the file does not know is only further away.
//!
//! `cargo bench` builds its dependencies with other features, so that functions there have other numbers in their names.
//! For figures that are those of the released program, keep a copy of either and name both:
//! `cargo run --example order -- RELEASED BENCHED`.

#![expect(clippy::print_stdout, reason = "a tool says what it does")]

#[path = "order/patterns.rs"]
mod patterns;
#[path = "order/watch.rs"]
mod watch;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use patterns::Function;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut programs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if programs.is_empty() {
        programs.push(root.join("target/release/planwright"));
    }
    let mut all = BTreeMap::new();
    for program in &programs {
        let run = watch::all(program)?;
        for function in sizes(program, &run)? {
            merge(&mut all, function);
        }
    }
    let functions: Vec<Function> = all.into_values().collect();
    let patterns = patterns::covering(&functions);
    std::fs::write(root.join("assets/link/first.ld"), script(&patterns))?;
    let bytes = |chosen: &dyn Fn(&Function) -> bool| -> u64 {
        functions.iter().filter(|function| chosen(function)).map(|function| function.size).sum()
    };
    println!(
        "{} patterns for {} KB that ran, of {} KB in all",
        patterns.len(),
        bytes(&|function| function.ran) / 1024,
        bytes(&|_| true) / 1024
    );
    Ok(())
}

/// A function of one name in several programs counts once.
fn merge(all: &mut BTreeMap<String, Function>, function: Function) {
    match all.entry(function.name.clone()) {
        Entry::Vacant(place) => drop(place.insert(function)),
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            known.ran |= function.ran;
            known.size = known.size.max(function.size);
        }
    }
}

/// Every function of the program, with its size and whether it was run.
fn sizes(program: &Path, run: &HashSet<String>) -> Result<Vec<Function>> {
    let listed = Command::new("nm").arg("-S").arg(program).output()?;
    let functions: Vec<Function> = String::from_utf8(listed.stdout)?
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let size = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?;
            let function = || Function { name: name.to_owned(), size, ran: run.contains(name) };
            is_code.then(function)
        })
        .collect();
    if functions.is_empty() {
        return Err("the program names no functions: build it unstripped".into());
    }
    Ok(functions)
}

fn script(patterns: &[String]) -> String {
    let mut text = String::from(
        "/* Made by `cargo run --example order`: the code that every session runs, side by side. */\n\
         SECTIONS\n{\n  .text.first :\n  {\n",
    );
    for pattern in patterns {
        // Functions that the compiler takes to be called seldom are in `.text.unlikely` and their name.
        let _ = writeln!(text, "    *(.text.*{pattern})");
    }
    text.push_str("  }\n}\nINSERT BEFORE .text;\n");
    text
}
