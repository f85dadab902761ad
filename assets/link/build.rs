//! Has the linker put the code that every session runs next to each other.
//!
//! The program is large, most of it is never run in one session, and the system reads it in windows of 64 KB. With what
//! runs scattered over all of it, starting touched most windows; side by side it is a quarter of them. `first.ld` lists
//! the code by patterns of its names, made by `cargo run --example order`; a name that no longer exists is no error.

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=assets/link");
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&root).join("assets/link/first.ld");
    let argument = format!("-Wl,-T,{}", script.display());
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && links_with(&argument) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|found| found == value)
}

/// Whether the linker of this build takes the argument: some know no such scripts.
fn links_with(argument: &str) -> bool {
    let [Ok(rustc), Ok(target), Ok(out)] = ["RUSTC", "TARGET", "OUT_DIR"].map(env::var) else {
        return false;
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
    let Ok(mut child) = command.spawn() else { return false };
    let written =
        child.stdin.take().is_some_and(|mut stdin| stdin.write_all(b"fn main() {}").is_ok());
    child.wait().is_ok_and(|status| status.success()) && written
}
