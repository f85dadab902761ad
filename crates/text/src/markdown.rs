//! Markdown as lines of plain text: lists, code, quotes and tables readable in a terminal, nothing coloured by itself.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{display_width, fit, wrap};

/// What a line of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Text,
    Heading,
    Code,
    Quote,
    Table,
}

/// A line and what it is.
pub type MarkdownLine = (Part, String);

/// Whether text is likely meant as Markdown.
pub fn looks_like_markdown(text: &str) -> bool {
    let marked = |line: &str| {
        let line = line.trim_start();
        let starts = ["# ", "## ", "### ", "- ", "* ", "1. ", "> ", "```", "|"];
        starts.iter().any(|start| line.starts_with(start))
    };
    text.lines().take(40).any(marked)
}

/// Lays a document out for so many columns. The text must be clean already.
pub fn markdown(text: &str, cols: usize) -> Vec<MarkdownLine> {
    let mut page = Page { cols: cols.max(8), ..Page::default() };
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    for event in parser {
        page.take(event);
    }
    page.flush();
    while page.lines.last().is_some_and(|(_, line)| line.is_empty()) {
        page.lines.pop();
    }
    page.lines
}

#[derive(Default)]
struct Page {
    cols: usize,
    lines: Vec<MarkdownLine>,
    /// The paragraph that is being gathered.
    text: String,
    part: Option<Part>,
    /// One entry for each open list: the next number, or nothing for bullets.
    lists: Vec<Option<u64>>,
    /// What the next line of an item begins with.
    bullet: Option<String>,
    quotes: usize,
    code: bool,
    table: Vec<Vec<String>>,
    row: Vec<String>,
    in_table: bool,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => {
                for line in text.lines() {
                    self.lines.push((Part::Code, format!("{}│ {line}", self.indent())));
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.text.push_str(&text);
            }
            Event::SoftBreak => self.text.push(' '),
            Event::HardBreak => self.text.push('\n'),
            Event::Rule => {
                self.flush();
                self.lines.push((Part::Text, "─".repeat(self.cols.min(40))));
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.flush();
                self.gap();
                self.part = Some(Part::Heading);
            }
            Tag::Paragraph => {
                self.flush();
                if self.bullet.is_none() && self.lists.is_empty() {
                    self.gap();
                }
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = true;
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                self.flush();
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
                self.flush();
                self.gap();
                self.in_table = true;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.code = false,
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.text)),
            TagEnd::TableHead | TagEnd::TableRow => self.table.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                self.in_table = false;
                let table = std::mem::take(&mut self.table);
                self.draw_table(&table);
            }
            _ => {}
        }
    }

    fn indent(&self) -> String {
        " ".repeat(2 * self.lists.len().saturating_sub(1))
    }

    /// An empty line between blocks, but none at the top.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|(_, line)| !line.is_empty()) {
            self.lines.push((Part::Text, String::new()));
        }
    }

    /// Puts the gathered text down, wrapped under its bullet.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() || self.in_table {
            return;
        }
        let part =
            self.part.take().unwrap_or(if self.quotes > 0 { Part::Quote } else { Part::Text });
        let indent = self.indent();
        let bullet = self.bullet.take();
        let lead = match (&bullet, self.quotes) {
            (Some(mark), _) => mark.clone(),
            (None, 0) if self.lists.is_empty() => String::new(),
            (None, 0) => "  ".to_owned(),
            (None, _) => "> ".to_owned(),
        };
        let room = self.cols.saturating_sub(indent.len() + display_width(&lead)).max(8);
        for (index, line) in wrap(&text, room, 0).into_iter().enumerate() {
            let lead = match (index, self.quotes) {
                (0, _) => lead.clone(),
                (_, 0) => " ".repeat(display_width(&lead)),
                _ => "> ".to_owned(),
            };
            self.lines.push((part, format!("{indent}{lead}{line}")));
        }
    }

    /// Columns as wide as their widest cell, narrowed alike where they do not fit.
    fn draw_table(&mut self, table: &[Vec<String>]) {
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
                .map(|(at, width)| fit(row.get(at).map_or("", String::as_str), *width).into_owned())
                .collect();
            self.lines.push((Part::Table, cells.join(" │ ").trim_end().to_owned()));
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.lines.push((Part::Table, rule.join("─┼─")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, cols: usize) -> Vec<String> {
        markdown(text, cols).into_iter().map(|(_, line)| line).collect()
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
    fn what_is_marked_up_is_told_from_plain_text() {
        assert!(looks_like_markdown("Result\n- one"));
        assert!(!looks_like_markdown("   Compiling parser v2.0.0"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_laid_out(text in "[ -~\n]{0,300}", cols in 1..80_usize) {
            let lines = markdown(&text, cols);
            prop_assert!(lines.iter().all(|(_, line)| !line.contains('\n')));
        }
    }
}
