//! Which kind ordinary goals lead to, and which lead to a question.

use jiff::civil::date;

use super::*;
use crate::offline::GoalParseContext;

fn pick(text: &str) -> KindPick {
    let today = GoalParseContext::new(date(2026, 11, 17), 5);
    select_kind(&Goal::parse(text, today), &TemplateLibrary::built_in(), SubtypeProposals::Allowed)
}

/// Goals of all families with the kind that they lead to; `unsure` gets the question about the kind, `unclear` the one
/// about the goal.
const GOALS: &[(&str, &str)] = &[
    // A noun that only says whose it is does not decide.
    ("switch our bakery from paper to a digital cash register", "introduce_system"),
    ("get more people to my yoga studio", "marketing_campaign"),
    ("remove the deprecated v1 API that 17 customers still use", "retire_system"),
    ("our Postgres is at 9.6, get it to 16 by the end of January", "database_upgrade"),
    // What stands behind a comma or "before" is a remark.
    ("learn enough Japanese to get by on my trip to Osaka", "learn_language"),
    ("renew my passport before we fly to Canada", "passport_renewal"),
    ("become fluent in Spanish before moving to Madrid", "improve_language"),
    ("sort out my dad's papers after he died, my sister lives abroad", "settle_estate"),
    ("hi there, I want to learn to play the piano", "learn_instrument"),
    ("introduce code reviews in our team", "team_practice"),
    ("write a postmortem for Friday's outage", "postmortem"),
    ("rotate all API keys after a laptop was stolen", "rotate_secrets"),
    ("open a second coffee shop in Leipzig", "second_location"),
    ("clear out grandma's flat", "clear_out_home"),
    ("reduce sick leave in our warehouse", "improve_metric"),
    ("organise a hackathon for 50 students", "hackathon"),
    ("replace the windshield wipers of my car", "car_repair"),
    ("learn some Greek for our honeymoon", "learn_language"),
    ("stop our cat scratching the sofa", "unsure"),
    ("migrate our newsletter from Mailchimp to Brevo", "tool_migration"),
    ("organize a surprise party for my mom's 60th on Saturday", "birthday_party"),
    ("throw a baby shower for 20 guests in May", "birthday_party"),
    ("plan our company's summer party for 120 people", "company_party"),
    ("hold a two-day workshop on testing for 15 people", "workshop_event"),
    ("organise a memorial service for my grandfather", "funeral_memorial"),
    ("plan a two-week trip to Japan in April", "trip_abroad"),
    ("weekend in the mountains with friends", "weekend_trip"),
    ("camping with the kids in July", "camping_trip"),
    ("move from Berlin to Hamburg by September", "move_house"),
    ("relocate our office to a new building", "office_move"),
    ("find a flat in Hamburg", "rent_home"),
    ("buy our first house", "buy_home"),
    ("sell my old bike", "sell_item"),
    ("choose a new laptop under 1500 euros", "buy_equipment"),
    ("renovate the kitchen by October", "renovate_kitchen"),
    ("paint the living room next weekend", "redecorate_room"),
    ("fix the leaking tap", "small_fix"),
    ("build a shed in the garden", "build_outdoor"),
    ("apply for a visa for Canada", "visa_application"),
    ("renew my passport", "passport_renewal"),
    ("make an insurance claim for the flooded basement", "insurance_claim"),
    ("pass the AWS solutions architect exam", "certification_exam"),
    ("get a forklift license", "license_course"),
    ("study for my finals in June", "school_exam"),
    ("learn Spanish, 30 minutes a day", "learn_language"),
    ("learn to draw", "learn_skill"),
    ("improve my French", "improve_language"),
    ("get better at chess", "learn_skill"),
    ("couch to 5k", "run_5k_10k"),
    ("train for a triathlon", "triathlon"),
    ("get stronger at the gym", "strength_training"),
    ("quit smoking", "quit_habit"),
    ("sleep better", "sleep_better"),
    ("recover from knee surgery", "recover_from_injury"),
    ("meditate every morning", "meditation"),
    ("read 20 books this year", "reading_goal"),
    ("drink more water", "daily_habit"),
    ("write a research paper on sparse attention by 15 January", "research_paper"),
    ("apply for an EU grant", "grant_proposal"),
    ("write a short story", "short_story"),
    ("give a presentation to the board next Thursday", "work_presentation"),
    ("look for a new job", "job_search"),
    ("become a data scientist", "career_change"),
    ("onboard our new designer", "onboarding"),
    ("start a podcast", "podcast"),
    ("publish a blog post every two weeks", "blog_series"),
    ("start an online shop for ceramics", "online_shop"),
    ("run a survey of our customers", "survey"),
    ("implement dark mode in our app", "software_feature"),
    ("find the memory leak in the worker", "bug_hunt"),
    ("speed up our checkout page", "performance_work"),
    ("migrate from MySQL to Postgres", "database_migration"),
    ("move our CI from Jenkins to GitHub Actions", "ci_migration"),
    ("set up monitoring for our services", "monitoring_setup"),
    ("get SOC 2 certified", "compliance_certification"),
    ("train a model to detect fraud", "ml_model"),
    ("release version 2.0 by the end of the month", "software_release"),
    ("refactor the payments module", "refactoring"),
    ("write the documentation for our API", "documentation"),
    ("open source our internal library", "open_source_release"),
    ("introduce OKRs in our company", "organizational_change"),
    ("reorganise the engineering department", "team_reorganization"),
    ("plant a vegetable garden", "vegetable_garden"),
    ("adopt a dog", "adopt_pet"),
    ("pay off my credit card debt", "pay_off_debt"),
    ("start investing", "start_investing"),
    ("plan my retirement", "retirement_planning"),
    ("call the dentist", "make_call"),
    ("book a flight to Madrid", "book_ticket"),
    ("pay the electricity bill", "pay_or_cancel"),
    ("buy a birthday present for Anna", "buy_gift"),
    ("Umzug nach Berlin bis Ende Februar organisieren", "unsure"),
    ("ギターを練習する", "unsure"),
    ("asdf", "unclear"),
    ("?", "unclear"),
    ("make things good", "unclear"),
    ("do something great", "unclear"),
    ("polish the zorbulator in the hangar", "unsure"),
    ("help my daughter with math", "teach_child"),
    ("prepare for the baby", "new_baby"),
    ("teach my dog to sit", "train_dog"),
    ("declutter the attic", "clear_space"),
    ("switch to solar", "energy_upgrade"),
    ("build a mobile app for runners", "new_app"),
    ("upgrade from Django 3 to 5", "dependency_upgrade"),
    ("respond to the security incident", "unsure"),
    ("write my wedding speech", "speech"),
    ("buy a wedding gift", "buy_gift"),
    ("learn Rust so that I can change jobs", "learn_programming"),
    ("the kitchen", "unsure"),
    ("plan a sprint every two weeks", "sprint_cadence"),
    ("water the plants every Saturday", "maintenance_routine"),
    ("call mum every Sunday", "call_family"),
    ("clean the house every week", "cleaning_routine"),
    ("file a patent", "unsure"),
    ("change career to nursing", "career_change"),
    ("raise my rates as a freelancer", "price_increase"),
    ("run a half marathon in October", "half_marathon"),
    ("bike from Munich to Venice", "bike_tour"),
];

/// The lines of the shared list of goals, with the kind that is right for each.
const LISTED: &[(&str, &str)] = &[
    ("launch a newsletter in 6 weeks", "newsletter_launch"),
    ("learn Rust, 5 hours a week", "learn_programming"),
    ("marathon training 16 weeks", "marathon"),
    ("weekly review every Friday", "weekly_review"),
    ("migrate our billing service from PHP to Go without downtime", "system_migration"),
    ("organise a 40-person offsite in March in Lisbon with a budget of 20k", "team_offsite"),
    ("fix the flaky integration tests in our CI before Friday", "flaky_tests"),
    ("write my master thesis on graph databases, due 2027-03-31, 10 h a week", "thesis"),
    ("move house", "move_house"),
    ("prepare a talk for RustConf", "conference_talk"),
    ("add OAuth login to our web app", "auth_feature"),
    ("lose 5 kg by summer", "lose_weight"),
    ("hire two backend engineers this quarter", "hiring"),
    ("migrate 200 servers from Debian 11 to 12", "fleet_migration"),
    ("plan a birthday party next Saturday", "birthday_party"),
    ("renovate the bathroom, 8000 euros", "renovate_bathroom"),
    ("raise a seed round of 1.5M", "fundraising_round"),
    ("set up a kubernetes cluster for staging", "infrastructure_setup"),
    ("debug why production is slow", "production_investigation"),
    ("save 5000 euros by June", "save_money"),
    ("wedding on 2027-06-12 for 80 guests", "wedding"),
    ("learn to play the guitar", "learn_instrument"),
    ("finish the report tomorrow", "finish_document"),
    ("write a novel", "novel"),
    ("write a blog post about our new API", "blog_post"),
    ("do my taxes", "tax_return"),
    ("get a driver's license", "drivers_license"),
    ("buy a used car under 10,000", "used_car"),
    ("find a daycare place by September", "daycare_place"),
    ("prepare for a system design interview in 3 weeks", "system_design_interview"),
    ("reduce build time of our monorepo by half", "build_time"),
    ("create an emergency fund and a will", "will_and_emergency_fund"),
    ("open a coffee shop next year", "new_business"),
    ("translate our docs into Spanish", "translate_docs"),
    ("run a usability study with 8 participants", "usability_study"),
    ("clean up the garden this weekend", "garden_cleanup"),
    ("get my inbox to zero and keep it there", "inbox_zero"),
    ("train for my first 10k in 12 weeks", "run_5k_10k"),
    ("transform our company into a platform organisation", "organizational_change"),
    ("publish one video every week about woodworking", "video_series"),
    ("take medication every day at 8", "medication"),
    ("email the landlord about the broken heater", "send_message"),
    ("be better", "unclear"),
];

fn outcome(text: &str) -> String {
    let found = pick(text);
    match found.verdict {
        KindVerdict::Sure => found.best().map(|best| best.name().to_owned()).unwrap_or_default(),
        KindVerdict::Unsure => "unsure".to_owned(),
        KindVerdict::Unclear => "unclear".to_owned(),
    }
}

#[test]
fn ordinary_goals_lead_to_their_kind_or_to_a_question() {
    let wrong: Vec<String> = GOALS
        .iter()
        .chain(LISTED)
        .filter_map(|(goal, kind)| {
            let found = outcome(goal);
            (found != *kind).then(|| format!("{goal}: {found} instead of {kind}"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_question_offers_up_to_six_kinds_best_first() {
    let found = pick("respond to the security incident");
    assert_eq!(found.verdict, KindVerdict::Unsure);
    assert_eq!(found.candidates.len(), OFFERED);
    assert!(found.candidates.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let labels: std::collections::BTreeSet<String> =
        found.candidates.iter().map(KindCandidate::label).collect();
    assert_eq!(labels.len(), OFFERED);
    assert!(found.candidates.iter().all(|candidate| !candidate.content.is_empty()));
}

#[test]
fn two_kinds_that_fit_alike_are_asked_about() {
    let found = pick("ask my boss for a raise at the end of the year");
    assert_eq!(found.verdict, KindVerdict::Unsure, "{found:?}");
    assert!(found.score() < SURE_SCORE && found.margin() < 0.25, "{found:?}");
}

#[test]
fn the_margin_tells_two_certain_kinds_apart() {
    let found = pick("wedding on 2027-06-12 for 80 guests, with a wedding party");
    let [best, second, ..] = found.candidates.as_slice() else { panic!("{found:?}") };
    let by_points = (best.points - second.points) / best.points;
    assert!((found.margin() - by_points).abs() < 1e-9 && found.margin() > 0.0, "{found:?}");
}

#[test]
fn a_proposed_subtype_needs_the_goal_to_name_it() {
    let found = pick("meditate every morning as proposed:daily_health_protocol_v2");
    let best = &found.best().unwrap().pattern;
    assert_eq!(best.subtype.as_deref(), Some("proposed:daily_health_protocol_v2"));
    assert!(best.source_pattern.is_some());
    assert!(best.rfc.as_ref().is_some_and(|rfc| (20..=600).contains(&rfc.chars().count())));
    assert_eq!(found.verdict, KindVerdict::Sure);
}

#[test]
fn a_persons_own_kind_wins_over_a_built_in_one() {
    let text = "label = \"our wedding\"\npattern = \"milestone_project\"\nsubtype = \"quick\"\nsmall = true\n\
        match = { \"wedding\" = 10 }\nweeks = 4\nwhy = \"We do it our way.\"\n[[task]]\ntitle = \"Elope\"\n\
        why = \"It is quick.\"\ndone_when = \"we are married\"\neffort = [60, 120, 240]\n";
    let source = crate::offline::TemplateSource { name: "elope.toml", text };
    let (library, errors) = TemplateLibrary::with_own(&[source], &[]);
    assert_eq!(errors, []);
    let today = GoalParseContext::new(date(2026, 11, 17), 5);
    let found = select_kind(&Goal::parse("our wedding", today), &library, SubtypeProposals::Off);
    assert_eq!(found.best().unwrap().name(), "elope");
}
