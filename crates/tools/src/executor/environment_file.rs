//! Files of variables, `env_file`: `NAME=VALUE` lines as many tools read them.

use std::path::Path;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads a file below a workspace. The message names the file and what is wrong with it.
pub fn read_environment_file(
    workspace: &Path,
    directory: &Path,
    file: &str,
) -> Result<Vec<(String, String)>, String> {
    let path = directory.join(file);
    let found = path.canonicalize().map_err(|error| format!("the env_file {file}: {error}"))?;
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    if !found.starts_with(&workspace) {
        return Err(format!("the env_file {file} leads out of the workspace"));
    }
    let size = std::fs::metadata(&found).map_or(0, |meta| meta.len());
    if size > MAX_BYTES {
        return Err(format!("the env_file {file} is larger than 1 MB"));
    }
    let text =
        std::fs::read_to_string(&found).map_err(|error| format!("the env_file {file}: {error}"))?;
    parse_environment(&text).map_err(|line| {
        format!("the env_file {file}, line {line}: write NAME=VALUE, or # before a comment")
    })
}

/// Reads the lines of such a file. The error is the number of the line that is wrong.
fn parse_environment(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut variables = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(number)?;
        let (name, value) = (name.trim_end(), value.trim_start());
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(letter)
            && !name.starts_with("PLANWRIGHT_");
        if !is_name || value.contains('\0') {
            return Err(number);
        }
        variables.push((name.to_owned(), unquote(value).ok_or(number)?));
    }
    Ok(variables)
}

/// The value without its quotes, or without a comment behind it.
fn unquote(value: &str) -> Option<String> {
    let Some(quote @ ('"' | '\'')) = value.chars().next() else {
        let end = value.find(" #").unwrap_or(value.len());
        return Some(value[..end].trim_end().to_owned());
    };
    let mut out = String::new();
    let mut letters = value[1..].chars();
    while let Some(letter) = letters.next() {
        match letter {
            end if end == quote => {
                let rest = letters.as_str().trim_start();
                return (rest.is_empty() || rest.starts_with('#')).then_some(out);
            }
            '\\' if quote == '"' => match letters.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_quotes_comments_and_export() {
        let text = "# a comment\n\nA=1\nexport B = two words # note\nC=\"x\\n\\\"y\\\"\" # z\nD='a # $b'\nE=\n";
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "x\n\"y\""), ("D", "a # $b"), ("E", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse_environment(text).unwrap(), expected);
        for (text, line) in
            [("A=1\nnonsense\n", 2), ("1A=2", 1), ("A=\"x", 1), ("PLANWRIGHT_X=1", 1)]
        {
            assert_eq!(parse_environment(text), Err(line), "{text}");
        }
    }
}
