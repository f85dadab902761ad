//! HTML to plain text: what a person would read, with headings, lists, links and line breaks.
//!
//! Tolerates any input: a tag that is never closed ends with the text.

/// The readable content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadableText {
    pub title: String,
    pub text: String,
}

/// Elements whose content is not for reading.
const SKIPPED_ELEMENTS: [&str; 9] =
    ["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select"];
/// Elements that begin a new line.
const BLOCK_ELEMENTS: [&str; 30] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "blockquote",
    "br",
    "hr",
    "form",
    "dl",
    "dt",
    "dd",
    "figure",
    "body",
];

/// Converts a page to text.
pub fn html_to_text(html: &str) -> ReadableText {
    let mut writer = HtmlTextWriter::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        writer.push_text(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some((tag, after)) = HtmlTag::parse(rest) else {
            // A lone `<` is text.
            writer.push_text("<");
            rest = &rest[1..];
            continue;
        };
        rest = after;
        if !tag.closing && SKIPPED_ELEMENTS.contains(&tag.name.as_str()) && !tag.empty {
            rest = skip_to_close(rest, &tag.name);
            continue;
        }
        writer.apply_tag(&tag);
    }
    writer.push_text(rest);
    writer.finish()
}

struct HtmlTag {
    name: String,
    closing: bool,
    empty: bool,
    link: Option<String>,
}

impl HtmlTag {
    /// Parses a tag and returns the text after it. Quotes may contain `>`.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let inner = text.strip_prefix('<')?;
        let first = inner.chars().next()?;
        if !(first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?')) {
            return None;
        }
        let mut quote = None;
        let end = inner.char_indices().find_map(|(at, c)| {
            match (quote, c) {
                (None, '>') => return Some(at),
                (None, '"' | '\'') if inner[..at].trim_end().ends_with('=') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                _ => {}
            }
            None
        });
        let (body, after) = match end {
            Some(end) => (&inner[..end], &inner[end + 1..]),
            None => (inner, ""),
        };
        let closing = body.starts_with('/');
        let body = body.trim_start_matches('/');
        let name: String = body
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        let link = (name == "a" && !closing).then(|| attribute_value(body, "href")).flatten();
        Some((Self { name, closing, empty: body.ends_with('/'), link }, after))
    }
}

/// The value of an attribute, quoted or not.
fn attribute_value(body: &str, name: &str) -> Option<String> {
    let lower = body.to_ascii_lowercase();
    let at = lower.match_indices(name).find_map(|(at, _)| {
        let before = lower[..at].chars().next_back()?;
        before.is_whitespace().then_some(at + name.len())
    })?;
    let value = body[at..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(|c: char| c.is_whitespace() || c == '>').next()?,
    };
    Some(unescape_html(value))
}

fn skip_to_close<'a>(text: &'a str, name: &str) -> &'a str {
    let lower = text.to_ascii_lowercase();
    let close = format!("</{name}");
    match lower.find(&close) {
        Some(at) => text[at..].find('>').map_or("", |end| &text[at + end + 1..]),
        None => "",
    }
}

#[derive(Default)]
struct HtmlTextWriter {
    out: String,
    title: String,
    in_title: bool,
    preformatted: usize,
    links: Vec<(usize, String)>,
}

impl HtmlTextWriter {
    fn push_text(&mut self, text: &str) {
        let text = unescape_html(text);
        if self.in_title {
            self.title.push_str(&text);
            return;
        }
        if self.preformatted > 0 {
            self.out.push_str(&text);
            return;
        }
        for c in text.chars() {
            if !c.is_whitespace() {
                self.out.push(c);
            } else if !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
                self.out.push(' ');
            }
        }
    }

    fn apply_tag(&mut self, tag: &HtmlTag) {
        let name = tag.name.as_str();
        match (name, tag.closing) {
            ("title", closing) => self.in_title = !closing,
            ("pre", false) => self.preformatted += 1,
            ("pre", true) => self.preformatted = self.preformatted.saturating_sub(1),
            ("a", false) => {
                if let Some(link) = &tag.link {
                    self.links.push((self.out.len(), link.clone()));
                }
            }
            ("a", true) => self.close_link(),
            ("td" | "th", true) => self.out.push_str(" | "),
            _ => {}
        }
        if BLOCK_ELEMENTS.contains(&name) {
            self.end_line();
            match (name, tag.closing) {
                ("li", false) => self.out.push_str("- "),
                ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                    self.out.push('\n');
                    let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                    self.out.push_str(&"#".repeat(level));
                    self.out.push(' ');
                }
                (
                    "p" | "table" | "ul" | "ol" | "pre" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6",
                    true,
                ) => {
                    self.out.push('\n');
                }
                _ => {}
            }
        }
    }

    fn end_line(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Appends the address of a link to its text, if it has a target and adds information.
    fn close_link(&mut self) {
        let Some((start, link)) = self.links.pop() else { return };
        let text = self.out.get(start..).unwrap_or_default().trim().to_owned();
        if !text.is_empty()
            && (link.starts_with("http://") || link.starts_with("https://"))
            && text != link
        {
            while self.out.ends_with(' ') {
                self.out.pop();
            }
            self.out.push_str(" (");
            self.out.push_str(&link);
            self.out.push(')');
        }
    }

    fn finish(self) -> ReadableText {
        let mut text = String::with_capacity(self.out.len());
        let mut blank = 0;
        for line in self.out.lines().map(str::trim_end) {
            blank = if line.is_empty() { blank + 1 } else { 0 };
            if blank < 2 {
                text.push_str(line);
                text.push('\n');
            }
        }
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        ReadableText { title, text: text.trim().to_owned() }
    }
}

/// Replaces character references with their characters.
fn unescape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(at, _)| at);
        if let Some((c, end)) = end.and_then(|end| Some((decode_reference(&rest[1..end])?, end))) {
            out.push(c);
            rest = &rest[end + 1..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn decode_reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| *c != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "copy" => '©',
        "reg" => '®',
        "middot" => '·',
        "bull" => '•',
        "times" => '×',
        "deg" => '°',
        "euro" => '€',
        "pound" => '£',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        _ => return None,
    })
}
