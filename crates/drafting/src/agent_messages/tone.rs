//! Tone: greetings, exclamation marks, contractions, emoji.

use planwright_model::Tone;

/// Writes in one tone and remembers what it may use only once.
#[derive(Debug)]
pub(super) struct ToneWriter {
    tone: Tone,
    exclaimed: bool,
}

impl ToneWriter {
    pub(super) fn new(tone: Tone) -> Self {
        Self { tone, exclaimed: false }
    }

    /// Returns one line without emoji; in a clinical tone without contractions.
    pub(super) fn clean(&self, text: &str) -> String {
        let plain: String = strip_emoji(text);
        let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.tone == Tone::Clinical { expand_contractions(&line) } else { line }
    }

    /// Returns the line in the tone: a friendly message keeps one exclamation mark, others none.
    pub(super) fn apply_tone(&mut self, text: &str) -> String {
        let mut line = String::new();
        for c in self.clean(text).chars() {
            match c {
                '!' if self.tone == Tone::Friendly && !self.exclaimed => {
                    self.exclaimed = true;
                    line.push('!');
                }
                // "really?!" is already a question.
                '!' if line.ends_with(['.', '!', '?', '…']) => {}
                '!' => line.push('.'),
                c => line.push(c),
            }
        }
        line
    }
}

/// Returns whether a character is drawn as a picture, or joins or colors pictures.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(
        u32::from(c),
        0x20E3
            | 0x231A..=0x231B
            | 0x23E9..=0x23F3
            | 0x25FD..=0x25FE
            | 0x2600..=0x27BF
            | 0x2B1B..=0x2B1C
            | 0x2B50
            | 0x2B55
            | 0xFE0F
            | 0x1F000..=0x1FAFF
            | 0xE0020..=0xE007F
    )
}

fn strip_emoji(text: &str) -> String {
    let mut after_emoji = false;
    let keep = |c: &char| {
        let joins = *c == '\u{200D}' && after_emoji;
        after_emoji = is_emoji(*c) || joins;
        !after_emoji
    };
    text.chars().filter(keep).collect()
}

/// Words after which 's means "is"; after any other word it is a possessive.
const IS_CONTRACTIONS: [&str; 10] =
    ["it", "that", "there", "here", "what", "who", "where", "he", "she", "how"];

/// Expands contractions.
fn expand_contractions(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(expand_contraction).collect();
    words.join(" ")
}

fn expand_contraction(word: &str) -> String {
    let plain = word.replace('’', "'");
    let end = plain
        .rfind(|c: char| c.is_alphanumeric())
        .map_or(0, |at| at + plain[at..].chars().next().map_or(0, char::len_utf8));
    let start = plain.find(|c: char| c.is_alphanumeric()).unwrap_or(0);
    let (Some(core), Some(tail)) = (plain.get(start..end), plain.get(end..)) else {
        return word.to_owned();
    };
    let lower = core.to_lowercase();
    let expanded = match lower.as_str() {
        "can't" => "cannot",
        "won't" => "will not",
        "shan't" => "shall not",
        "let's" => "let us",
        _ => "",
    };
    let long = if expanded.is_empty() {
        expand_ending(core, &lower)
    } else if core.starts_with(char::is_uppercase) {
        expanded[..1].to_uppercase() + &expanded[1..]
    } else {
        expanded.to_owned()
    };
    if long == core { word.to_owned() } else { format!("{}{long}{tail}", &plain[..start]) }
}

fn expand_ending(core: &str, lower: &str) -> String {
    const ENDINGS: [(&str, &str); 6] = [
        ("n't", " not"),
        ("'re", " are"),
        ("'ll", " will"),
        ("'ve", " have"),
        ("'m", " am"),
        ("'d", " would"),
    ];
    let stem = |ending: &str| core.get(..core.len().saturating_sub(ending.len()));
    for (ending, long) in ENDINGS {
        if let Some(stem) = stem(ending).filter(|stem| lower.ends_with(ending) && !stem.is_empty())
        {
            return format!("{stem}{long}");
        }
    }
    match lower.strip_suffix("'s").filter(|stem| IS_CONTRACTIONS.contains(stem)).and(stem("'s")) {
        Some(stem) => format!("{stem} is"),
        None => core.to_owned(),
    }
}

/// Formats a number with its unit, in the plural if needed: "1 task", "3 tasks", "1 h 30 min".
pub fn format_quantity(count: u64, unit: &str) -> String {
    if unit == "min" {
        return planwright_text::units::format_planned(count);
    }
    let figure = planwright_text::units::format_count(count);
    let short = ["h", "d", "%"].contains(&unit);
    if count == 1 || short { format!("{figure} {unit}") } else { format!("{figure} {unit}s") }
}
