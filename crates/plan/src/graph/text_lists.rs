//! Text where a list is expected.

/// What separates the items of a list that was written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListSeparators {
    /// `,`, `;` and the newline.
    Plain,
    /// Also `/` and the word "and", as in "file.read and web.fetch".
    Tools,
}

/// Splits text into items; blanks are dropped.
pub(crate) fn split_list(text: &str, separators: ListSeparators) -> Vec<String> {
    let tools = separators == ListSeparators::Tools;
    text.split(|c| matches!(c, ',' | ';' | '\n') || (tools && c == '/'))
        .flat_map(|part| part.split(if tools { " and " } else { "\n" }))
        .map(|item| match item.trim().strip_prefix("and ") {
            Some(rest) if tools => rest.trim(),
            _ => item.trim(),
        })
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_written_as_text_are_split_and_blanks_dropped() {
        assert_eq!(
            split_list("a, b;;c\n d and e/f", ListSeparators::Plain),
            ["a", "b", "c", "d and e/f"]
        );
        assert_eq!(
            split_list("web.search / file.read and shell.run, and x", ListSeparators::Tools),
            ["web.search", "file.read", "shell.run", "x"]
        );
        assert!(split_list(" ,; ", ListSeparators::Plain).is_empty());
    }
}
