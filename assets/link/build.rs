//! Has the linker make a program that starts quickly.
//!
//! The program is large, most of it is never run in one session, and the system reads it in windows of 64 KB. With what
//! runs scattered over all of it, starting touched most windows; side by side it is a quarter of them. `first.ld` lists
//! the code by patterns of its names, made by `cargo run --example order`; a name that no longer exists is no error.
//!
//! Tens of thousands of addresses are adjusted at every start. Packed, their list is a fiftieth of the size; that takes a
//! system library that can read it (glibc 2.36), which a trial finds out. `PLANWRIGHT_PORTABLE=1` leaves it as it was, for a
//! program that is to run on older systems than this one.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKED: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo::rerun-if-changed=assets/link");
    println!("cargo::rerun-if-env-changed=PLANWRIGHT_PORTABLE");
    if !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&root).join("assets/link/first.ld");
    let ordered = format!("-Wl,-T,{}", script.display());
    if links_with(&ordered).is_some() {
        println!("cargo::rustc-link-arg-bins={ordered}");
    }
    let is_native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    if is_native
        && !is("PLANWRIGHT_PORTABLE", "1")
        && links_with(PACKED).is_some_and(|trial| starts(&trial))
    {
        println!("cargo::rustc-link-arg-bins={PACKED}");
    }
}

fn starts(program: &Path) -> bool {
    Command::new(program).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|found| found == value)
}

/// A trial program, if the linker of this build takes the argument: some know no such scripts.
fn links_with(argument: &str) -> Option<PathBuf> {
    let [Ok(rustc), Ok(target), Ok(out)] = ["RUSTC", "TARGET", "OUT_DIR"].map(env::var) else {
        return None;
    };
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut command = Command::new(rustc);
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={linker}"));
    }
    command.args(["--crate-name", "trial", "--target", &target, "--out-dir", &out]);
    command.arg("-C").arg(format!("link-arg={argument}")).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let written =
        child.stdin.take().is_some_and(|mut stdin| stdin.write_all(b"fn main() {}").is_ok());
    let linked = child.wait().is_ok_and(|status| status.success()) && written;
    linked.then(|| Path::new(&out).join("trial"))
}
