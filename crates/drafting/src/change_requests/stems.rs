//! The stem of an English word, so that "signing" finds "Sign the contract". Both sides are stemmed the same way, so a
//! stem need not be a word.

/// Returns the stem of a word in lower case.
pub(crate) fn stem_word(word: &str) -> String {
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    if !word.is_ascii() {
        return word.to_owned();
    }
    let mut stem = strip_inflection(word);
    for suffix in ["ation", "ment"] {
        if let Some(base) = strip_suffix_from(&stem, suffix, 3) {
            stem.truncate(base.len());
        }
    }
    if let Some(base) = strip_suffix_from(&stem, "e", 3) {
        stem.truncate(base.len());
    }
    // "translate" and "translation".
    if let Some(base) = strip_suffix_from(&stem, "at", 5) {
        stem.truncate(base.len());
    }
    undouble_end(stem)
}

fn strip_suffix_from<'a>(word: &'a str, suffix: &str, least: usize) -> Option<&'a str> {
    word.strip_suffix(suffix).filter(|base| base.len() >= least && has_vowel(base))
}

fn has_vowel(word: &str) -> bool {
    word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// Removes the ending of a plural, a past form or an -ing form.
fn strip_inflection(word: &str) -> String {
    let singular = match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(base), _) if base.len() > 1 => format!("{base}y"),
        (_, Some(base)) if base.len() > 2 && !base.ends_with(['s', 'u', 'i']) => base.to_owned(),
        _ => word.to_owned(),
    };
    let sibilant = strip_suffix_from(&singular, "e", 3);
    let sibilant = sibilant.filter(|base| {
        word.ends_with("es") && ["ch", "sh", "x", "ss"].iter().any(|end| base.ends_with(end))
    });
    if let Some(base) = sibilant {
        return base.to_owned();
    }
    if let Some(base) = singular.strip_suffix("ied").filter(|base| base.len() > 1) {
        return format!("{base}y");
    }
    for suffix in ["ing", "ed"] {
        if let Some(base) = strip_suffix_from(&singular, suffix, 3) {
            return base.to_owned();
        }
    }
    singular
}

/// "planning" and "plan" have the same stem.
fn undouble_end(mut stem: String) -> String {
    let mut last = stem.chars().rev();
    let (end, before) = (last.next(), last.next());
    let doubled =
        end == before && end.is_some_and(|c| c.is_ascii_alphabetic() && !"aeiou".contains(c));
    if doubled && stem.len() > 3 {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for group in [
            &["sign", "signing", "signed", "signs"][..],
            &["write", "writing", "writes"],
            &["test", "testing", "tests", "tested"],
            &["pack", "packing"],
            &["plan", "planning", "planned", "plans"],
            &["announce", "announcement", "announcing"],
            &["invite", "invitation", "invitations", "inviting"],
            &["translate", "translation", "translating"],
            &["launch", "launches", "launching"],
            &["carry", "carries", "carrying", "carried"],
            &["venue", "venues"],
            &["book", "booking", "booked"],
        ] {
            let stems: Vec<String> = group.iter().map(|word| stem_word(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{group:?} {stems:?}");
        }
        assert_ne!(stem_word("sign"), stem_word("design"));
        assert_ne!(stem_word("contract"), stem_word("contact"));
        assert_eq!(stem_word("bus"), "bus");
        assert_eq!(stem_word("élan"), "élan");
    }
}
