//! Markdown as lines of plain text: lists, code, quotes and tables readable in a terminal, without any colors.

use crate::wrap_words;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{display_width, fit_width};

/// The kind of a line in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownPart {
    Text,
    Heading,
    Code,
    Quote,
    Table,
}

/// A line and its kind.
pub type MarkdownLine = (MarkdownPart, String);

/// Returns whether text is likely meant as Markdown.
pub fn looks_like_markdown(text: &str) -> bool {
    let marked = |line: &str| {
        let line = line.trim_start();
        let starts = ["# ", "## ", "### ", "- ", "* ", "1. ", "> ", "```", "|"];
        starts.iter().any(|start| line.starts_with(start))
    };
    text.lines().take(40).any(marked)
}

/// Lays out a document for a width of `cols` columns. The text must already be clean.
pub fn layout_markdown(text: &str, cols: usize) -> Vec<MarkdownLine> {
    let mut page = MarkdownRenderer { cols: cols.max(8), ..MarkdownRenderer::default() };
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    for event in parser {
        page.handle_event(event);
    }
    page.flush_text();
    while page.lines.last().is_some_and(|(_, line)| line.is_empty()) {
        page.lines.pop();
    }
    page.lines
}

#[derive(Default)]
struct MarkdownRenderer {
    cols: usize,
    lines: Vec<MarkdownLine>,
    /// The paragraph being collected.
    text: String,
    part: Option<MarkdownPart>,
    /// One entry per open list: the next number, or `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The prefix of the next line of an item.
    bullet: Option<String>,
    quotes: usize,
    code: bool,
    table: Vec<Vec<String>>,
    row: Vec<String>,
    in_table: bool,
}

impl MarkdownRenderer {
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(&tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) if self.code => {
                for line in text.lines() {
                    self.lines
                        .push((MarkdownPart::Code, format!("{}│ {line}", self.list_indent())));
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.text.push_str(&text);
            }
            Event::SoftBreak => self.text.push(' '),
            Event::HardBreak => self.text.push('\n'),
            Event::Rule => {
                self.flush_text();
                self.lines.push((MarkdownPart::Text, "─".repeat(self.cols.min(40))));
            }
            _ => {}
        }
    }

    fn start_tag(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.flush_text();
                self.push_gap();
                self.part = Some(MarkdownPart::Heading);
            }
            Tag::Paragraph => {
                self.flush_text();
                if self.bullet.is_none() && self.lists.is_empty() {
                    self.push_gap();
                }
            }
            Tag::BlockQuote(_) => {
                self.flush_text();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flush_text();
                self.code = true;
            }
            Tag::List(first) => {
                self.flush_text();
                if self.lists.is_empty() {
                    self.push_gap();
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                self.flush_text();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "· ".to_owned(),
                };
                self.bullet = Some(mark);
            }
            Tag::Table(_) => {
                self.flush_text();
                self.push_gap();
                self.in_table = true;
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::Item => self.flush_text(),
            TagEnd::BlockQuote(_) => {
                self.flush_text();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.code = false,
            TagEnd::List(_) => {
                self.flush_text();
                self.lists.pop();
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.text)),
            TagEnd::TableHead | TagEnd::TableRow => self.table.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                self.in_table = false;
                let table = std::mem::take(&mut self.table);
                self.push_table(&table);
            }
            _ => {}
        }
    }

    fn list_indent(&self) -> String {
        " ".repeat(2 * self.lists.len().saturating_sub(1))
    }

    /// Adds an empty line between blocks, but not at the top.
    fn push_gap(&mut self) {
        if self.lines.last().is_some_and(|(_, line)| !line.is_empty()) {
            self.lines.push((MarkdownPart::Text, String::new()));
        }
    }

    /// Emits the collected text, wrapped under its bullet.
    fn flush_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() || self.in_table {
            return;
        }
        let part = self.part.take().unwrap_or(if self.quotes > 0 {
            MarkdownPart::Quote
        } else {
            MarkdownPart::Text
        });
        let indent = self.list_indent();
        let bullet = self.bullet.take();
        let lead = match (&bullet, self.quotes) {
            (Some(mark), _) => mark.clone(),
            (None, 0) if self.lists.is_empty() => String::new(),
            (None, 0) => "  ".to_owned(),
            (None, _) => "> ".to_owned(),
        };
        let room = self.cols.saturating_sub(indent.len() + display_width(&lead)).max(8);
        for (index, line) in wrap_words(&text, room, 0).into_iter().enumerate() {
            let lead = match (index, self.quotes) {
                (0, _) => lead.clone(),
                (_, 0) => " ".repeat(display_width(&lead)),
                _ => "> ".to_owned(),
            };
            self.lines.push((part, format!("{indent}{lead}{line}")));
        }
    }

    /// Makes each column as wide as its widest cell, and narrows all of them equally if they do not fit.
    fn push_table(&mut self, table: &[Vec<String>]) {
        let columns = table.iter().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return;
        }
        let widest = |column: usize| {
            table.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max()
        };
        let mut widths: Vec<usize> =
            (0..columns).map(|at| widest(at).unwrap_or(0).max(1)).collect();
        let room = self.cols.saturating_sub(3 * (columns - 1)).max(columns);
        while widths.iter().sum::<usize>() > room {
            let Some(largest) = widths.iter_mut().max() else { break };
            *largest -= 1;
        }
        for (index, row) in table.iter().enumerate() {
            let cells: Vec<String> = widths
                .iter()
                .enumerate()
                .map(|(at, width)| {
                    fit_width(row.get(at).map_or("", String::as_str), *width).into_owned()
                })
                .collect();
            self.lines.push((MarkdownPart::Table, cells.join(" │ ").trim_end().to_owned()));
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.lines.push((MarkdownPart::Table, rule.join("─┼─")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, cols: usize) -> Vec<String> {
        layout_markdown(text, cols).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn lists_hang_under_their_bullets() {
        let text = "# Plan\n\nTwo things:\n\n- first one that is long\n- second\n  1. inner\n";
        assert_eq!(
            lines(text, 16),
            [
                "Plan",
                "",
                "Two things:",
                "",
                "· first one that",
                "  is long",
                "· second",
                "  1. inner"
            ]
        );
    }

    #[test]
    fn code_keeps_its_shape() {
        let text = "```rust\nfn main() {\n    run();\n}\n```";
        assert_eq!(lines(text, 40), ["│ fn main() {", "│     run();", "│ }"]);
    }

    #[test]
    fn tables_have_columns() {
        let text = "| task | min |\n|---|---|\n| audit | 3 |\n| port | 9 |";
        assert_eq!(lines(text, 40), ["task  │ min", "──────┼────", "audit │ 3", "port  │ 9"]);
        assert!(lines(text, 8).iter().all(|line| display_width(line) <= 9));
    }

    #[test]
    fn markdown_is_distinguished_from_plain_text() {
        assert!(looks_like_markdown("Result\n- one"));
        assert!(!looks_like_markdown("   Compiling parser v2.0.0"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_laid_out(text in "[ -~\n]{0,300}", cols in 1..80_usize) {
            let lines = layout_markdown(&text, cols);
            prop_assert!(lines.iter().all(|(_, line)| !line.contains('\n')));
        }
    }
}
