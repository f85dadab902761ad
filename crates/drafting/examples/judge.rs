//! Scratch: drafts goals from a file and prints the plans compactly.
#![allow(clippy::all, clippy::pedantic, clippy::print_stdout, missing_docs, clippy::unwrap_used)]
use jiff::Timestamp;
use jiff::civil::Date;
use planwright_drafting::goal_plan::{GoalRequest, plan_goal_as};
use planwright_drafting::goal_reading::read_goal;
use planwright_drafting::offline::{
    Goal, GoalParseContext, KindVerdict, SubtypeProposals, TemplateLibrary, draft_outline,
    select_kind,
};
use planwright_model::{PlanContext, Severity};
use std::collections::BTreeMap;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let list = std::fs::read_to_string(&args[1]).unwrap();
    let today: Date = args.get(2).map_or("2026-11-18", String::as_str).parse().unwrap();
    let brief = args.get(3).is_some_and(|a| a == "brief");
    let mini = args.get(3).is_some_and(|a| a == "mini");
    let kinds_only = args.get(3).is_some_and(|a| a == "kinds");
    let library = TemplateLibrary::built_in();
    for (n, line) in
        list.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')).enumerate()
    {
        let (goal, forced) = match line.split_once(" => ") {
            Some((g, k)) => (g, Some(k.trim())),
            None => (line.split('|').next().unwrap(), None),
        };
        let goal = goal.trim();
        let parsed = Goal::parse(goal, GoalParseContext::new(today, 5));
        let pick = select_kind(&parsed, &library, SubtypeProposals::Off);
        println!("\n=== {} {goal}", n + 1);
        let cands: Vec<String> =
            pick.candidates.iter().map(|c| format!("{} {:.2}", c.name(), c.score)).collect();
        println!("    {:?}: {}", pick.verdict, cands.join(", "));
        let reading = read_goal(goal, today);
        for (l, t) in reading.labeled_lines() {
            println!("    {l}: {t}");
        }
        if kinds_only {
            continue;
        }
        if pick.verdict == KindVerdict::Unclear && forced.is_none() {
            println!("    (unclear: asks)");
            continue;
        }
        let pattern = forced
            .map(|k| library.named_blueprint(k).unwrap_or_else(|| panic!("{k}")).to_pattern());
        if pick.verdict == KindVerdict::Unsure && forced.is_none() {
            println!("    (ASKS THE KIND; drafted as best)");
        }
        let start = today.tomorrow().unwrap();
        let mut context = PlanContext::new(goal, start, "UTC");
        context.pattern = pattern.clone();
        let draft = match draft_outline(context, &library, today, SubtypeProposals::Off) {
            Ok(d) => d,
            Err(e) => {
                println!("    no draft: {e}");
                continue;
            }
        };
        println!(
            "    asks: {}",
            draft
                .questions
                .iter()
                .map(|q| format!("{}={}", q.text, q.assumed))
                .collect::<Vec<_>>()
                .join(" / ")
        );
        for note in &draft.notes {
            println!("    note: {note}");
        }
        let request = GoalRequest {
            goal,
            today,
            time_zone: "UTC",
            now: Timestamp::UNIX_EPOCH,
            library: &library,
            events: &[],
        };
        let plan = match plan_goal_as(&request, pattern) {
            Ok(p) => p,
            Err(e) => {
                println!("    ERROR {e}");
                continue;
            }
        };
        let ctx = plan.artifacts.context();
        for a in &ctx.assumptions {
            print!("    [{}={}]", a.key, a.value);
        }
        println!();
        for stage in &plan.stages {
            for v in &stage.violations {
                if v.severity != Severity::Warning || v.message.contains("fact") {
                    println!("    !! {:?} {} {}", v.severity, v.rule, v.message);
                } else if !brief && !mini {
                    println!("    ! {} {}", v.rule, v.message);
                }
            }
        }
        let roadmap = plan.artifacts.roadmap.as_ref().unwrap();
        let schedule = plan.artifacts.schedule.as_ref().unwrap();
        for u in &schedule.unplaced {
            println!("    UNPLACED {u:?}");
        }
        let mut by: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for b in &schedule.blocks {
            by.entry(b.plan_node_id.to_string()).or_default().push(b);
        }
        {
            let mut days: Vec<Date> =
                schedule.blocks.iter().map(|b| b.start.local_date()).collect();
            days.sort();
            let mut gap = (0, today, today);
            for w in days.windows(2) {
                let d = w[0].until(w[1]).unwrap().get_days();
                if d > gap.0 {
                    gap = (d, w[0], w[1]);
                }
            }
            if let (Some(a), Some(z)) = (days.first(), days.last()) {
                println!("    SPAN {a} .. {z}  gap {} d ({} to {})", gap.0, gap.1, gap.2);
            }
        }
        println!("    total {:.1} h", f64::from(roadmap.total_minutes) / 60.0);
        let tree = roadmap.node_tree();
        let mut leaves: Vec<_> =
            roadmap.nodes.iter().filter(|x| x.node_type.is_container() || true).collect();
        leaves.retain(|x| x.level > 1);
        let _ = &tree;
        for node in leaves {
            let blocks = by.get(node.id.as_str());
            let when = match blocks {
                None => String::new(),
                Some(bs) => {
                    let f = |t: &planwright_model::OffsetDateTime| {
                        t.offset.to_datetime(t.at).strftime("%a %d %b %y %H:%M").to_string()
                    };
                    let first = bs.iter().min_by_key(|b| b.start.at).unwrap();
                    let last = bs.iter().max_by_key(|b| b.end.at).unwrap();
                    let sum: u32 = bs.iter().map(|b| b.estimated_minutes).sum();
                    if bs.len() == 1 {
                        format!("{}  {}m", f(&first.start), sum)
                    } else {
                        format!(
                            "{} .. {} x{} {}m",
                            f(&first.start),
                            last.end.offset.to_datetime(last.end.at).strftime("%a %d %b %y %H:%M"),
                            bs.len(),
                            sum
                        )
                    }
                }
            };
            if mini {
                let w = match blocks { None => if node.node_type.is_container() { String::new() } else { "  ms ".into() }, Some(bs) => { let f = bs.iter().min_by_key(|b| b.start.at).unwrap(); let l = bs.iter().max_by_key(|b| b.end.at).unwrap(); let sum: u32 = bs.iter().map(|b| b.estimated_minutes).sum(); let d = |t: &planwright_model::OffsetDateTime| t.offset.to_datetime(t.at).strftime("%d%b").to_string(); let dl = d(&l.start); let df = f.start.offset.to_datetime(f.start.at).strftime("%a%d%b %H").to_string(); if bs.len() == 1 { format!("{df} {sum}m") } else { format!("{df}-{dl} x{} {sum}m", bs.len()) } } };
                if node.node_type.is_container() { println!("  # {}", node.title); } else { let fixed = node.fixed_start.as_ref().map_or(String::new(), |d| if blocks.is_none() { format!("@{} ", d.day) } else { "F ".into() }); println!("   {w} {fixed}{}", node.title); }
                continue;
            }
            let indent = "  ".repeat(usize::from(node.level));
            if node.node_type.is_container() {
                println!("{indent}# {}", node.title);
            } else {
                println!(
                    "{indent}{}{}  | {when}{}{}",
                    node.title,
                    if node.optional { " (opt)" } else { "" },
                    node.fixed_start.as_ref().map_or(String::new(), |_| " FIXED".into()),
                    if brief { String::new() } else { format!("  -- {}", node.done_when) }
                );
            }
        }
    }
}
