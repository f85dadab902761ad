//! Display width by grapheme, and fitting text into columns.
//!
//! Widths follow `unicode-width` with ambiguous characters one cell wide, the same measure as the frame buffer. A
//! grapheme is never split: one that does not fit at the edge makes the text a cell shorter instead. Expects text that
//! went through [`clean_text`](super::clean_text()); control characters have no meaningful width.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks the position where text was truncated.
pub(crate) const ELLIPSIS: &str = "…";

/// Returns the number of cells a text occupies.
pub fn display_width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(grapheme_width).sum() }
}

/// Returns the number of cells a grapheme occupies.
pub(super) fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [_] => 1,
        _ => grapheme.width(),
    }
}

/// Truncates text at its end, `…` included, to at most `cols` cells.
pub fn truncate_end(text: &str, cols: usize) -> Cow<'_, str> {
    if fits_width(text, cols) {
        return Cow::Borrowed(text);
    }
    match cols {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}{ELLIPSIS}", prefix_within(text, cols - 1))),
    }
}

/// Truncates text in its middle, `…` included, to at most `cols` cells, as for ids: `mig…v2`.
pub fn truncate_middle(text: &str, cols: usize) -> Cow<'_, str> {
    if fits_width(text, cols) {
        return Cow::Borrowed(text);
    }
    let Some(kept) = cols.checked_sub(1) else { return Cow::Borrowed("") };
    let front = prefix_within(text, kept.div_ceil(2));
    let back = suffix_within(&text[front.len()..], kept / 2);
    Cow::Owned(format!("{front}{ELLIPSIS}{back}"))
}

/// Pads text with spaces on its right to at least `cols` cells. Longer text is not truncated.
pub fn pad_right(text: &str, cols: usize) -> Cow<'_, str> {
    match padding_width(text, cols) {
        0 => Cow::Borrowed(text),
        gap => Cow::Owned(format!("{text}{:gap$}", "")),
    }
}

/// Pads text with spaces on its left to at least `cols` cells. Longer text is not truncated: figures are never cut.
pub fn pad_left(text: &str, cols: usize) -> Cow<'_, str> {
    match padding_width(text, cols) {
        0 => Cow::Borrowed(text),
        gap => Cow::Owned(format!("{:gap$}{text}", "")),
    }
}

/// Makes text exactly `cols` cells wide: truncated at its end or padded on its right.
pub fn fit_width(text: &str, cols: usize) -> Cow<'_, str> {
    match truncate_end(text, cols) {
        Cow::Borrowed(text) => pad_right(text, cols),
        Cow::Owned(text) => Cow::Owned(pad_right(&text, cols).into_owned()),
    }
}

/// Returns whether text occupies at most `cols` cells, without measuring more of it than that.
pub(crate) fn fits_width(text: &str, cols: usize) -> bool {
    prefix_within(text, cols).len() == text.len()
}

/// Returns the longest prefix of complete graphemes within `cols` cells.
pub(super) fn prefix_within(text: &str, cols: usize) -> &str {
    &text[..bytes_within(text.graphemes(true), cols)]
}

fn suffix_within(text: &str, cols: usize) -> &str {
    &text[text.len() - bytes_within(text.graphemes(true).rev(), cols)..]
}

fn bytes_within<'a>(graphemes: impl Iterator<Item = &'a str>, cols: usize) -> usize {
    let (mut width, mut bytes) = (0, 0);
    for grapheme in graphemes {
        width += grapheme_width(grapheme);
        if width > cols {
            break;
        }
        bytes += grapheme.len();
    }
    bytes
}

fn padding_width(text: &str, cols: usize) -> usize {
    if fits_width(text, cols) { cols - display_width(text) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn width_counts_cells_not_characters() {
        let shown = ["", "abc", "é", "e\u{301}", "日本", "👩‍👩‍👧", "…─·"].map(display_width);
        assert_eq!(shown, [0, 3, 1, 1, 4, 2, 3]);
    }

    #[test]
    fn the_end_is_cut_with_an_ellipsis() {
        assert_eq!(truncate_end("Migration guide", 14), "Migration gui…");
        assert_eq!(truncate_end("Publish", 7), "Publish");
        assert_eq!(truncate_end("Publish", 1), "…");
        assert_eq!(truncate_end("Publish", 0), "");
        assert_eq!(truncate_end("", 0), "");
    }

    #[test]
    fn ids_are_cut_in_the_middle() {
        assert_eq!(truncate_middle("migrate-v2", 6), "mig…v2");
        assert_eq!(truncate_middle("migrate-v2", 10), "migrate-v2");
        assert_eq!(truncate_middle("migrate-v2", 2), "m…");
        assert_eq!(truncate_middle("migrate-v2", 0), "");
    }

    #[test]
    fn a_wide_grapheme_at_the_edge_is_left_out_and_filled() {
        assert_eq!(truncate_end("日本語", 4), "日…");
        assert_eq!(fit_width("日本語", 4), "日… ");
        assert_eq!(fit_width("日本", 4), "日本");
        assert_eq!(truncate_middle("日本語日本語", 6), "日…語");
    }

    #[test]
    fn padding_never_cuts() {
        assert_eq!(pad_right("ab", 4), "ab  ");
        assert_eq!(pad_left("1,204", 7), "  1,204");
        assert_eq!(pad_left("1,204", 3), "1,204");
        assert_eq!(fit_width("1,204", 3), "1,…");
    }

    proptest! {
        #[test]
        fn cut_text_fits(text in "\\PC{0,24}", cols in 0_usize..30) {
            prop_assert!(display_width(&truncate_end(&text, cols)) <= cols);
            prop_assert!(display_width(&truncate_middle(&text, cols)) <= cols);
            prop_assert_eq!(fits_width(&text, cols), display_width(&text) <= cols);
        }

        #[test]
        fn fitted_text_is_exact(text in "[a-z日本é ]{0,24}", cols in 0_usize..30) {
            prop_assert_eq!(display_width(&fit_width(&text, cols)), cols);
            prop_assert!(display_width(&pad_left(&text, cols)) >= cols);
        }
    }
}
