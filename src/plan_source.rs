//! Opening plan files. What is in them is for `planwright_plan::plan_file`, which reads text and opens nothing.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use planwright_files::{FileLimit, read_bytes};
use planwright_plan::plan_file::{
    MAX_BYTES, PlanFile, PlanFileError, PlanFileFormat, PlanFileInputs, decode_text,
    parse_with_inputs,
};
use planwright_text::Redactor;

/// What plan files may name that the person set up.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanFileNames {
    pub agents: Vec<String>,
    pub executors: Vec<String>,
    pub task_types: Vec<String>,
}

/// Reads a plan file with values for its parameters and what else it may name. The ending of its name decides the format.
pub(crate) fn read_plan_file(
    path: &Path,
    params: &BTreeMap<String, String>,
    names: PlanFileNames,
    redactor: &Redactor,
    allow_missing: bool,
) -> Result<PlanFile, PlanFileError> {
    let (name, text) = read_plan_text(path)?;
    let include = |name: &str| read_included(path, name);
    let find_secret = |text: &str| describe_secret(text, redactor);
    let inputs = PlanFileInputs {
        params: params.clone(),
        env: &read_variable,
        include: &include,
        find_secret: &find_secret,
        needs_all: true,
        allow_missing,
        agents: Some(names.agents),
        executors: Some(names.executors),
        task_types: names.task_types,
    };
    parse_with_inputs(&text, PlanFileFormat::detect(&name, &text), &name, &inputs)
}

/// What is wrong with a text that holds a secret, and what to do about it.
pub(crate) fn describe_secret(text: &str, redactor: &Redactor) -> Option<(String, String)> {
    if !redactor.would_change(text) {
        return None;
    }
    let Some(name) = redactor.find_variable(text) else {
        let fix = "Keep it out of the plan: put it in an environment variable, or name where it comes from in `secrets`.";
        return Some(("holds what looks like a secret".to_owned(), fix.to_owned()));
    };
    let name = planwright_text::clean_line(name);
    Some((
        format!("holds the value of the environment variable {name}, which is kept secret"),
        format!(
            "Write ${name} instead. If it is not a secret, start without it: env -u {name} planwright."
        ),
    ))
}

/// Reads a plan file to look at it: values that only a run has are left open.
pub(crate) fn read_plan_outline(path: &Path) -> Result<PlanFile, PlanFileError> {
    let (name, text) = read_plan_text(path)?;
    let include = |name: &str| read_included(path, name);
    let inputs = PlanFileInputs {
        env: &read_variable,
        include: &include,
        needs_all: false,
        ..Default::default()
    };
    parse_with_inputs(&text, PlanFileFormat::detect(&name, &text), &name, &inputs)
}

/// Reads a file that a plan file includes, which must be below its directory.
pub(crate) fn read_included(plan: &Path, name: &str) -> Result<String, String> {
    let here = if plan == Path::new("-") { None } else { plan.parent() };
    let directory = here.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = directory.canonicalize().map_err(|error| error.to_string())?;
    let found = directory.join(name).canonicalize().map_err(|error| error.to_string())?;
    if !found.starts_with(&directory) {
        return Err("it is not below the directory of the plan file".to_owned());
    }
    let limit = FileLimit { what: "an included plan file", bytes: MAX_BYTES };
    let bytes = read_bytes(&found, limit).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// The value of an environment variable, if it is text.
pub(crate) fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Splits what follows the name of a plan file into values of parameters, `NAME=VALUE`, and the rest.
pub(crate) fn split_params(words: &[String]) -> (BTreeMap<String, String>, Vec<String>) {
    let mut params = BTreeMap::new();
    let mut rest = Vec::new();
    for word in words {
        let is_name = |name: &str| {
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(letter)
        };
        match word.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => {
                params.insert(name.to_owned(), value.to_owned());
            }
            None => rest.push(word.clone()),
        }
    }
    (params, rest)
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
        let read_plan_file = |path: &Path| {
            read_plan_file(
                path,
                &BTreeMap::new(),
                PlanFileNames::default(),
                &Redactor::default(),
                false,
            )
        };
        std::fs::write(&path, "- [ ] One\n").unwrap();
        assert_eq!(read_plan_file(&path).unwrap().plan.tasks[0].id.as_str(), "one");
        std::fs::write(&path, b"- \xff").unwrap();
        assert!(matches!(read_plan_file(&path), Err(PlanFileError::NotText { line: 1, .. })));
        let missing = read_plan_file(&dir.path().join("none.toml")).unwrap_err();
        assert!(missing.to_string().starts_with("could not read the plan file"));
    }

    #[test]
    fn values_of_parameters_are_told_from_tasks() {
        let words = ["build", "version=2.1=x", "test[a=b]", "=x"].map(str::to_owned);
        let (params, rest) = split_params(&words);
        assert_eq!(params, [("version".to_owned(), "2.1=x".to_owned())].into());
        assert_eq!(rest, ["build", "test[a=b]", "=x"]);
    }
}
