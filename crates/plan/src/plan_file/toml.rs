//! Reads TOML into a tree with places.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::json::SyntaxError;
use super::tree::{Entry, Tree, Value};

/// How many syntax errors are told at once; later ones are mostly echoes of the first.
const TOLD: usize = 5;

pub(super) fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = table.span();
        return Ok(Tree { span, value: convert_table(table.into_inner()) });
    }
    Err(errors
        .into_iter()
        .take(TOLD)
        .map(|error| SyntaxError {
            at: error.span().map_or(0, |span| span.start),
            message: error.message().to_owned(),
        })
        .collect())
}

fn convert_table(table: DeTable<'_>) -> Value {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            tree: convert(value.span(), value.into_inner()),
        })
        .collect();
    // The parser sorts by name; people read from top to bottom.
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}

fn convert(span: Range<usize>, value: DeValue<'_>) -> Tree {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Text(number.as_str().to_owned()), Value::Integer),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| Value::Text(number.as_str().to_owned()), Value::Float),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(value) => Value::Text(value.to_string()),
        DeValue::Array(items) => Value::List(
            items.into_iter().map(|item| convert(item.span(), item.into_inner())).collect(),
        ),
        DeValue::Table(table) => convert_table(table),
    };
    Tree { span, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_the_order_of_the_file() {
        let tree = parse("z = 1\na = [1.5, { b = true }]\nd = 2026-06-05\n").unwrap();
        let Value::Table(entries) = &tree.value else { panic!("a document is a table") };
        let keys: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "d"]);
        assert_eq!(
            tree.to_json(),
            serde_json::json!({"z": 1, "a": [1.5, {"b": true}], "d": "2026-06-05"})
        );
    }

    #[test]
    fn several_syntax_errors_are_told_at_once() {
        assert_eq!(parse("a = \nb = 1\nc = ]\n").unwrap_err().len(), 2);
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        assert!(parse(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(parse(&format!("{} = 1", vec!["a"; 100_000].join("."))).is_err());
        assert!(parse(&format!("[{}]", vec!["a"; 100_000].join("."))).is_err());
    }
}
