//! Parses TOML into a tree with positions.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::json::SyntaxError;
use super::value_tree::{TreeEntry, TreeValue, ValueTree};

/// How many syntax errors are reported at once; later ones are mostly caused by the first.
const MAX_SYNTAX_ERRORS: usize = 5;

pub(super) fn parse_toml(text: &str) -> Result<ValueTree, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = table.span();
        return Ok(ValueTree { span, value: convert_table(table.into_inner(), text) });
    }
    Err(errors
        .into_iter()
        .take(MAX_SYNTAX_ERRORS)
        .map(|error| SyntaxError {
            at: error.span().map_or(0, |span| span.start),
            message: error.message().to_owned(),
        })
        .collect())
}

fn convert_table(table: DeTable<'_>, text: &str) -> TreeValue {
    let mut entries: Vec<TreeEntry> = table
        .into_iter()
        .map(|(key, value)| TreeEntry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            tree: convert_value(value.span(), value.into_inner(), text),
        })
        .collect();
    // The parser sorts by name; people read from top to bottom.
    entries.sort_by_key(|entry| entry.key_span.start);
    TreeValue::Table(entries)
}

fn convert_value(span: Range<usize>, value: DeValue<'_>, source: &str) -> ValueTree {
    let value = match value {
        // Lines of a file that was saved on Windows: a command must not see where it was edited.
        DeValue::String(text) if source[span.clone()].contains("\r\n") => {
            TreeValue::Text(text.replace("\r\n", "\n"))
        }
        DeValue::String(text) => TreeValue::Text(text.into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| TreeValue::Text(number.as_str().to_owned()), TreeValue::Integer),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| TreeValue::Text(number.as_str().to_owned()), TreeValue::Float),
        DeValue::Boolean(value) => TreeValue::Bool(value),
        DeValue::Datetime(value) => TreeValue::Text(value.to_string()),
        DeValue::Array(items) => TreeValue::List(
            items
                .into_iter()
                .map(|item| convert_value(item.span(), item.into_inner(), source))
                .collect(),
        ),
        DeValue::Table(table) => convert_table(table, source),
    };
    ValueTree { span, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_the_order_of_the_file() {
        let tree = parse_toml("z = 1\na = [1.5, { b = true }]\nd = 2026-06-05\n").unwrap();
        let TreeValue::Table(entries) = &tree.value else { panic!("a document is a table") };
        let keys: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "d"]);
        assert_eq!(
            tree.to_json(),
            serde_json::json!({"z": 1, "a": [1.5, {"b": true}], "d": "2026-06-05"})
        );
    }

    #[test]
    fn lines_that_end_as_on_windows_are_lines() {
        let text = "a = \"\"\"\r\none\r\ntwo\r\n\"\"\"\r\nb = \"x\\r\\ny\"\r\n";
        let tree = parse_toml(text).unwrap();
        assert_eq!(tree.to_json(), serde_json::json!({"a": "one\ntwo\n", "b": "x\r\ny"}));
    }

    #[test]
    fn several_syntax_errors_are_reported_at_once() {
        assert_eq!(parse_toml("a = \nb = 1\nc = ]\n").unwrap_err().len(), 2);
    }

    #[test]
    fn deep_nesting_is_rejected() {
        assert!(parse_toml(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(parse_toml(&format!("{} = 1", vec!["a"; 100_000].join("."))).is_err());
        assert!(parse_toml(&format!("[{}]", vec!["a"; 100_000].join("."))).is_err());
    }
}
