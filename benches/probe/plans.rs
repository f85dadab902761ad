//! Sessions and plans that the probe opens.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Creates an environment with an empty config.
pub fn place(data: &Path) {
    std::fs::create_dir_all(data).unwrap();
    std::fs::write(data.join("config.toml"), "").unwrap();
}

/// Saves a session of this many tasks that waits for approval.
pub fn save(data: &Path, tasks: usize) {
    place(data);
    let plan = data.join("plan.toml");
    std::fs::write(&plan, layers(tasks)).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .args(["run", &plan.to_string_lossy(), "--headless"])
        .env("PLANWRIGHT_DATA_DIR", data)
        .env("PLANWRIGHT_CONFIG", data.join("config.toml"))
        .current_dir(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3), "it waits for an answer");
}

/// A copy of the same data.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// Layers of ten tasks for the person, each depending on two of the previous layer.
fn layers(tasks: usize) -> String {
    let mut text = String::from("title = \"A large project\"\n");
    for index in 0..tasks {
        write!(
            text,
            "[[tasks]]\nid = \"t{index}\"\ndescription = \"Task number {index}\"\nrun = {{ human = {{}} }}\n"
        )
        .unwrap();
        if index >= 10 {
            let layer = (index / 10 - 1) * 10;
            let (one, other) = (layer + (index * 7) % 10, layer + (index * 3 + 1) % 10);
            if one == other {
                writeln!(text, "depends_on = [\"t{one}\"]").unwrap();
            } else {
                writeln!(text, "depends_on = [\"t{one}\", \"t{other}\"]").unwrap();
            }
        }
    }
    text
}

/// Writes a plan of sixteen tasks that print a line every few milliseconds; returns its path.
pub fn busy(place: &Path) -> String {
    let mut text = String::from("title = \"Busy\"\n");
    for index in 0..16 {
        write!(
            text,
            "[[tasks]]\nid = \"w{index}\"\ndescription = \"Writer {index}\"\n\
             run = {{ shell = \"while :; do echo line of writer {index}; sleep 0.05; done\" }}\n"
        )
        .unwrap();
    }
    let path = place.join("busy.toml");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}
