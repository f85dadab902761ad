//! Truncates text without splitting a character, with a mark where it was cut.

/// Marks that something was omitted at the end.
pub const TRUNCATION_MARK: &str = "… [truncated]";

/// Truncates to `limit` characters, including the mark. Never splits a character.
pub fn truncate_chars(text: &str, limit: usize) -> String {
    let Some((end_of_limit, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let mark = TRUNCATION_MARK.chars().count();
    if limit <= mark {
        return text[..end_of_limit].to_owned();
    }
    let end = text.char_indices().nth(limit - mark).map_or(text.len(), |(at, _)| at);
    format!("{}{TRUNCATION_MARK}", &text[..end])
}

/// The last `limit` characters, as complete lines if that leaves anything.
pub fn last_chars(text: &str, limit: usize) -> &str {
    let count = text.chars().count();
    if count <= limit {
        return text;
    }
    let start = text.char_indices().nth(count - limit).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    match rest.find('\n') {
        Some(end) if end + 1 < rest.len() => &rest[end + 1..],
        _ => rest,
    }
}

/// Keeps the beginning and the end within a number of bytes and notes how much is omitted between them.
pub fn truncate_middle(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(most * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - most / 4);
    let left_out = tail - head;
    format!(
        "{}\n… [{left_out} bytes left out; the whole output is kept] …\n{}",
        &text[..head],
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_truncated_text_is_never_longer_than_its_limit_and_is_a_prefix(text in "\\PC{0,2000}", limit in 0usize..1600) {
            let cut = truncate_chars(&text, limit);
            prop_assert!(cut.chars().count() <= limit.max(text.chars().count().min(limit)));
            match cut.strip_suffix(TRUNCATION_MARK) {
                Some(head) if cut != text => prop_assert!(text.starts_with(head)),
                _ => prop_assert!(text.starts_with(&cut)),
            }
            if text.chars().count() <= limit {
                prop_assert_eq!(cut, text);
            }
        }

        #[test]
        fn a_tail_is_a_suffix(text in "\\PC{0,400}", limit in 0usize..300) {
            prop_assert!(text.ends_with(last_chars(&text, limit)));
            prop_assert!(last_chars(&text, limit).chars().count() <= limit);
        }

        #[test]
        fn a_middle_keeps_both_ends(text in "\\PC{0,800}", most in 8usize..400) {
            let kept = truncate_middle(&text, most);
            prop_assert!(text.len() <= most || kept.contains("left out"));
        }
    }

    #[test]
    fn the_limit_includes_the_mark() {
        let long = "é".repeat(5000);
        let cut = truncate_chars(&long, 1500);
        assert_eq!(cut.chars().count(), 1500);
        assert!(cut.ends_with(TRUNCATION_MARK));
    }
}
