//! Placeholders in the texts of a blueprint: `{it}`, `{guests}`, `{place|a town}`.

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum TextPiece<'a> {
    Plain(&'a str),
    /// The name of a value, and the words in its place if it is not known.
    Value {
        name: &'a str,
        fallback: Option<&'a str>,
    },
}

/// Splits a text at its placeholders. An open brace without a closing one is plain text.
pub(in super::super) fn split_placeholders(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        if open > 0 {
            pieces.push(TextPiece::Plain(&rest[..open]));
        }
        let inner = &rest[open + 1..open + length];
        let (name, fallback) = match inner.split_once('|') {
            Some((name, words)) => (name, Some(words)),
            None => (inner, None),
        };
        pieces.push(TextPiece::Value { name, fallback });
        rest = &rest[open + length + 1..];
    }
    if !rest.is_empty() {
        pieces.push(TextPiece::Plain(rest));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_at_their_placeholders() {
        assert_eq!(
            split_placeholders("Visit {count:3} venues {in place}{budget|, if you can}"),
            [
                TextPiece::Plain("Visit "),
                TextPiece::Value { name: "count:3", fallback: None },
                TextPiece::Plain(" venues "),
                TextPiece::Value { name: "in place", fallback: None },
                TextPiece::Value { name: "budget", fallback: Some(", if you can") },
            ]
        );
        assert_eq!(split_placeholders("a { b"), [TextPiece::Plain("a { b")]);
    }
}
