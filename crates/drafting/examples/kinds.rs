//! Scratch: how often the right kind is chosen.
#![allow(clippy::all, clippy::pedantic, missing_docs, clippy::unwrap_used)]
use jiff::civil::date;
use planwright_drafting::offline::{
    Goal, GoalParseContext, KindVerdict, SubtypeProposals, TemplateLibrary, select_kind,
};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let list = std::fs::read_to_string(&args[1]).unwrap();
    let library = TemplateLibrary::built_in();
    let (mut sure_right, mut sure_wrong, mut ask_first, mut ask_in, mut ask_out) = (0, 0, 0, 0, 0);
    let mut n = 0;
    for line in list.lines().filter(|l| l.contains(" => ")) {
        let (goal, want) = line.split_once(" => ").unwrap();
        let want: Vec<&str> = want.trim().split('|').collect();
        let parsed = Goal::parse(goal, GoalParseContext::new(date(2026, 11, 18), 5));
        let pick = select_kind(&parsed, &library, SubtypeProposals::Off);
        let best = pick.best().map_or("-", |b| b.name());
        let right = want.contains(&best);
        let names: Vec<&str> = pick.candidates.iter().map(|c| c.name()).collect();
        let inside = names.iter().any(|n| want.contains(n));
        n += 1;
        let tag = match (pick.verdict, right, inside) {
            (KindVerdict::Sure, true, _) => {
                sure_right += 1;
                ""
            }
            (KindVerdict::Sure, false, _) => {
                sure_wrong += 1;
                "WRONG"
            }
            (_, true, _) => {
                ask_first += 1;
                "ask-first"
            }
            (_, _, true) => {
                ask_in += 1;
                "ask-in"
            }
            _ if want == ["?"] => {
                sure_right += 1;
                ""
            }
            _ => {
                ask_out += 1;
                "ask-out"
            }
        };
        if !tag.is_empty() {
            println!(
                "{tag:<10} {goal}  [{}]  got {}",
                want.join("|"),
                pick.candidates
                    .iter()
                    .take(4)
                    .map(|c| format!("{} {:.2}", c.name(), c.score))
                    .collect::<Vec<_>>()
                    .join(", ")
            );
        }
    }
    println!(
        "{n}: sure right {sure_right}, sure wrong {sure_wrong}, asks with it first {ask_first}, asks with it listed {ask_in}, asks without it {ask_out}"
    );
}
