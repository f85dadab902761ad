//! Each of the seven controls of the conversation at two values: the card says something else, in the words of the agent.

use crate::program::Place;
use crate::screen::Terminal;

const GOAL: &str = "launch a newsletter in 6 weeks";
/// Straight to the plan, with nothing asked before.
const STRAIGHT: [&str; 2] = ["probing_depth=0", "approval_policy=single_final"];

/// The screen with the first card of a goal under a policy.
fn card(goal: &str, policy: &[&str]) -> String {
    let place = Place::new();
    let mut args = vec!["--provider", "offline"];
    for set in policy {
        args.extend(["--policy", set]);
    }
    args.push(goal);
    let mut terminal = Terminal::start(&place, &args, 56, 140);
    // The last line of a message asks for something.
    terminal.until("a request", |text| {
        text.contains("Press ")
            || text.contains("Type ")
            || text.contains("draft it differently")
            || text.contains("questions before the draft")
    });
    terminal.text()
}

/// The card of the plan with one more control set.
fn plan_card(set: &str) -> String {
    let policy: Vec<&str> = STRAIGHT.into_iter().chain([set]).collect();
    card(GOAL, &policy)
}

/// Lines of the agent's list.
fn points(screen: &str) -> usize {
    screen.lines().filter(|line| line.trim_start().starts_with("- ")).count()
}

#[test]
fn the_style_decides_whether_reason_and_next_step_are_given() {
    let (concise, coach) =
        (plan_card("conversation_style=concise"), plan_card("conversation_style=coach"));
    for label in ["Why: ", "Next: "] {
        assert!(!concise.contains(label), "{concise}");
        assert!(coach.contains(label), "{coach}");
    }
}

#[test]
fn the_talkativeness_decides_how_many_versions_are_told() {
    let (short, long) = (plan_card("talkativeness=0.2"), plan_card("talkativeness=1.0"));
    assert!(!short.contains("- Thorough"), "{short}");
    assert!(long.contains("- Thorough"), "{long}");
}

#[test]
fn the_tone_decides_how_it_begins() {
    let (friendly, clinical) = (plan_card("tone=friendly"), plan_card("tone=clinical"));
    assert!(friendly.contains("Good to have you here."), "{friendly}");
    assert!(!clinical.contains("Good to have you here."), "{clinical}");
}

#[test]
fn brainstorming_decides_whether_ideas_are_told() {
    let demand = plan_card("brainstorming_preference=on_demand");
    let always = plan_card("brainstorming_preference=always_offer");
    assert!(points(&always) > points(&demand), "{demand}\n{always}");
}

#[test]
fn the_approvals_decide_what_is_asked_first() {
    let first = |approvals: &str| card(GOAL, &["probing_depth=0", approvals]);
    let (last, every) =
        (first("approval_policy=single_final"), first("approval_policy=strict_every_step"));
    assert!(last.contains("The plan takes "), "{last}");
    assert!(every.contains("is this the right kind of plan?"), "{every}");
}

#[test]
fn little_autonomy_asks_about_the_outline() {
    let (medium, low) = (plan_card("autonomy=medium"), plan_card("autonomy=low"));
    assert!(medium.contains("The plan takes "), "{medium}");
    assert!(low.contains("The outline has "), "{low}");
}

#[test]
fn the_depth_of_questions_decides_whether_any_is_asked() {
    let first = |depth: &str| card("learn Spanish", &["approval_policy=single_final", depth]);
    let (none, two) = (first("probing_depth=0"), first("probing_depth=2"));
    assert!(none.contains("The plan takes "), "{none}");
    assert!(two.contains("questions before the draft"), "{two}");
}

/// The question about the style is asked once: its answer is kept, and no later plan asks again.
#[test]
fn the_answer_about_the_style_is_kept() {
    let place = Place::new();
    let question = "Short or chatty answers?";
    let args = ["--provider", "offline", "--policy", "probing_depth=1", "learn Spanish"];
    let mut first = Terminal::start(&place, &args, 56, 140);
    first.shows(question);
    drop(first);
    let answered = place.run(&["answer", "last", "next", "short"]);
    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    place.run(&["resume", "last", "--headless"]);
    let mut second = Terminal::start(&place, &args, 56, 140);
    second.until("a request", |text| text.contains("Press ") || text.contains("Type "));
    assert!(!second.text().contains(question), "{}", second.text());
    let events = place.run(&["replay", "last", "--headless", "--json"]);
    let events = String::from_utf8_lossy(&events.stdout).into_owned();
    assert!(events.contains("\"conversation_style\":\"concise\""), "{events}");
}
