//! The layer that makes writes fail: compiled once, loaded before the C library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::program::Place;

/// Compiles the layer. A compiler is available wherever `SQLite` was built.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/shim.c");
        let own = format!("shim-{}.so", std::process::id());
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(own);
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let compiled = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(compiled.success(), "the layer is compiled");
        library
    })
}

/// What fails, and at which disk operation.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// `eio`, `enospc`, `erofs`, `short` or `after`.
    pub kind: &'static str,
    /// Which operation, from 1; 0 is none.
    pub at: u64,
    /// Whether everything after it fails as well.
    pub lasts: bool,
}

impl Fault {
    pub const NONE: Self = Self { kind: "eio", at: 0, lasts: false };

    /// The program with this fault in its data directory.
    pub fn command(self, place: &Place, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("planwright"));
        command
            .args(args)
            .env("LD_PRELOAD", library())
            .env("FAULT_DIR", place.data())
            .env("FAULT_AT", self.at.to_string())
            .env("FAULT_KIND", self.kind)
            .env("FAULT_COUNT", place.dir.path().join("count"))
            .env("PLANWRIGHT_DATA_DIR", place.data())
            .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
            .env("TZ", "UTC")
            .current_dir(place.work())
            .stdin(Stdio::null());
        if self.lasts {
            command.env("FAULT_LASTS", "1");
        }
        command
    }
}

/// How many operations the last run under the layer made.
pub fn count(place: &Place) -> u64 {
    let text = std::fs::read_to_string(place.dir.path().join("count")).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}
