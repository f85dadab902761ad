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
    "business": "brand_identity", "business_plan", "client_quote", "close_business", "cost_reduction", "crowdfunding", "customer_interviews", "find_cofounder", "fundraising_round", "marketing_campaign", "new_business", "newsletter_launch", "online_course", "online_shop", "overdue_invoices", "price_increase", "product_launch", "quarterly_planning", "rent_office", "sales_pipeline", "service_business", "stocktake", "support_load", "survey", "tender_bid", "trade_fair", "usability_study", "vendor_selection", "webinar", "year_end_close";
    "career": "career_change", "choose_direction", "freelance_start", "job_search", "own_review", "phd_position", "promotion", "quit_job", "resume_update";
    "certificate": "drivers_license";
    "creative": "art_exhibition", "build_pc", "creative_practice", "electronics_project", "enclosure", "handmade_piece", "music_album", "photo_gift", "short_film", "short_video", "write_song";
    "data": "dashboard_or_analysis", "data_cleanup", "data_pipeline", "document_archive", "ml_model";
    "docs": "community_building", "design_document", "documentation", "open_source_release", "translate_docs";
    "event": "anniversary", "bachelor_party", "birthday_party", "christmas_season", "company_party", "concert", "conference_event", "dinner_gathering", "fundraising_event", "funeral_memorial", "garage_sale", "marriage_proposal", "public_event", "reunion", "team_offsite", "theater_play", "tournament", "wedding", "workshop_event";
    "exam": "certification_exam", "coding_interview", "job_interview", "school_exam", "system_design_interview";
    "family": "adopt_child", "coach_kids_team", "daycare_place", "divorce", "elder_care", "family_calendar", "family_tree", "find_helper", "help_with_tech", "house_guests", "kids_vacation_care", "new_baby", "return_to_work", "school_application", "school_place", "school_project", "teach_child", "toddler_step";
    "finance": "business_loan", "household_budget", "improve_credit", "organize_finances", "pay_off_debt", "refinance_loan", "retirement_planning", "save_money", "start_investing", "switch_provider";
    "habit": "call_family", "cleaning_routine", "daily_habit", "exercise_routine", "inbox_zero", "journaling", "maintenance_routine", "meal_planning", "medication", "meditation", "reading_goal", "weekly_planning", "weekly_review";
    "health": "eat_differently", "find_therapist", "health_checkup", "lose_weight", "make_friends", "manage_condition", "mental_wellbeing", "prepare_surgery", "quit_habit", "recover_from_injury", "sleep_better";
    "household": "adapt_home", "car_repair", "clear_space", "declutter_home", "deep_clean", "digitize_photos", "emergency_plan", "fit_out_room", "garden_cleanup", "garden_redesign", "home_inventory", "organize_photos", "pest_control", "plant_tree", "quick_clean", "seasonal_check", "vegetable_garden";
    "infrastructure": "backup_and_recovery", "ci_setup", "containerize", "data_rescue", "home_backup", "home_network", "home_server", "infrastructure_setup", "monitoring_setup", "replace_server", "uptime_check";
    "learning": "finish_course", "improve_language", "learn_cooking", "learn_instrument", "learn_language", "learn_programming", "learn_skill", "learn_sport", "learn_theory", "plan_semester", "public_speaking";
    "migration": "ci_migration", "cloud_migration", "database_migration", "database_upgrade", "fleet_migration", "personal_switch", "system_migration", "tool_migration";
    "move": "find_roommate", "move_abroad", "move_house", "move_in_together", "office_move", "rent_home";
    "organization": "campaign", "organizational_change", "platform_change", "run_for_office", "safety_drill", "start_volunteering", "team_reorganization", "volunteer_group";
    "paperwork": "citizenship", "deposit_back", "insurance_claim", "lost_documents", "neighbor_dispute", "object_decision", "official_application", "organize_papers", "passport_renewal", "power_of_attorney", "settle_estate", "stolen_item", "tax_return", "visa_application", "will_and_emergency_fund", "write_will";
    "people": "hiring", "knowledge_transfer", "lead_project", "mentoring", "new_manager", "onboarding", "performance_reviews", "prioritize_backlog", "shift_plan", "team_conflict", "team_process", "team_training", "work_handover";
    "pets": "adopt_pet", "aquarium", "backyard_chickens", "beekeeping", "pet_sitting", "train_dog";
    "purchase": "buy_equipment", "buy_home", "new_car", "sell_car", "sell_home", "sell_item", "used_car";
    "renovation": "build_furniture", "build_house", "build_outdoor", "camper_van", "energy_upgrade", "paint_outdoors", "redecorate_room", "renovate_bathroom", "renovate_home", "renovate_kitchen", "repair_job", "restore_furniture";
    "rhythm": "on_call_rotation", "one_on_ones", "release_train", "report_routine", "sprint_cadence", "team_meeting", "team_retrospective";
    "security": "compliance_certification", "incident_process", "incident_response", "privacy_compliance", "security_audit", "security_breach", "website_privacy";
    "series": "blog_series", "book_club_meetup", "live_stream", "monthly_project", "newsletter_series", "podcast", "social_posts", "video_series";
    "small": "book_appointment", "book_ticket", "buy_gift", "device_setup", "difficult_talk", "fill_form", "finish_document", "hacked_account", "make_call", "pack_bags", "pay_or_cancel", "run_errand", "send_message", "slow_computer", "small_chore", "small_fix", "small_install";
    "software": "accessibility_work", "api_design", "auth_feature", "bug_hunt", "build_time", "code_audit", "dependency_upgrade", "flaky_tests", "hobby_game", "load_preparation", "new_app", "performance_work", "personal_site", "production_investigation", "refactoring", "review_change", "small_script", "software_feature", "software_release", "tech_spike", "test_coverage", "website";
    "talk": "conference_talk", "lightning_talk", "poster", "thesis_defense", "work_presentation";
    "text": "blog_post", "childrens_book", "essay", "finish_thesis", "grant_proposal", "lab_report", "letter", "literature_review", "nonfiction_book", "novel", "phd_thesis", "publish_book", "report_document", "research_paper", "scholarship", "screenplay", "short_story", "speech", "thesis";
    "training": "cycling_event", "get_fit", "half_marathon", "long_walk", "marathon", "run_5k_10k", "strength_training", "swim_distance", "triathlon";
    "trip": "bike_tour", "business_trip", "camping_trip", "group_camp", "road_trip", "trip_abroad", "weekend_trip";
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
