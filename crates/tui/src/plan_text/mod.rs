//! The plan and what its card says about it, as text: the screen, plain mode and headless runs print the same words.
//!
//! Pure: everything comes from a [`SessionState`](planwright_state::SessionState), a time zone and the reader's day. Titles and other texts
//! are clean; a command is as it will run and has to be revealed by whoever prints it.

mod agent_facts;
mod assumptions;
mod changes;
mod confidence;
mod criterion_words;
mod day_span;
mod edit_words;
mod fact_texts;
mod facts;
mod file_dates;
mod groups;
mod preview;
mod printed;
mod row_when;
mod rows;
mod said;
mod stated_costs;

pub(crate) use agent_facts::agent_facts;
pub use assumptions::describe_assumptions;
pub(crate) use changes::links_change;
pub use changes::{DraftComparison, PlanRowChange, compare_rows, describe_row_change};
pub use confidence::describe_confidence;
pub(crate) use criterion_words::criteria_words;
pub use day_span::DaySpan;
pub use edit_words::describe_edit;
pub(crate) use fact_texts::first_tasks;
pub use facts::{FactHint, PlanFact, PlanFactSource, approval_question, plan_facts};
pub(crate) use file_dates::{file_deadline, file_task_times};
pub(crate) use groups::{PlanFileRow, file_rows, group_row_id, is_group_row};
pub use preview::{PreviewSource, preview_changes, preview_edits};
pub(crate) use preview::{PreviewedDay, preview_day};
pub use printed::{PrintedLine, printed_plan, printed_row_by_number, row_id_by_number};
pub use row_when::RowClock;
pub(crate) use row_when::task_rhythm;
pub(crate) use rows::row_comment;
pub use rows::{PlanRowKind, PlanTextRow, RowComment, draft_rows, plan_rows};
pub(crate) use said::goal_lines;
pub use said::{FactRow, fact_rows};
