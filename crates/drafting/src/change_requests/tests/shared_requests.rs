//! Every request of the list that the project is measured by, where that list is present.

use super::phrasings::{note_request, read_on};
use super::plans::{TODAY, course_video, house_move};
use super::*;

/// The list, or none with a word about it where only the repository is there.
pub(super) fn read_list() -> Option<String> {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/planning/change-requests.txt");
    let list = std::fs::read_to_string(path).ok();
    if list.is_none() {
        eprintln!("skipped: the list of change requests is not beside the repository");
    }
    list
}

#[test]
fn every_listed_request_is_understood_on_three_plans() {
    let Some(list) = read_list() else { return };
    let plans = [
        ("newsletter", newsletter()),
        ("house_move", house_move()),
        ("course_video", course_video()),
    ];
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#') && line.contains('|')) {
        let (text, effect) = line.rsplit_once('|').unwrap();
        let mut made = 0;
        for (name, plan) in &plans {
            let read = read_on(plan, text);
            let understood =
                read.clauses.iter().all(|clause| clause.change != RequestedChange::Open(None));
            let outcome = apply_change_request(
                &read,
                &plan.outline,
                Some(&plan.roadmap),
                &BTreeSet::new(),
                TODAY,
            );
            made += outcome.made.len() + outcome.approaches.len() + usize::from(read.asks_undo());
            eprintln!(
                "{text} [{effect}] on {name}: {} => made {:?}, open {:?}",
                note_request(&read),
                outcome.made.iter().map(|made| made.effect.as_str()).collect::<Vec<_>>(),
                outcome.open
            );
            if !understood {
                wrong.push(format!("{text} on {name}: {}", note_request(&read)));
            }
        }
        let needs_model = effect.contains("needs a model");
        if made == 0 && !needs_model {
            wrong.push(format!("{text}: no plan was changed by it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
