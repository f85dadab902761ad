//! Which row is meant by a number, an id or a title.

use crate::plan_text::PlanTextRow;
use planwright_model::TaskId;

/// Finds a row by its number, its id, its title, or a part of one title only.
pub(super) fn find_row(text: &str, rows: &[PlanTextRow]) -> Result<TaskId, String> {
    let name = text.trim().trim_matches(['"', '\'', '“', '”']).trim();
    let lower = name.to_lowercase();
    let exact = rows.iter().find(|row| {
        row.number == name || row.id.as_str() == name || row.title.to_lowercase() == lower
    });
    if let Some(row) = exact {
        return Ok(row.id.clone());
    }
    let mut alike = rows.iter().filter(|row| row.title.to_lowercase().contains(&lower));
    match (alike.next(), alike.next()) {
        _ if name.is_empty() => Err("Name the row.".to_owned()),
        (Some(row), None) => Ok(row.id.clone()),
        (Some(one), Some(other)) => {
            Err(format!("\"{name}\" could be {} or {}.", one.title, other.title))
        }
        (None, _) => Err(format!("No row is called \"{name}\".")),
    }
}

/// Splits at commas, but not inside quotes.
pub(super) fn split_parts(text: &str, at: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        if matches!(letter, '"' | '“' | '”') {
            quoted = !quoted;
        }
        if letter == at && !quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::plan_rows;
    use crate::tests::planned;

    #[test]
    fn a_row_is_found_by_what_people_call_it() {
        let rows = plan_rows(&planned::scheduled().state(), &jiff::tz::TimeZone::UTC);
        let task = rows.iter().find(|row| row.depth == 1).unwrap();
        for name in [task.number.clone(), task.id.to_string(), format!("\"{}\"", task.title)] {
            assert_eq!(find_row(&name, &rows).as_ref(), Ok(&task.id));
        }
        assert!(find_row("no such row", &rows).unwrap_err().contains("No row is called"));
        assert!(find_row("the", &rows).unwrap_err().contains(" could be "));
    }

    #[test]
    fn commas_inside_quotes_belong_to_the_name() {
        assert_eq!(
            split_parts("Call Anna, 30 min, before \"Announce it, loudly\"", ','),
            ["Call Anna", "30 min", "before \"Announce it, loudly\""]
        );
    }
}
