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
    "business": "brand_identity", "business_plan", "client_quote", "close_business", "cloud_cost", "cost_reduction", "crowdfunding", "customer_interviews", "decision_paper", "find_cofounder", "fundraising_round", "holiday_rental", "improve_metric", "introduce_system", "market_stall", "marketing_campaign", "new_business", "newsletter_launch", "online_course", "online_shop", "overdue_invoices", "price_increase", "product_launch", "quarterly_planning", "rent_office", "sales_pipeline", "second_location", "service_business", "stocktake", "support_load", "survey", "take_over_business", "tender_bid", "trade_fair", "usability_study", "vendor_selection", "webinar", "year_end_close";
    "career": "ask_raise", "career_change", "choose_direction", "freelance_start", "job_search", "own_review", "phd_position", "portfolio", "promotion", "quit_job", "resume_update";
    "certificate": "drivers_license", "license_course";
    "creative": "art_exhibition", "build_pc", "creative_practice", "electronics_project", "enclosure", "handmade_piece", "music_album", "photo_gift", "rehearse_pieces", "short_film", "short_video", "write_song";
    "data": "dashboard_or_analysis", "data_cleanup", "data_pipeline", "document_archive", "ml_model";
    "docs": "community_building", "design_document", "documentation", "maintain_project", "open_source_release", "staff_handbook", "team_wiki", "translate_docs";
    "event": "anniversary", "bachelor_party", "birthday_party", "christmas_season", "company_party", "concert", "conference_event", "dinner_gathering", "donation_drive", "find_venue", "fundraising_event", "funeral_memorial", "garage_sale", "gift_exchange", "hackathon", "invitations", "marriage_proposal", "public_event", "retreat", "reunion", "team_offsite", "theater_play", "tournament", "volunteer_day", "wedding", "workshop_event";
    "exam": "certification_exam", "coding_interview", "job_interview", "school_exam", "system_design_interview";
    "family": "adopt_child", "children_chores", "coach_kids_team", "daycare_place", "divorce", "elder_care", "family_calendar", "family_tree", "find_helper", "help_with_tech", "house_guests", "kids_vacation_care", "new_baby", "parental_leave", "return_to_work", "ride_a_bike", "school_application", "school_place", "school_project", "school_start", "teach_child", "toddler_step";
    "finance": "business_loan", "household_budget", "improve_credit", "mortgage", "organize_finances", "pay_off_debt", "refinance_loan", "retirement_planning", "save_money", "start_investing", "switch_provider";
    "habit": "call_family", "cleaning_routine", "daily_habit", "exercise_routine", "inbox_zero", "journaling", "maintenance_routine", "meal_planning", "medication", "meditation", "reading_goal", "weekly_planning", "weekly_review";
    "health": "dentist_visit", "eat_differently", "find_therapist", "health_checkup", "lose_weight", "make_friends", "manage_condition", "mental_wellbeing", "overcome_fear", "prepare_surgery", "quit_habit", "recover_from_injury", "screen_time", "sleep_better";
    "household": "adapt_home", "bike_tuneup", "car_inspection", "car_repair", "clear_out_home", "clear_space", "declutter_home", "deep_clean", "digitize_photos", "emergency_plan", "fit_out_room", "garden_cleanup", "garden_redesign", "high_bill", "home_inventory", "mold", "organize_photos", "pest_control", "plant_tree", "quick_clean", "raised_bed", "seasonal_check", "unpack", "vegetable_garden";
    "infrastructure": "backup_and_recovery", "ci_setup", "containerize", "data_rescue", "device_rollout", "home_backup", "home_network", "home_server", "infrastructure_setup", "monitoring_setup", "replace_server", "uptime_check";
    "learning": "finish_course", "improve_language", "learn_cooking", "learn_instrument", "learn_language", "learn_programming", "learn_skill", "learn_sport", "learn_theory", "plan_semester", "public_speaking";
    "migration": "ci_migration", "cloud_migration", "database_migration", "database_upgrade", "fleet_migration", "mail_migration", "personal_switch", "system_migration", "tool_migration";
    "move": "find_roommate", "move_abroad", "move_house", "move_in_together", "office_move", "rent_home";
    "organization": "board_meeting", "campaign", "community_garden", "organizational_change", "platform_change", "run_for_office", "safety_drill", "start_volunteering", "team_reorganization", "volunteer_group";
    "paperwork": "citizenship", "deposit_back", "insurance_claim", "lost_documents", "neighbor_dispute", "object_decision", "official_application", "organize_papers", "passport_renewal", "power_of_attorney", "settle_estate", "stolen_item", "tax_return", "visa_application", "will_and_emergency_fund", "write_will";
    "people": "hiring", "knowledge_transfer", "lead_project", "mentoring", "new_manager", "onboarding", "pass_inspection", "performance_reviews", "prioritize_backlog", "shift_plan", "team_conflict", "team_practice", "team_process", "team_training", "work_handover";
    "pets": "adopt_pet", "aquarium", "backyard_chickens", "beekeeping", "pet_sitting", "second_pet", "train_dog", "vet_procedure";
    "purchase": "buy_equipment", "buy_home", "new_car", "sell_car", "sell_home", "sell_item", "used_car";
    "renovation": "build_furniture", "build_house", "build_outdoor", "camper_van", "contractor_job", "energy_upgrade", "paint_house", "paint_outdoors", "redecorate_room", "renovate_bathroom", "renovate_home", "renovate_kitchen", "repair_job", "restore_furniture";
    "rhythm": "on_call_rotation", "one_on_ones", "release_train", "report_routine", "sprint_cadence", "team_meeting", "team_retrospective";
    "security": "compliance_certification", "data_retention", "incident_process", "incident_response", "postmortem", "privacy_compliance", "rotate_secrets", "security_audit", "security_breach", "security_rollout", "website_privacy";
    "series": "blog_series", "book_club_meetup", "live_stream", "monthly_project", "newsletter_series", "podcast", "social_posts", "video_series";
    "small": "book_appointment", "book_ticket", "buy_gift", "device_setup", "difficult_talk", "fill_form", "finish_document", "hacked_account", "make_call", "pack_bags", "pay_or_cancel", "run_errand", "send_message", "slow_computer", "small_chore", "small_fix", "small_install";
    "software": "accessibility_work", "api_design", "auth_feature", "bug_hunt", "build_time", "code_audit", "dependency_upgrade", "extract_module", "flaky_tests", "hobby_game", "load_preparation", "new_app", "performance_work", "personal_site", "production_investigation", "refactoring", "retire_system", "review_change", "small_feature", "small_script", "software_feature", "software_release", "tech_spike", "test_coverage", "website";
    "talk": "conference_talk", "lightning_talk", "poster", "thesis_defense", "work_presentation";
    "text": "blog_post", "childrens_book", "essay", "finish_thesis", "grant_proposal", "lab_report", "letter", "literature_review", "nonfiction_book", "novel", "phd_thesis", "publish_book", "report_document", "research_paper", "scholarship", "screenplay", "short_story", "speech", "thesis";
    "training": "cycling_event", "get_fit", "half_marathon", "long_walk", "marathon", "run_5k_10k", "strength_training", "swim_distance", "triathlon";
    "trip": "bike_tour", "business_trip", "camping_trip", "group_camp", "long_hike", "road_trip", "ski_trip", "trip_abroad", "weekend_trip";
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
            // Example goals of all kinds stand beside the families.
            if !family.path().is_dir() {
                continue;
            }
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
