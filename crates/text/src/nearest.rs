//! "Did you mean …?": the nearest name by edit distance.

/// Returns the candidate nearest to `name` if it is near enough to be a likely typo. The first candidate wins ties.
pub fn nearest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let mut limit = (name.len() / 3).max(1) + 1;
    let mut best = None;
    let mut other: Vec<char> = Vec::new();
    for candidate in candidates {
        other.clear();
        other.extend(candidate.chars().flat_map(char::to_lowercase));
        if let Some(distance) = edit_distance_below(&name, &other, limit) {
            limit = distance;
            best = Some(candidate);
        }
    }
    best
}

/// Returns the number of insertions, deletions, substitutions and swaps of adjacent characters, if it is below `limit`.
fn edit_distance_below(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) >= limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(b.len() + 1);
        current.push(row + 1);
        for (column, to) in b.iter().enumerate() {
            let mut cost = (last[column] + usize::from(from != to))
                .min(last[column + 1] + 1)
                .min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && a[row - 1] == b[column] && b[column - 1] == a[row];
            if swapped {
                cost = cost.min(before[column - 1] + 1);
            }
            current.push(cost);
        }
        if current.iter().all(|cost| *cost >= limit) {
            return None;
        }
        before = std::mem::replace(&mut last, current);
    }
    last.pop().filter(|distance| *distance < limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_intended_name() {
        let fields = ["description", "depends_on", "duration", "id"];
        assert_eq!(nearest_name("desciption", fields), Some("description"));
        assert_eq!(nearest_name("dependson", fields), Some("depends_on"));
        assert_eq!(nearest_name("Duration", fields), Some("duration"));
        assert_eq!(nearest_name("di", fields), Some("id"));
    }

    #[test]
    fn an_unrelated_name_finds_nothing() {
        assert_eq!(nearest_name("colour", ["description", "id"]), None);
        assert_eq!(nearest_name("", ["id"]), None);
    }
}
