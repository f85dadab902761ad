use jiff::civil::date;
use proptest::prelude::*;

use super::tone::is_emoji;
use super::*;
use crate::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::{PatternType, PlanContext};

fn policy(style: ConversationStyle, talkativeness: f64, tone: Tone) -> InteractionPolicy {
    InteractionPolicy {
        conversation_style: style,
        talkativeness,
        tone,
        ..InteractionPolicy::default()
    }
}

fn cta() -> CallToAction {
    CallToAction { ask: CallToActionKind::Approval, form: CallToActionForm::Replies }
}

fn draft() -> AgentMessageDraft {
    AgentMessageDraft {
        lead: vec!["The outline is ready!".into(), "It's got 17 tasks, don't worry!".into()],
        points: vec!["Frame the newsletter".into(), "Build the newsletter".into()],
        violations: vec![],
        why: Some("launches need an audience".into()),
        next_step: Some("look at the first phase".into()),
        aside: None,
        cta: Some(cta()),
    }
}

#[test]
fn each_style_renders_the_documented_text() {
    use ConversationStyle::{Coach, Concise, Conversational, Standard};
    let limits = [Concise, Standard, Conversational, Coach]
        .map(|style| [0.0, 0.5, 1.0].map(|v| word_limit(&policy(style, v, Tone::Neutral))));
    assert_eq!(limits, [[30, 60, 90], [60, 120, 180], [100, 200, 300], [120, 240, 360]]);
    let shown = [Concise, Standard, Conversational, Coach]
        .map(|style| [0.2, 0.5, 0.7].map(|v| options_shown(&policy(style, v, Tone::Neutral))));
    assert_eq!(shown, [[2, 2, 2], [2, 2, 3], [2, 3, 3], [2, 3, 3]]);
    assert_eq!(ideas_shown(&policy(Concise, 1.0, Tone::Neutral)), 2);
    assert_eq!(ideas_shown(&policy(Standard, 0.0, Tone::Neutral)), 3);
}

#[test]
fn tones_differ_in_greeting_exclamation_and_contractions() {
    let standard = ConversationStyle::Standard;
    assert_eq!(
        compose_message(&policy(standard, 0.5, Tone::Friendly), true, &draft()),
        "Good to have you here.\nThe outline is ready! It's got 17 tasks, don't worry.\n- Frame the newsletter\n- Build the newsletter\nWhy: launches need an audience\nReply 'approve' or 'propose changes: …'."
    );
    assert_eq!(
        compose_message(&policy(ConversationStyle::Concise, 0.5, Tone::Clinical), true, &draft()),
        "The outline is ready. It is got 17 tasks, do not worry.\n- Frame the newsletter\n- Build the newsletter\nReply 'approve' or 'propose changes: …'."
    );
    let neutral = compose_message(&policy(standard, 0.5, Tone::Neutral), true, &draft());
    assert!(neutral.starts_with("The outline is ready. It's got"), "{neutral}");
}

#[test]
fn a_coach_adds_one_reason_and_one_next_step() {
    for draft in [draft(), AgentMessageDraft { why: None, next_step: None, ..draft() }] {
        let message =
            compose_message(&policy(ConversationStyle::Coach, 0.5, Tone::Neutral), false, &draft);
        let count = |label: &str| message.lines().filter(|line| line.starts_with(label)).count();
        assert_eq!((count("Why: "), count("Next: ")), (1, 1), "{message}");
    }
}

#[test]
fn all_broken_rules_are_listed_regardless_of_the_limit() {
    let rule = "a rule that needs quite a few words to say what is broken about it".to_owned();
    let draft = AgentMessageDraft { violations: vec![rule; 9], ..draft() };
    let message =
        compose_message(&policy(ConversationStyle::Concise, 0.0, Tone::Neutral), false, &draft);
    assert_eq!(message.lines().filter(|line| line.starts_with("- a rule")).count(), 9);
}

#[test]
fn the_requests_match_the_documentation() {
    let message = |ask| CallToAction { ask, form: CallToActionForm::Replies }.to_string();
    assert_eq!(
        message(CallToActionKind::Rfc),
        "Reply 'approve', 'decline' or 'propose changes: …'."
    );
    assert_eq!(
        message(CallToActionKind::Escalation),
        "Reply 'use <n>', 'keep it as it is', 'propose changes: …' or 'stop'."
    );
    assert_eq!(message(CallToActionKind::Cap), "Reply 'continue' or 'stop'.");
    assert_eq!(
        message(CallToActionKind::Budget),
        "Reply 'raise once', 'raise for this plan', 'continue without paid calls' or 'stop'."
    );
    for ask in CallToActionKind::ALL {
        let keys = CallToAction { ask, form: CallToActionForm::Keys }.to_string();
        assert!(!keys.contains("Reply") && !keys.contains('!'), "{keys}");
    }
}

#[test]
fn ideas_are_offered_as_the_policy_specifies() {
    use BrainstormingPreference::{AlwaysOffer, OnDemand, SuggestWhenUncertain};
    let asks = |preference, confidence, margin, already| {
        let policy = InteractionPolicy {
            brainstorming_preference: preference,
            ..InteractionPolicy::default()
        };
        should_offer_ideas(&policy, confidence, margin, already)
    };
    assert!(!asks(OnDemand, Some(0.5), Some(0.0), false));
    assert!(asks(AlwaysOffer, None, None, false) && !asks(AlwaysOffer, Some(0.5), None, true));
    for (confidence, offers) in [(0.399, false), (0.40, true), (0.699, true), (0.70, false)] {
        assert_eq!(asks(SuggestWhenUncertain, Some(confidence), Some(0.5), false), offers);
    }
    assert!(asks(SuggestWhenUncertain, Some(0.9), Some(0.09), false));
    assert!(!asks(SuggestWhenUncertain, Some(0.9), Some(0.10), false));
}

#[test]
fn ideas_and_options_describe_their_difference_in_one_line() {
    let context = PlanContext::new("launch a newsletter in 6 weeks", date(2026, 6, 8), "UTC");
    let found = suggest_ideas(&context, PatternType::MilestoneProject, 2);
    assert_eq!(
        found,
        [
            "Show a rough first version of the newsletter to three people: the smallest step, to compare the others with.",
            "Do the riskiest part of the newsletter first: the same effort and span, less risk late on.",
        ]
    );
    let library = TemplateLibrary::fixture();
    let outline =
        draft_outline(context, &library, date(2026, 6, 5), SubtypeProposals::Off).unwrap().outline;
    let mut options = build_roadmap(&outline, &library, RoadmapPreferences::default())
        .unwrap()
        .roadmap
        .options_tried;
    let lines = option_lines(&options, 2);
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("1. Balanced (chosen): 48 h (32 h – 71 h 45 min) over 6 weeks"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("2. Lean: leaves out \"Plan the announcement"), "{lines:?}");
    for option in &mut options {
        option.chosen = option.id == "thorough";
    }
    assert!(option_lines(&options, 2)[1].contains("Thorough (chosen)"));
}

#[test]
fn numbers_have_units() {
    assert_eq!(format_quantity(1, "task"), "1 task");
    assert_eq!(format_quantity(1204, "token"), "1,204 tokens");
    assert_eq!(format_quantity(90, "min"), "1 h 30 min");
}

fn any_policy() -> impl Strategy<Value = InteractionPolicy> {
    use ConversationStyle::{Coach, Concise, Conversational, Standard};
    let style = prop::sample::select(vec![Concise, Standard, Conversational, Coach]);
    let tone = prop::sample::select(vec![Tone::Neutral, Tone::Friendly, Tone::Clinical]);
    (style, 0.0..=1.0f64, tone).prop_map(|(style, talks, tone)| policy(style, talks, tone))
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "([a-zA-Z]{1,9}[ !.]{1,2}){0,30}",
        "(don't|it's|we’ll|can't|you're|Ada's|!|\u{1F600}| |wow){0,60}",
        ".{0,60}",
    ]
}

fn any_draft() -> impl Strategy<Value = AgentMessageDraft> {
    let texts = || prop::collection::vec(any_text(), 0..8);
    let ask = prop::sample::select(CallToActionKind::ALL.to_vec());
    let form = prop::sample::select(vec![CallToActionForm::Replies, CallToActionForm::Keys]);
    let maybe = || prop::option::of(any_text());
    (texts(), texts(), texts(), maybe(), maybe(), ask, form).prop_map(
        |(lead, points, violations, why, next_step, ask, form)| {
            let cta = Some(CallToAction { ask, form });
            AgentMessageDraft { lead, points, violations, why, next_step, aside: None, cta }
        },
    )
}

proptest! {
    #[test]
    fn messages_respect_limit_tone_and_one_request(
        policy in any_policy(), first in any::<bool>(), draft in any_draft(),
    ) {
        let cta = draft.cta.unwrap().to_string();
        let message = compose_message(&policy, first, &draft);
        prop_assert!(message.ends_with(&cta));
        prop_assert_eq!(message.matches(&cta).count(), 1);
        let without = compose_message(&policy, first, &AgentMessageDraft { violations: Vec::new(), ..draft.clone() });
        let counted = count_words(without.strip_suffix(&cta).unwrap());
        prop_assert!(counted <= word_limit(&policy), "{} words: {}", counted, without);
        let marks = message.matches('!').count();
        prop_assert!(marks <= usize::from(policy.tone == Tone::Friendly), "{}", message);
        prop_assert!(!message.chars().any(is_emoji));
        let greets = message.starts_with(GREETING);
        prop_assert!(greets == (first && policy.tone == Tone::Friendly) || draft.lead.iter().any(|text| text.contains(GREETING)));
        if policy.tone == Tone::Clinical {
            let shortened = ["don't", "it's", "we'll", "can't", "you're"];
            for word in message.split_whitespace() {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                prop_assert!(!shortened.contains(&word.replace('’', "'").as_str()), "{}", message);
            }
        }
        let label = |label: &str| message.lines().filter(|line| line.starts_with(label)).count();
        match policy.conversation_style {
            ConversationStyle::Coach => prop_assert!(label("Why: ") == 1 && label("Next: ") == 1),
            ConversationStyle::Concise => prop_assert_eq!(label("Why: ") + label("Next: "), 0),
            _ => prop_assert!(label("Why: ") <= 1),
        }
    }
}
