//! Titles, ids and sections of steps that are written in words.

use planwright_text::clean_line;

use super::MAX_TITLE_CHARS;

/// Headings of sections that describe the work and hold no steps of it.
const NOTE_SECTIONS: &[&str] = &[
    "acceptance criteria",
    "affected files",
    "alternatives",
    "analysis",
    "approach overview",
    "architecture",
    "assumptions",
    "background",
    "considerations",
    "constraints",
    "context",
    "critical files",
    "current state",
    "decisions",
    "design decisions",
    "existing",
    "files",
    "findings",
    "goal",
    "key files",
    "motivation",
    "non-goals",
    "notes",
    "objective",
    "open questions",
    "out of scope",
    "overview",
    "problem",
    "questions",
    "rationale",
    "references",
    "requirements",
    "risks",
    "scope",
    "success criteria",
    "summary",
    "tl;dr",
    "trade-offs",
    "tradeoffs",
    "what exists",
    "why",
];

/// Whether a heading begins a section without steps.
pub(super) fn is_note_heading(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let words = heading.trim_start_matches(|c: char| !c.is_alphabetic());
    NOTE_SECTIONS.iter().any(|note| {
        words.strip_prefix(note).is_some_and(|rest| {
            !rest.starts_with(char::is_alphabetic) || rest.starts_with('s') && rest.len() == 1
        })
    })
}

/// The text of a heading that is a step by its number: `Step 2: Build it`, `2. Build it`.
pub(super) fn numbered_step(heading: &str) -> Option<&str> {
    let heading = heading.trim();
    let after_word = match heading.get(..4) {
        Some(word) if word.eq_ignore_ascii_case("step") => heading[4..].trim_start(),
        _ => heading,
    };
    let digits = after_word.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let rest = &after_word[digits..];
    let title = rest.trim_start_matches(['.', ')', ':', '-', '–', '—', ' ']);
    let separated = rest.len() > title.len() || after_word.len() < heading.len();
    (separated && !title.is_empty()).then_some(title)
}

/// A title of one line, cut at a sentence or a word, and whether something was cut off.
pub(super) fn short_title(text: &str) -> (String, bool) {
    let line = clean_line(text);
    let line = line.trim();
    if line.chars().count() <= MAX_TITLE_CHARS {
        return (line.to_owned(), false);
    }
    let end = line.char_indices().nth(MAX_TITLE_CHARS).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let cut = head.rfind(". ").map(|at| at + 1).or_else(|| head.rfind(' ')).unwrap_or(end);
    (head[..cut].trim_end().to_owned(), true)
}

/// Lowercase words of a text, without punctuation, for comparing what two steps say.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_notes_are_told_from_steps() {
        for heading in
            ["Context", "## Goals", "1. Overview", "Risks & open points", "Files to change"]
        {
            assert!(is_note_heading(heading), "{heading}");
        }
        for heading in ["Contextual menus", "Filesystem watcher", "Verification", "Implementation"]
        {
            assert!(!is_note_heading(heading), "{heading}");
        }
    }

    #[test]
    fn numbers_make_a_heading_a_step() {
        assert_eq!(numbered_step("Step 2: Build it"), Some("Build it"));
        assert_eq!(numbered_step("3) Test it"), Some("Test it"));
        assert_eq!(numbered_step("12. Ship"), Some("Ship"));
        for heading in ["Steps", "2026 goals review", "Phase 1: Set up", "3D model", "Step 4"] {
            assert_eq!(numbered_step(heading), None, "{heading}");
        }
    }

    #[test]
    fn long_titles_are_cut_at_a_sentence_or_a_word() {
        let (title, cut) = short_title(&format!("Do this. {}", "word ".repeat(80)));
        assert_eq!((title.as_str(), cut), ("Do this.", true));
        let (title, cut) = short_title(&"word ".repeat(80));
        assert!(cut && title.ends_with("word") && title.chars().count() <= MAX_TITLE_CHARS);
        assert_eq!(short_title(" a\u{1b}[31mb "), ("ab".to_owned(), false));
        assert!(short_title(&"é".repeat(500)).0.chars().count() <= MAX_TITLE_CHARS);
    }
}
