//! Which characters may reach a terminal, which ones form emoji, and which ones look like an ASCII character.

use unicode_width::UnicodeWidthChar;

/// Joins two emoji into one; invisible anywhere else.
pub(super) const JOINER: char = '\u{200D}';
/// Puts a key cap around a digit.
pub(super) const KEYCAP: char = '\u{20E3}';
/// Marks the position of removed characters.
pub(super) const REPLACEMENT: char = '\u{FFFD}';

/// What the sanitizer does with a character outside escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharPolicy {
    /// Visible, or a mark on a visible character.
    Keep,
    /// Invisible and common in ordinary text; dropping it loses nothing.
    Drop,
    /// Has no legitimate use in readable text, so the replacement character marks its position.
    Replace,
    /// A non-ASCII line terminator.
    Line,
    /// Kept inside an emoji, else dropped: the joiner and the two emoji presentation selectors.
    Emoji,
}

/// Returns what the sanitizer does with a character. Newline, carriage return, tab and escape are classified as
/// `Replace`: callers that treat them specially must check for them first.
pub(super) fn char_policy(c: char) -> CharPolicy {
    match c {
        ' '..='~' | '\u{A0}'..='\u{AC}' | '\u{AE}'..='\u{2FF}' => CharPolicy::Keep,
        '\u{00}'..='\u{1F}' | '\u{7F}'..='\u{9F}' => CharPolicy::Replace,
        '\u{2028}' | '\u{2029}' => CharPolicy::Line,
        JOINER | '\u{FE0E}' | '\u{FE0F}' => CharPolicy::Emoji,
        _ if is_harmless_ignorable(c) => CharPolicy::Drop,
        _ if is_hidden(c) => CharPolicy::Replace,
        _ => CharPolicy::Keep,
    }
}

/// Soft hyphen, zero-width spaces and direction marks, byte order mark, variation selectors.
fn is_harmless_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}' | '\u{200C}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}'
        | '\u{E0100}'..='\u{E01EF}')
}

/// Direction overrides, isolates, invisible operators, annotations, blank letters, tags, and noncharacters.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{115F}' | '\u{1160}' | '\u{202A}'..='\u{202E}' | '\u{2061}'..='\u{206F}' | '\u{3164}'
        | '\u{FDD0}'..='\u{FDEF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
        || u32::from(c) & 0xFFFE == 0xFFFE
}

/// Returns whether a character is drawn onto the one before it.
pub(super) fn is_combining_mark(c: char) -> bool {
    c >= '\u{300}' && c.width() == Some(0)
}

/// Returns whether a character is a skin tone, which colors the emoji before it.
pub(super) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Returns whether a character is a space other than the ASCII one.
pub(super) fn is_non_ascii_space(c: char) -> bool {
    c != '\n' && c != ' ' && (c.is_whitespace() || c == '\u{2800}')
}

/// Returns whether a character is pictographic, so that a joiner may appear next to it (`Extended_Pictographic`).
pub(super) fn is_pictographic(c: char) -> bool {
    PICTOGRAPHIC
        .binary_search_by(|&(first, last)| match () {
            () if last < c => std::cmp::Ordering::Less,
            () if first > c => std::cmp::Ordering::Greater,
            () => std::cmp::Ordering::Equal,
        })
        .is_ok()
}

#[rustfmt::skip]
const PICTOGRAPHIC: &[(char, char)] = &[
    ('\u{A9}', '\u{A9}'), ('\u{AE}', '\u{AE}'), ('\u{203C}', '\u{203C}'), ('\u{2049}', '\u{2049}'),
    ('\u{2122}', '\u{2122}'), ('\u{2139}', '\u{2139}'), ('\u{2194}', '\u{2199}'), ('\u{21A9}', '\u{21AA}'),
    ('\u{231A}', '\u{231B}'), ('\u{2328}', '\u{2328}'), ('\u{23CF}', '\u{23CF}'), ('\u{23E9}', '\u{23F3}'),
    ('\u{23F8}', '\u{23FA}'), ('\u{24C2}', '\u{24C2}'), ('\u{25AA}', '\u{25AB}'), ('\u{25B6}', '\u{25B6}'),
    ('\u{25C0}', '\u{25C0}'), ('\u{25FB}', '\u{25FE}'), ('\u{2600}', '\u{2604}'), ('\u{260E}', '\u{260E}'),
    ('\u{2611}', '\u{2611}'), ('\u{2614}', '\u{2615}'), ('\u{2618}', '\u{2618}'), ('\u{261D}', '\u{261D}'),
    ('\u{2620}', '\u{2620}'), ('\u{2622}', '\u{2623}'), ('\u{2626}', '\u{2626}'), ('\u{262A}', '\u{262A}'),
    ('\u{262E}', '\u{262F}'), ('\u{2638}', '\u{263A}'), ('\u{2640}', '\u{2640}'), ('\u{2642}', '\u{2642}'),
    ('\u{2648}', '\u{2653}'), ('\u{265F}', '\u{2660}'), ('\u{2663}', '\u{2663}'), ('\u{2665}', '\u{2666}'),
    ('\u{2668}', '\u{2668}'), ('\u{267B}', '\u{267B}'), ('\u{267E}', '\u{267F}'), ('\u{2692}', '\u{2697}'),
    ('\u{2699}', '\u{2699}'), ('\u{269B}', '\u{269C}'), ('\u{26A0}', '\u{26A1}'), ('\u{26A7}', '\u{26A7}'),
    ('\u{26AA}', '\u{26AB}'), ('\u{26B0}', '\u{26B1}'), ('\u{26BD}', '\u{26BE}'), ('\u{26C4}', '\u{26C5}'),
    ('\u{26C8}', '\u{26C8}'), ('\u{26CE}', '\u{26CF}'), ('\u{26D1}', '\u{26D1}'), ('\u{26D3}', '\u{26D4}'),
    ('\u{26E9}', '\u{26EA}'), ('\u{26F0}', '\u{26F5}'), ('\u{26F7}', '\u{26FA}'), ('\u{26FD}', '\u{26FD}'),
    ('\u{2702}', '\u{2702}'), ('\u{2705}', '\u{2705}'), ('\u{2708}', '\u{270D}'), ('\u{270F}', '\u{270F}'),
    ('\u{2712}', '\u{2712}'), ('\u{2714}', '\u{2714}'), ('\u{2716}', '\u{2716}'), ('\u{271D}', '\u{271D}'),
    ('\u{2721}', '\u{2721}'), ('\u{2728}', '\u{2728}'), ('\u{2733}', '\u{2734}'), ('\u{2744}', '\u{2744}'),
    ('\u{2747}', '\u{2747}'), ('\u{274C}', '\u{274C}'), ('\u{274E}', '\u{274E}'), ('\u{2753}', '\u{2755}'),
    ('\u{2757}', '\u{2757}'), ('\u{2763}', '\u{2764}'), ('\u{2795}', '\u{2797}'), ('\u{27A1}', '\u{27A1}'),
    ('\u{27B0}', '\u{27B0}'), ('\u{27BF}', '\u{27BF}'), ('\u{2934}', '\u{2935}'), ('\u{2B05}', '\u{2B07}'),
    ('\u{2B1B}', '\u{2B1C}'), ('\u{2B50}', '\u{2B50}'), ('\u{2B55}', '\u{2B55}'), ('\u{3030}', '\u{3030}'),
    ('\u{303D}', '\u{303D}'), ('\u{3297}', '\u{3297}'), ('\u{3299}', '\u{3299}'), ('\u{1F004}', '\u{1F004}'),
    ('\u{1F02C}', '\u{1F02F}'), ('\u{1F094}', '\u{1F09F}'), ('\u{1F0AF}', '\u{1F0B0}'), ('\u{1F0C0}', '\u{1F0C0}'),
    ('\u{1F0CF}', '\u{1F0D0}'), ('\u{1F0F6}', '\u{1F0FF}'), ('\u{1F170}', '\u{1F171}'), ('\u{1F17E}', '\u{1F17F}'),
    ('\u{1F18E}', '\u{1F18E}'), ('\u{1F191}', '\u{1F19A}'), ('\u{1F1AE}', '\u{1F1E5}'), ('\u{1F201}', '\u{1F20F}'),
    ('\u{1F21A}', '\u{1F21A}'), ('\u{1F22F}', '\u{1F22F}'), ('\u{1F232}', '\u{1F23A}'), ('\u{1F23C}', '\u{1F23F}'),
    ('\u{1F249}', '\u{1F25F}'), ('\u{1F266}', '\u{1F321}'), ('\u{1F324}', '\u{1F393}'), ('\u{1F396}', '\u{1F397}'),
    ('\u{1F399}', '\u{1F39B}'), ('\u{1F39E}', '\u{1F3F0}'), ('\u{1F3F3}', '\u{1F3F5}'), ('\u{1F3F7}', '\u{1F3FA}'),
    ('\u{1F400}', '\u{1F4FD}'), ('\u{1F4FF}', '\u{1F53D}'), ('\u{1F549}', '\u{1F54E}'), ('\u{1F550}', '\u{1F567}'),
    ('\u{1F56F}', '\u{1F570}'), ('\u{1F573}', '\u{1F57A}'), ('\u{1F587}', '\u{1F587}'), ('\u{1F58A}', '\u{1F58D}'),
    ('\u{1F590}', '\u{1F590}'), ('\u{1F595}', '\u{1F596}'), ('\u{1F5A4}', '\u{1F5A5}'), ('\u{1F5A8}', '\u{1F5A8}'),
    ('\u{1F5B1}', '\u{1F5B2}'), ('\u{1F5BC}', '\u{1F5BC}'), ('\u{1F5C2}', '\u{1F5C4}'), ('\u{1F5D1}', '\u{1F5D3}'),
    ('\u{1F5DC}', '\u{1F5DE}'), ('\u{1F5E1}', '\u{1F5E1}'), ('\u{1F5E3}', '\u{1F5E3}'), ('\u{1F5E8}', '\u{1F5E8}'),
    ('\u{1F5EF}', '\u{1F5EF}'), ('\u{1F5F3}', '\u{1F5F3}'), ('\u{1F5FA}', '\u{1F64F}'), ('\u{1F680}', '\u{1F6C5}'),
    ('\u{1F6CB}', '\u{1F6D2}'), ('\u{1F6D5}', '\u{1F6E5}'), ('\u{1F6E9}', '\u{1F6E9}'), ('\u{1F6EB}', '\u{1F6F0}'),
    ('\u{1F6F3}', '\u{1F6FF}'), ('\u{1F7DA}', '\u{1F7FF}'), ('\u{1F80C}', '\u{1F80F}'), ('\u{1F848}', '\u{1F84F}'),
    ('\u{1F85A}', '\u{1F85F}'), ('\u{1F888}', '\u{1F88F}'), ('\u{1F8AE}', '\u{1F8AF}'), ('\u{1F8BC}', '\u{1F8BF}'),
    ('\u{1F8C2}', '\u{1F8CF}'), ('\u{1F8D9}', '\u{1F8FF}'), ('\u{1F90C}', '\u{1F93A}'), ('\u{1F93C}', '\u{1F945}'),
    ('\u{1F947}', '\u{1F9FF}'), ('\u{1FA58}', '\u{1FA5F}'), ('\u{1FA6E}', '\u{1FAFF}'), ('\u{1FC00}', '\u{1FFFD}'),
];

/// Returns whether a character looks like an ASCII letter or digit in terminal fonts.
pub(super) fn is_lookalike_letter(c: char) -> bool {
    // Latin, Greek, Cyrillic, Armenian; then Roman numerals.
    "ıɑɡɩ\
     ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνορϲϳ\
     АВЕЅІЈКМНОРСТУХЬавеорсухѕіјһҮүԁԛԜԝӀӏ\
     օոսհցԱՍ"
        .contains(c)
        || matches!(c, '\u{2160}'..='\u{217F}')
}

/// Returns whether a character looks like an ASCII one regardless of context: wide and mathematical letters, and the
/// punctuation that matters in a command or a path.
pub(super) fn is_lookalike_sign(c: char) -> bool {
    const SIGNS: &str = "\u{2010}\u{2011}\u{2012}\u{2212}\u{2024}\u{2044}\u{2215}\u{29F8}\u{2216}\u{29F5}\u{29F9}\
        \u{37E}\u{589}\u{2236}\u{A789}\u{2223}\u{1C0}\u{1C3}\u{2217}\u{2CB}\u{1FEF}\u{2039}\u{203A}\u{204E}\u{A4FA}";
    const WIDE_SIGNS: &str = "＂＄＆＇－．／＜＝＞＠＼｀｜";
    matches!(c, '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '\u{1D400}'..='\u{1D7FF}')
        || SIGNS.contains(c)
        || WIDE_SIGNS.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn removes_every_character_of_the_threat_model() {
        let listed =
            ['\u{61C}', '\u{FEFF}', '\u{AD}', '\u{180E}', '\u{2028}', '\u{2029}', '\u{7F}']
                .into_iter()
                .chain('\u{200B}'..='\u{200F}')
                .chain('\u{202A}'..='\u{202E}')
                .chain('\u{2060}'..='\u{2069}')
                .chain('\u{FFF9}'..='\u{FFFB}')
                .chain('\u{E0000}'..='\u{E007F}')
                .chain('\u{00}'..='\u{1F}')
                .chain('\u{80}'..='\u{9F}');
        for c in listed {
            assert_ne!(char_policy(c), CharPolicy::Keep, "{c:?}");
        }
    }

    #[test]
    fn keeps_visible_text() {
        for c in "aé日本ñ…─►✓·»◊👩🏽ㅎ한ش\u{301}\u{E000}\u{A0}\u{FFFD}".chars()
        {
            assert_eq!(char_policy(c), CharPolicy::Keep, "{c:?}");
        }
    }

    #[test]
    fn is_pictographic_agrees_with_the_segmentation_crate() {
        // No pictographic character is encoded beyond the second plane.
        for c in ('\u{A0}'..='\u{1FFFF}')
            .filter(|c| !is_combining_mark(*c) && char_policy(*c) == CharPolicy::Keep)
        {
            let joined = format!("{c}{JOINER}\u{1F600}").graphemes(true).count() == 1;
            assert_eq!(is_pictographic(c), joined, "{c:?}");
        }
    }
}
