//! The blueprint files and topic packs that come with the program, family by family.

use super::TemplateSource;

macro_rules! families {
    ($($family:literal: $($name:literal),+;)+) => {
        /// The families with their files; a test compares them with the folder.
        const FAMILIES: &[(&str, &[TemplateSource<'static>])] = &[$((
            $family,
            &[$(TemplateSource {
                name: concat!($name, ".toml"),
                text: include_str!(concat!(
                    "../../../../../assets/blueprints/", $family, "/", $name, ".toml"
                )),
            }),+],
        )),+];
    };
}

families! {
    "business": "cost_reduction", "customer_interviews", "fundraising_round", "marketing_campaign", "new_business", "newsletter_launch", "online_course", "online_shop", "product_launch", "quarterly_planning", "sales_pipeline", "service_business", "survey", "tender_bid", "usability_study", "vendor_selection";
    "career": "career_change", "freelance_start", "job_search", "promotion";
    "certificate": "drivers_license";
    "creative": "creative_practice", "music_album", "short_film";
    "data": "dashboard_or_analysis", "data_cleanup", "data_pipeline", "ml_model";
    "docs": "community_building", "design_document", "documentation", "open_source_release", "translate_docs";
    "event": "birthday_party", "company_party", "conference_event", "dinner_gathering", "fundraising_event", "funeral_memorial", "team_offsite", "wedding", "workshop_event";
    "exam": "certification_exam", "coding_interview", "job_interview", "school_exam", "system_design_interview";
    "family": "daycare_place", "elder_care", "new_baby", "school_application";
    "finance": "household_budget", "pay_off_debt", "retirement_planning", "save_money", "start_investing";
    "habit": "call_family", "cleaning_routine", "daily_habit", "exercise_routine", "inbox_zero", "journaling", "maintenance_routine", "meal_planning", "medication", "meditation", "reading_goal", "weekly_planning", "weekly_review";
    "health": "lose_weight", "mental_wellbeing", "quit_habit", "recover_from_injury", "sleep_better";
    "household": "clear_space", "declutter_home", "deep_clean", "garden_cleanup", "organize_photos", "vegetable_garden";
    "infrastructure": "backup_and_recovery", "ci_setup", "home_server", "infrastructure_setup", "monitoring_setup";
    "learning": "finish_course", "improve_language", "learn_instrument", "learn_language", "learn_programming", "learn_skill", "learn_theory";
    "migration": "ci_migration", "cloud_migration", "database_migration", "fleet_migration", "system_migration", "tool_migration";
    "move": "move_abroad", "move_house", "office_move", "rent_home";
    "organization": "organizational_change", "platform_change", "team_reorganization", "volunteer_group";
    "paperwork": "insurance_claim", "passport_renewal", "tax_return", "visa_application", "will_and_emergency_fund", "write_will";
    "people": "hiring", "onboarding", "performance_reviews", "team_process", "team_training", "work_handover";
    "pets": "adopt_pet";
    "purchase": "buy_equipment", "buy_home", "new_car", "sell_car", "sell_home", "sell_item", "used_car";
    "renovation": "build_outdoor", "energy_upgrade", "redecorate_room", "renovate_bathroom", "renovate_home", "renovate_kitchen", "repair_job";
    "rhythm": "on_call_rotation", "one_on_ones", "release_train", "report_routine", "sprint_cadence", "team_retrospective";
    "security": "compliance_certification", "incident_process", "incident_response", "privacy_compliance", "security_audit";
    "series": "blog_series", "book_club_meetup", "monthly_project", "newsletter_series", "podcast", "video_series";
    "small": "book_appointment", "book_ticket", "buy_gift", "finish_document", "make_call", "pay_or_cancel", "run_errand", "send_message", "small_chore", "small_fix", "small_install";
    "software": "accessibility_work", "api_design", "auth_feature", "bug_hunt", "build_time", "code_audit", "dependency_upgrade", "flaky_tests", "new_app", "performance_work", "production_investigation", "refactoring", "software_feature", "software_release", "tech_spike", "test_coverage", "website";
    "talk": "conference_talk", "work_presentation";
    "text": "blog_post", "essay", "grant_proposal", "nonfiction_book", "novel", "report_document", "research_paper", "short_story", "speech", "thesis";
    "training": "cycling_event", "get_fit", "half_marathon", "marathon", "run_5k_10k", "strength_training", "triathlon";
    "trip": "camping_trip", "trip_abroad", "weekend_trip";
}

macro_rules! packs {
    ($($name:literal),+) => {
        [$(TemplateSource {
            name: concat!($name, ".toml"),
            text: include_str!(concat!("../../../../../assets/topics/", $name, ".toml")),
        }),+]
    };
}

pub(super) const PACKS: [TemplateSource<'static>; 4] = packs!("rust", "python", "sql", "language");

/// Returns every built-in file with its family.
pub(super) fn blueprint_files() -> impl Iterator<Item = (&'static str, TemplateSource<'static>)> {
    FAMILIES.iter().flat_map(|(family, files)| files.iter().map(|file| (*family, *file)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/blueprints");
        let mut found = BTreeSet::new();
        for family in std::fs::read_dir(root).unwrap() {
            let family = family.unwrap();
            for file in std::fs::read_dir(family.path()).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                found.insert((family.file_name().into_string().unwrap(), name));
            }
        }
        let listed: BTreeSet<(String, String)> = blueprint_files()
            .map(|(family, file)| (family.to_owned(), file.name.to_owned()))
            .collect();
        assert_eq!(listed, found);
    }
}
