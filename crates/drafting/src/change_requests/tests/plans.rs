//! Plans to try change requests on, written as rows: what they are about differs, and so does their shape.

use jiff::civil::{Date, date};

use planwright_model::{
    NodeDependency, NodeType, PatternSpec, PatternType, PlanContext, PlanNode, PlanOutline, Roadmap,
};

pub(super) const TODAY: Date = date(2026, 6, 5);

/// A plan and its links.
pub(super) struct SamplePlan {
    pub(super) outline: PlanOutline,
    pub(super) roadmap: Roadmap,
}

/// Builds a plan from rows: phases at the left, tasks indented with minutes, `?` for optional, `*` for milestones.
fn build_plan(goal: &str, subtype: &str, rows: &str) -> SamplePlan {
    let mut context = PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin");
    context.constraints.weekly_minutes = Some(600);
    context.constraints.horizon_weeks = Some(12);
    let pattern = PatternSpec::with_subtype(PatternType::MilestoneProject, subtype);
    context.pattern = Some(pattern.clone());
    let mut outline = PlanOutline::new("goal", context);
    outline.pattern = Some(pattern);
    outline.nodes[0].title = goal.to_owned();
    let root = outline.nodes[0].clone();
    let mut links: Vec<NodeDependency> = Vec::new();
    let (mut phase, mut phases, mut tasks) = (root.clone(), 0, 0);
    let mut last_phase: Option<String> = None;
    let mut last_task: Option<String> = None;
    for row in rows.lines().filter(|row| !row.trim().is_empty()) {
        if let Some(title) = row.trim().strip_prefix('*') {
            let mut end = PlanNode::new_child(&root, "m1", NodeType::Task, title.trim());
            (end.milestone, end.position, end.estimate_minutes) = (true, phases, Some(0));
            outline.nodes.push(end);
            links.extend(last_phase.take().map(|from| NodeDependency::finish_to_start(from, "m1")));
        } else if row.starts_with(' ') {
            tasks += 1;
            let (title, minutes) = row.trim().rsplit_once(' ').unwrap();
            let id = format!("{}.t{tasks}", phase.id);
            let mut task = PlanNode::new_child(
                &phase,
                id.as_str(),
                NodeType::Task,
                title.trim_end_matches(" ?"),
            );
            task.optional = title.ends_with(" ?");
            task.position = tasks - 1;
            task.estimate_minutes = Some(minutes.parse().unwrap());
            task.done_when = format!("{} is done", task.title.to_lowercase());
            outline.nodes.push(task);
            links.extend(
                last_task.replace(id.clone()).map(|from| NodeDependency::finish_to_start(from, id)),
            );
        } else {
            phases += 1;
            (tasks, last_task) = (0, None);
            let id = format!("p{phases}");
            phase = PlanNode::new_child(&root, id.as_str(), NodeType::Phase, row.trim());
            phase.position = phases - 1;
            outline.nodes.push(phase.clone());
            links.extend(
                last_phase
                    .replace(id.clone())
                    .map(|from| NodeDependency::finish_to_start(from, id)),
            );
        }
    }
    let roadmap = Roadmap::new(&outline, links);
    SamplePlan { outline, roadmap }
}

/// Sends something into the world.
pub(super) fn newsletter() -> SamplePlan {
    build_plan(
        "Launch a newsletter in 6 weeks",
        "launch",
        "
Frame the newsletter
  Write down whom the newsletter is for and what it promises them 150
  Set one success measure and a budget for the newsletter 150
  Choose the tools and the rhythm for the newsletter 135
Build the newsletter
  Make one complete sample issue 255
  Set up how each issue is produced and sent 255
  Prepare the content of the first 3 issues 255
  Run a trial of the newsletter with 3 people 240
Find the first audience
  Write the landing page for the newsletter 240
  List 30 first contacts for the newsletter 240
  Plan the announcement: where, when and in which words ? 240
Launch the newsletter
  Make the final check of the newsletter 150
  Announce the newsletter 150
  Answer everybody in the first week 135
Review the launch
  Measure the newsletter against its target 150
  Decide what to keep, change and stop 135
  Test a second subject line 60
* The newsletter is out and its first result is known
",
    )
}

/// A household.
pub(super) fn house_move() -> SamplePlan {
    build_plan(
        "Move into the flat on Mill Street",
        "event",
        "
Settle the contract
  Choose the venue for the farewell party ? 60
  Read the rental contract 45
  Sign the contract 30
Prepare the move
  Compare three moving companies and book one 120
  Research what the deposit must cover 90
  Visit the venue for the farewell party ? 60
  Pack the kitchen 240
  Pack the books 180
Move
  Hand over the keys of the old flat 60
  Carry everything into the new flat 480
Settle in
  Register the new address 60
  Write to everybody about the new address ? 45
* You live in the new flat
",
    )
}

/// A text with a video and a product.
pub(super) fn course_video() -> SamplePlan {
    build_plan(
        "Publish a video course about sourdough",
        "writing",
        "
Research
  Interview five bakers 300
  Collect the questions of beginners 120
Build
  Write the course text 600
  Write the script of the trailer 180
  Design the title page 120
  Record the trailer video 240
Test
  Run a trial with three people 180
  Fix what the trial showed ? 120
Launch
  Put the landing page online 120
  Announce the course 90
* The course is public
",
    )
}
