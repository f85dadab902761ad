//! Operations on a plan in words: what is done, and to what.

use jiff::civil::Date;

use super::PlanTextRow;
use planwright_model::{NodePlace, PlanEdit, TaskAssignee, TaskId, agent_title};
use planwright_text::clean_line;
use planwright_text::dates::{format_date, format_date_time};
use planwright_text::units::{format_counted, format_planned};

/// What an operation does and what it does it to: `remove`, `Send a test issue`.
pub fn describe_edit(edit: &PlanEdit, rows: &[PlanTextRow], today: Date) -> (String, String) {
    let title = |id: &TaskId| {
        let row = rows.iter().find(|row| row.id == *id);
        row.map_or_else(|| clean_line(id.as_str()).into_owned(), |row| row.title.clone())
    };
    let time = |id: &TaskId, minutes: u32| {
        let was = rows.iter().find(|row| row.id == *id).map(PlanTextRow::time_text);
        let now = format_planned(minutes.into());
        match was.filter(|was| !was.is_empty()) {
            Some(was) => format!("{}, {was} → {now}", title(id)),
            None => format!("{}, {now}", title(id)),
        }
    };
    match edit {
        PlanEdit::Rename { node, title: new } => {
            (format!("call it \"{}\"", clean_line(new)), title(node))
        }
        PlanEdit::SetDoneWhen { node, done_when } => {
            (format!("done when {}", clean_line(done_when)), title(node))
        }
        PlanEdit::SetEstimate { node, minutes } => ("other time".to_owned(), time(node, *minutes)),
        PlanEdit::SetDoer { node, doer, agent, .. } => {
            let who = match (doer, agent) {
                (TaskAssignee::Human, _) => "yours".to_owned(),
                (TaskAssignee::Agent, Some(name)) => format!("by {}", agent_title(name)),
                (TaskAssignee::Agent, None) => "by the agent".to_owned(),
                (TaskAssignee::Shell, _) => "a command".to_owned(),
            };
            (who, title(node))
        }
        PlanEdit::Add { title: new, minutes, .. } => {
            (format!("add {}", clean_line(new)), new_row_words(*minutes, None, &title))
        }
        PlanEdit::Insert { place, fields, .. } => {
            let new = clean_line(fields.title.as_deref().unwrap_or("a row")).into_owned();
            (format!("add {new}"), new_row_words(fields.minutes, Some(place), &title))
        }
        PlanEdit::Change { node, .. } => ("change".to_owned(), title(node)),
        PlanEdit::Remove { node } => ("remove".to_owned(), title(node)),
        PlanEdit::Move { node, parent, .. } => {
            (format!("move into {}", title(parent)), title(node))
        }
        PlanEdit::Split { node, into } => {
            (format!("split into {}", format_counted(into.len(), "task")), title(node))
        }
        PlanEdit::Merge { nodes, into } => {
            let titles: Vec<String> = nodes.iter().map(title).collect();
            (format!("merge into {}", clean_line(into)), titles.join(", "))
        }
        PlanEdit::Link { from, to, .. } => (format!("after {}", title(from)), title(to)),
        PlanEdit::Unlink { from, to } => (format!("no longer after {}", title(from)), title(to)),
        PlanEdit::Assign { node, owner } if owner.is_empty() => ("yours".to_owned(), title(node)),
        PlanEdit::Assign { node, owner } => (format!("by {}", clean_line(owner)), title(node)),
        PlanEdit::SetDate { node, field, date: Some(date) } => {
            let date = match date.time {
                Some(time) => format_date_time(date.day.to_datetime(time), today),
                None => format_date(date.day, today),
            };
            (format!("{} {date}", field.words()), title(node))
        }
        PlanEdit::SetDate { node, .. } | PlanEdit::ClearDates { node } => {
            ("any day".to_owned(), title(node))
        }
        PlanEdit::SetDone { node, done: true } => ("done already".to_owned(), title(node)),
        PlanEdit::SetDone { node, done: false } => ("open again".to_owned(), title(node)),
        PlanEdit::Lock { node } => ("lock".to_owned(), title(node)),
        PlanEdit::Unlock { node } => ("unlock".to_owned(), title(node)),
        PlanEdit::Comment { node, .. } => ("comment on".to_owned(), title(node)),
    }
}

fn new_row_words(
    minutes: Option<u32>,
    place: Option<&NodePlace>,
    title: &dyn Fn(&TaskId) -> String,
) -> String {
    let time = minutes.map(|minutes| format_planned(minutes.into()));
    let place = place.map(|place| match place {
        NodePlace::Before(node) => format!("before {}", title(node)),
        NodePlace::After(node) => format!("after {}", title(node)),
        NodePlace::Under(node) => format!("in {}", title(node)),
    });
    let parts = [Some("new".to_owned()), time, place];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{DateField, PlanDate};

    #[test]
    fn a_date_is_written_as_everywhere_else() {
        let today = jiff::civil::date(2026, 11, 19);
        let due = |date: PlanDate| {
            let edit =
                PlanEdit::SetDate { node: "read".into(), field: DateField::Due, date: Some(date) };
            describe_edit(&edit, &[], today).0
        };
        let day = jiff::civil::date(2026, 12, 10);
        assert_eq!(due(PlanDate::on_day(day)), "due Thu 10 Dec");
        assert_eq!(due(PlanDate::at_time(day.at(9, 30, 0, 0))), "due Thu 10 Dec 09:30");
        let next_year = PlanDate::on_day(jiff::civil::date(2027, 1, 4));
        assert_eq!(due(next_year), "due Mon 4 Jan 2027");
    }
}
