//! The program itself on a plan of real processes: the time per task, and the peak memory.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(240);

/// The resources that a run of the program used.
#[derive(Debug)]
pub struct Usage {
    pub elapsed: Duration,
    /// The largest resident set, without the commands it started.
    pub peak_kib: u64,
}

/// Runs a plan file without a screen.
pub fn headless(dir: &Path, plan: &str) -> Usage {
    let file = dir.join("plan.toml");
    std::fs::write(&file, plan).unwrap();
    let begin = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("run")
        .arg(&file)
        .args(["--headless", "--yes", "--data-dir"])
        .arg(dir.join("data"))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (status, peak_kib) = watch(&mut child, begin);
    assert!(status.success(), "the run ended with {status}");
    Usage { elapsed: begin.elapsed(), peak_kib }
}

/// Polls the kernel's own high-water mark until the program ends; it never falls, so the last value is the peak.
fn watch(child: &mut Child, begin: Instant) -> (ExitStatus, u64) {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Ok(text) = std::fs::read_to_string(&path) {
            peak = peak.max(high_water(&text).unwrap_or(0));
        }
        if let Some(status) = child.try_wait().unwrap() {
            return (status, peak);
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
