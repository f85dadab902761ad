//! A Markdown text as headings and list items with their places; everything else is between them.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::step_text::{is_note_heading, short_title};

/// A heading outside of lists and quotes.
#[derive(Clone, Debug)]
pub(super) struct DocumentHeading {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct DocumentItem {
    pub(super) title: String,
    /// Where the words of its first paragraph end.
    pub(super) title_end: usize,
    pub(super) range: Range<usize>,
    /// The heading above it, counted from 1; 0 without one.
    pub(super) section: usize,
    /// The item that it stands in.
    pub(super) parent: Option<usize>,
    pub(super) list: usize,
    pub(super) ordered: bool,
    pub(super) ticked: Option<bool>,
}

/// A text with its headings and items.
#[derive(Debug)]
pub(super) struct MarkdownDocument<'a> {
    pub(super) text: &'a str,
    pub(super) headings: Vec<DocumentHeading>,
    pub(super) items: Vec<DocumentItem>,
    line_starts: Vec<usize>,
    /// Whether each section is one of notes, its own heading or one above it.
    notes: Vec<bool>,
}

impl<'a> MarkdownDocument<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut reader = DocumentReader::default();
        let options = Options::ENABLE_TASKLISTS | Options::ENABLE_TABLES;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            reader.on_event(event, range);
        }
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let notes = note_sections(&reader.headings);
        let (items, headings) = reader.into_parts();
        Self { text, headings, items, line_starts: std::iter::once(0).chain(ends).collect(), notes }
    }

    /// The first heading, if it stands for the whole text.
    pub(super) fn title(&self) -> String {
        let first = self.headings.first().filter(|_| self.is_title(0));
        first.map(|heading| short_title(&heading.text).0).unwrap_or_default()
    }

    /// Whether a heading is the title: the first one, and no other is as high.
    pub(super) fn is_title(&self, heading: usize) -> bool {
        let Some(first) = self.headings.first().filter(|_| heading == 0) else { return false };
        self.headings[1..].iter().all(|other| other.level > first.level)
    }

    /// Whether a section, counted from 1, has notes and no steps.
    pub(super) fn is_note_section(&self, section: usize) -> bool {
        section.checked_sub(1).is_some_and(|at| self.notes[at])
    }

    /// The section that a heading stands in; the title of the text is none.
    pub(super) fn parent_section(&self, heading: usize) -> usize {
        let level = self.headings[heading].level;
        let above = (0..heading).rev().find(|at| self.headings[*at].level < level);
        above.filter(|at| !self.is_title(*at)).map_or(0, |at| at + 1)
    }

    /// The line of a byte, counted from 1.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        self.line_starts.partition_point(|start| *start <= at) as u32
    }

    /// The last line of a range that has something on it.
    pub(super) fn last_line(&self, range: &Range<usize>) -> u32 {
        let text = self.text.get(range.clone()).unwrap_or_default();
        self.line_at(range.start + text.trim_end().len().saturating_sub(1))
    }
}

/// Which sections are notes; one below a section of notes is one too.
fn note_sections(headings: &[DocumentHeading]) -> Vec<bool> {
    let mut open: Vec<(u8, bool)> = Vec::new();
    let mut notes = Vec::with_capacity(headings.len());
    for heading in headings {
        open.retain(|(level, _)| *level < heading.level);
        let above = open.iter().any(|(_, is_note)| *is_note);
        open.push((heading.level, is_note_heading(&heading.text)));
        notes.push(above || open.last().is_some_and(|(_, is_note)| *is_note));
    }
    notes
}

#[derive(Default)]
struct DocumentReader {
    headings: Vec<DocumentHeading>,
    items: Vec<DocumentItem>,
    /// Open lists: their number and whether they are numbered.
    lists: Vec<(usize, bool)>,
    list_count: usize,
    open: Vec<usize>,
    quotes: usize,
    in_heading: bool,
    /// Whether words still belong to the title of the innermost item.
    in_title: bool,
}

impl DocumentReader {
    fn on_event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.on_start(&tag, range),
            Event::End(tag) => self.on_end(tag, range),
            Event::Text(text) | Event::Code(text) => self.push_words(&text, range.end),
            Event::SoftBreak | Event::HardBreak => self.push_words(" ", range.end),
            Event::TaskListMarker(ticked) => {
                if let Some(item) = self.open.last().map(|at| &mut self.items[*at]) {
                    item.ticked = Some(ticked);
                    item.title_end = range.end;
                }
            }
            _ => {}
        }
    }

    /// The title of the innermost item ends here, with whatever marks stand around its last words.
    fn close_title(&mut self, end: usize) {
        if std::mem::take(&mut self.in_title)
            && let Some(item) = self.open.last().map(|at| &mut self.items[*at])
        {
            item.title_end = item.title_end.max(end);
        }
    }

    fn on_start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::List(first) => {
                self.close_title(range.start);
                self.lists.push((self.list_count, first.is_some()));
                self.list_count += 1;
            }
            Tag::Item => {
                let (list, ordered) = self.lists.last().copied().unwrap_or_default();
                self.items.push(DocumentItem {
                    title: String::new(),
                    title_end: range.start,
                    range,
                    section: self.headings.len(),
                    parent: self.open.last().copied(),
                    list,
                    ordered,
                    ticked: None,
                });
                self.open.push(self.items.len() - 1);
                self.in_title = true;
            }
            Tag::Heading { level, .. } if self.open.is_empty() && self.quotes == 0 => {
                self.in_heading = true;
                let level = heading_number(*level);
                self.headings.push(DocumentHeading { level, text: String::new(), range });
            }
            Tag::BlockQuote(_) => {
                self.quotes += 1;
                self.close_title(range.start);
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_) | Tag::Heading { .. } => {
                self.close_title(range.start);
            }
            _ => {}
        }
    }

    fn on_end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.close_title(range.end);
                if let Some(at) = self.open.pop() {
                    self.items[at].range.end = range.end;
                }
            }
            TagEnd::Heading(_) if self.in_heading => {
                self.in_heading = false;
                if let Some(heading) = self.headings.last_mut() {
                    heading.range = range;
                    heading.text = heading.text.trim().to_owned();
                }
            }
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::Paragraph => self.close_title(range.end),
            _ => {}
        }
    }

    fn push_words(&mut self, words: &str, end: usize) {
        if self.in_heading {
            if let Some(heading) = self.headings.last_mut() {
                heading.text.push_str(words);
            }
        } else if self.in_title
            && let Some(at) = self.open.last()
        {
            let item = &mut self.items[*at];
            item.title.push_str(words);
            item.title_end = end;
        }
    }

    /// Items that say something, and headings. An item without words gives its parts to what it stands in.
    fn into_parts(self) -> (Vec<DocumentItem>, Vec<DocumentHeading>) {
        let mut place: Vec<Option<usize>> = vec![None; self.items.len()];
        let mut kept: Vec<DocumentItem> = Vec::new();
        for (at, mut item) in self.items.into_iter().enumerate() {
            let above = item.parent.and_then(|parent| place[parent]);
            if item.title.trim().is_empty() {
                place[at] = above;
                continue;
            }
            item.parent = above;
            item.title = String::from(item.title.trim());
            place[at] = Some(kept.len());
            kept.push(item);
        }
        (kept, self.headings)
    }
}

fn heading_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
