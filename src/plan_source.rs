//! Opening plan files. What is in them is for `planwright_plan::plan_file`, which reads text and opens nothing.

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use planwright_files::{FileLimit, read_bytes};
use planwright_plan::plan_file::{
    MAX_BYTES, PlanFile, PlanFileError, PlanFileFormat, decode_text, parse_plan_file,
};

/// Reads a plan file. The ending of its name decides the format.
pub(crate) fn read_plan_file(path: &Path) -> Result<PlanFile, PlanFileError> {
    let (name, text) = read_plan_text(path)?;
    parse_plan_file(&text, PlanFileFormat::detect(&name, &text), &name)
}

/// Reads the text of a plan file, with the name that messages use. `-` is standard input.
pub(crate) fn read_plan_text(path: &Path) -> Result<(String, String), PlanFileError> {
    if path == Path::new("-") {
        return read_standard_input();
    }
    let name = path.display().to_string();
    let unreadable = |source| PlanFileError::Unreadable { name: name.clone(), source };
    let limit = FileLimit { what: "a plan file", bytes: MAX_BYTES };
    let bytes = match read_bytes(path, limit) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
            return Err(PlanFileError::TooLarge { name, bytes, limit: MAX_BYTES });
        }
        read => read.map_err(unreadable)?,
    };
    let text = decode_text(bytes, &name)?;
    Ok((name, text))
}

fn read_standard_input() -> Result<(String, String), PlanFileError> {
    let name = "standard input".to_owned();
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|source| PlanFileError::Unreadable { name: name.clone(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        let bytes = bytes.len() as u64;
        return Err(PlanFileError::TooLarge { name, bytes, limit: MAX_BYTES });
    }
    let text = decode_text(bytes, &name)?;
    Ok((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_their_ending() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("todo.md");
        std::fs::write(&path, "- [ ] One\n").unwrap();
        assert_eq!(read_plan_file(&path).unwrap().plan.tasks[0].id.as_str(), "one");
        std::fs::write(&path, b"- \xff").unwrap();
        assert!(matches!(read_plan_file(&path), Err(PlanFileError::NotText { line: 1, .. })));
        let missing = read_plan_file(&dir.path().join("none.toml")).unwrap_err();
        assert!(missing.to_string().starts_with("could not read the plan file"));
    }
}
