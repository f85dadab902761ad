//! The order in which people list names: numbers in them count as numbers, so that `step 2` comes before `step 10`.

use std::cmp::Ordering;

/// Compares two names. Case decides only between names that are equal otherwise, and zeros in front of a number do too.
pub fn compare_names(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    while let (Some(a), Some(b)) = (left.chars().next(), right.chars().next()) {
        let order = if a.is_ascii_digit() && b.is_ascii_digit() {
            let (number, rest) = split_number(left);
            let (other_number, other_rest) = split_number(right);
            (left, right) = (rest, other_rest);
            // Without zeros in front the longer number is the greater one.
            number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number))
        } else {
            (left, right) = (&left[a.len_utf8()..], &right[b.len_utf8()..]);
            a.to_lowercase().cmp(b.to_lowercase())
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The digits at the start without zeros in front, and what follows them.
fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names =
            ["step 10", "Step 3", "step 2", "step", "a 007 b", "a 7 c", "x9y10", "x9y9"];
        names.sort_by(|one, other| compare_names(one, other));
        assert_eq!(
            names,
            ["a 007 b", "a 7 c", "step", "step 2", "Step 3", "step 10", "x9y9", "x9y10"]
        );
        assert_eq!(
            compare_names("99999999999999999999999", "100000000000000000000000"),
            Ordering::Less
        );
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[aAbB0-2é ]{0,6}", b in "[aAbB0-2é ]{0,6}", c in "[aAbB0-2é ]{0,6}") {
            prop_assert_eq!(compare_names(&a, &b), compare_names(&b, &a).reverse());
            prop_assert_eq!(compare_names(&a, &b) == Ordering::Equal, a == b);
            if compare_names(&a, &b).is_le() && compare_names(&b, &c).is_le() {
                prop_assert!(compare_names(&a, &c).is_le(), "{:?} {:?} {:?}", a, b, c);
            }
        }
    }
}
