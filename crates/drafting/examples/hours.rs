//! Scratch: whether effort depends on hours.
#![allow(clippy::all, clippy::pedantic, missing_docs, clippy::unwrap_used)]
use jiff::civil::date;
use planwright_drafting::offline::{PlanApproach, RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline};
use planwright_model::PlanContext;
fn main() {
    let library = TemplateLibrary::built_in();
    let names: Vec<String> = library.all_blueprints().map(|f| f.name.clone()).collect();
    for name in names {
        let file = library.named_blueprint(&name).unwrap();
        let total = |weekly: Option<u32>| {
            let mut asked = PlanContext::new("something", date(2026, 6, 8), "Europe/Berlin");
            asked.pattern = Some(file.to_pattern());
            asked.constraints.weekly_minutes = weekly;
            let preferences = RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
            let drafted = draft_outline(asked, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap();
            build_roadmap(&drafted.outline, &library, preferences).unwrap().roadmap.total_minutes
        };
        let base = total(None);
        let all: Vec<u32> = [60, 200, 500, 1100, 2300].iter().map(|h| total(Some(*h))).collect();
        if all.iter().any(|t| *t != base) { println!("{name}: {base} {all:?}"); }
    }
}
