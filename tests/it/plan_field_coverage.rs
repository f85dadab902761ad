//! Every field of the plan file's schema has a test that fails when a run ignores it.

/// Fields that a run has nothing to do with: they are shown, or are for the schedule.
const WORDS: &[&str] = &[
    "Plan.title",
    "Plan.goal",
    "Plan.rationale",
    "Plan.$schema",
    "Task.description",
    "Task.question",
    "Task.goal",
    "Task.prompt",
    "Task.duration",
    "Task.duration_minutes",
    "Task.metadata",
    "Task.owner",
    "Task.fixed_end",
    "Task.due",
    "Task.why",
    "Task.risks",
    "Task.assumptions",
    "Task.evidence",
    "Task.cost",
    "Task.origin",
    "Task.estimated_tokens",
    "Link.origin",
    "ParameterTable.description",
    "Calendar.start",
    "Calendar.deadline",
    "Calendar.horizon_weeks",
    "Calendar.days_off",
    "Calendar.extra_working",
];

/// For each field of the schema that a run obeys the test that fails when it is ignored.
const OBEYED: &[(&str, &str)] = &[
    ("Plan.resources", "a_resource_of_capacity_one_is_never_used_twice_at_once"),
    ("Plan.calendar", "a_lag_in_working_time_goes_by_the_hours_of_the_plan"),
    ("Plan.sandbox", "a_task_that_asks_for_the_sandbox_writes_nowhere_else"),
    (
        "Plan.defaults",
        "variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered",
    ),
    ("Plan.fail_fast", "a_failure_is_put_up_with_or_ends_the_run_as_stated"),
    ("Plan.include", "an_included_file_adds_its_tasks_and_its_mistakes_are_named_with_it"),
    ("Plan.pools", "a_pool_of_the_machine_is_shared_by_all_runs_of_a_store"),
    ("Plan.notify", "somebody_is_told_when_a_run_ends_or_fails"),
    ("Plan.vars", "vars_params_and_env_are_values_and_never_code"),
    ("Plan.params", "vars_params_and_env_are_values_and_never_code"),
    ("Plan.tasks", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Plan.nodes", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Task.id", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Task.run", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Task.depends_on", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Task.dependencies", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Task.resources", "units_of_a_resource_are_counted_and_a_task_in_doubt_keeps_its_own"),
    ("Task.priority", "example_16_ready_tasks_are_taken_in_the_order_of_the_key"),
    ("Task.tools", "a_step_that_no_tool_can_do_fails_by_name_where_the_plan_chose_the_tools"),
    ("Task.tool_affinity", "example_16_ready_tasks_are_taken_in_the_order_of_the_key"),
    ("Task.affinity", "example_16_ready_tasks_are_taken_in_the_order_of_the_key"),
    ("Task.exit_criteria", "exit_criteria_are_checked_after_the_command_and_decide"),
    ("Task.criteria", "exit_criteria_are_checked_after_the_command_and_decide"),
    ("Task.agent_role", "unknown_types_and_roles_are_said_and_done_plainly"),
    ("Task.task_type", "unknown_types_and_roles_are_said_and_done_plainly"),
    ("Task.timeout", "the_time_limit_is_the_larger_of_an_hour_and_twice_the_duration"),
    ("Task.timeout_seconds", "the_time_limit_is_the_larger_of_an_hour_and_twice_the_duration"),
    ("Task.shell", "a_command_runs_with_its_shell_its_variables_and_in_its_directory"),
    ("Task.env", "a_command_runs_with_its_shell_its_variables_and_in_its_directory"),
    ("Task.cwd", "a_command_runs_with_its_shell_its_variables_and_in_its_directory"),
    ("Task.retries", "a_command_is_tried_again_after_its_back_off_and_as_often_as_stated"),
    ("Task.when", "tasks_run_on_the_condition_they_state"),
    ("Task.continue_on_error", "a_failure_is_put_up_with_or_ends_the_run_as_stated"),
    ("Task.group", "a_matrix_runs_one_task_per_combination_and_can_be_chosen_as_a_group"),
    ("Task.tags", "targets_groups_and_tags_come_with_what_they_need"),
    ("Task.matrix", "a_matrix_runs_one_task_per_combination_and_can_be_chosen_as_a_group"),
    (
        "Task.outputs",
        "outputs_reach_other_tasks_and_artifacts_are_kept_and_removed_with_their_session",
    ),
    (
        "Task.artifacts",
        "outputs_reach_other_tasks_and_artifacts_are_kept_and_removed_with_their_session",
    ),
    (
        "Task.env_file",
        "variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered",
    ),
    (
        "Task.pass_env",
        "variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered",
    ),
    (
        "Task.secrets",
        "variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered",
    ),
    ("Task.inputs", "a_cached_task_is_left_out_until_something_changes"),
    ("Task.cache", "a_cached_task_is_left_out_until_something_changes"),
    ("Task.service", "a_service_is_ready_before_those_that_need_it_and_ends_after_them"),
    ("Task.repeat", "tasks_that_are_safe_to_repeat_resume_without_a_question"),
    ("Task.sandbox", "a_task_that_asks_for_the_sandbox_writes_nowhere_else"),
    ("Task.at_scheduled_time", "dates_and_the_scheduled_time_are_waited_for"),
    ("Task.fixed_start", "dates_and_the_scheduled_time_are_waited_for"),
    ("Task.not_before", "dates_and_the_scheduled_time_are_waited_for"),
    ("Link.task", "a_shell_plan_runs_headless_and_is_listed_as_done"),
    ("Link.kind", "finish_to_finish_and_start_to_finish_hold_the_end"),
    ("Link.lag", "a_lag_is_waited_for_after_an_end_and_after_a_start"),
    ("Link.lag_minutes", "a_lag_is_waited_for_after_an_end_and_after_a_start"),
    ("Link.lag_basis", "a_lag_in_working_time_goes_by_the_hours_of_the_plan"),
    ("Calendar.tz", "a_lag_in_working_time_goes_by_the_hours_of_the_plan"),
    ("Calendar.time_zone", "a_lag_in_working_time_goes_by_the_hours_of_the_plan"),
    ("Calendar.working", "a_lag_in_working_time_goes_by_the_hours_of_the_plan"),
    ("Defaults.shell", "what_defaults_state_reaches_every_command"),
    ("Defaults.env", "what_defaults_state_reaches_every_command"),
    (
        "Defaults.env_file",
        "variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered",
    ),
    ("Defaults.pass_env", "what_defaults_state_reaches_every_command"),
    ("Defaults.secrets", "what_defaults_state_reaches_every_command"),
    ("Defaults.cwd", "what_defaults_state_reaches_every_command"),
    ("Defaults.timeout", "what_defaults_state_reaches_every_command"),
    ("Defaults.retries", "what_defaults_state_reaches_every_command"),
    ("Defaults.sandbox", "a_task_that_asks_for_the_sandbox_writes_nowhere_else"),
    ("RetryPolicy.max", "a_command_is_tried_again_after_its_back_off_and_as_often_as_stated"),
    ("RetryPolicy.backoff", "a_command_is_tried_again_after_its_back_off_and_as_often_as_stated"),
    ("RetryPolicy.factor", "a_command_is_tried_again_after_its_back_off_and_as_often_as_stated"),
    ("RetryPolicy.max_delay", "the_wait_grows_by_its_factor_up_to_its_limit"),
    ("RetryPolicy.on", "a_command_is_tried_again_after_its_back_off_and_as_often_as_stated"),
    (
        "ParameterTable.type",
        "a_parameter_without_a_value_or_with_a_wrong_one_stops_the_run_before_it_begins",
    ),
    ("ParameterTable.default", "the_example_of_a_data_pipeline_repeats_only_what_changed"),
    (
        "ParameterTable.required",
        "a_parameter_without_a_value_or_with_a_wrong_one_stops_the_run_before_it_begins",
    ),
    ("WhenTable.if", "tasks_run_only_if_their_condition_is_true"),
    ("WhenTable.on", "tasks_run_on_the_condition_they_state"),
    ("Service.ready", "a_service_is_ready_before_those_that_need_it_and_ends_after_them"),
    ("Service.stop", "a_service_is_ready_before_those_that_need_it_and_ends_after_them"),
    ("Pool.capacity", "a_pool_of_the_machine_is_shared_by_all_runs_of_a_store"),
    ("Pool.scope", "a_pool_of_the_machine_is_shared_by_all_runs_of_a_store"),
    ("Notify.on", "somebody_is_told_when_a_run_ends_or_fails"),
    ("Notify.cmd", "somebody_is_told_when_a_run_ends_or_fails"),
];

/// The parts of the schema with fields of their own.
const PARTS: &[&str] = &[
    "Task",
    "Link",
    "Calendar",
    "Defaults",
    "RetryPolicy",
    "ParameterTable",
    "WhenTable",
    "Service",
    "Pool",
    "Notify",
];

/// All sources, in which a test must be for it to count.
fn all_sources() -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let mut stack = vec![root.join("tests"), root.join("crates"), root.join("src")];
    while let Some(directory) = stack.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

#[test]
fn every_field_of_the_schema_has_a_test_that_fails_when_a_run_ignores_it() {
    let schema = planwright_plan::plan_file::plan_file_schema();
    let mut fields: Vec<String> = Vec::new();
    let mut add = |part: &str, pointer: &str| {
        let properties = schema.pointer(pointer).and_then(|it| it.as_object());
        let properties = properties.unwrap_or_else(|| panic!("{part} is not in the schema"));
        fields.extend(properties.keys().map(|name| format!("{part}.{name}")));
    };
    add("Plan", "/properties");
    for part in PARTS {
        add(part, &format!("/$defs/{part}/properties"));
    }
    let sources = all_sources();
    for field in &fields {
        let test = OBEYED.iter().find(|(name, _)| name == field).map(|(_, test)| *test);
        match test {
            Some(test) => {
                let is_there = sources.contains(&format!("fn {test}("));
                assert!(is_there, "{field}: there is no test {test}");
            }
            None => {
                assert!(WORDS.contains(&field.as_str()), "{field} has no test of its obedience");
            }
        }
    }
    for (name, _) in OBEYED {
        assert!(fields.iter().any(|field| field == name), "{name} is not in the schema any more");
    }
    // Whatever else is a table in the schema has fields too.
    let tables = schema.pointer("/$defs").unwrap().as_object().unwrap().iter();
    let unknown: Vec<&String> = tables
        .filter(|(name, part)| part.get("properties").is_some() && !PARTS.contains(&name.as_str()))
        .map(|(name, _)| name)
        .filter(|name| !["Week", "Empty"].contains(&name.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
