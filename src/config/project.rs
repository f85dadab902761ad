//! `.planwright/config.toml` in a workspace: what a project says about how it is worked on.
//!
//! A project may be somebody else's text. What makes things stricter counts at once: rules that refuse, lower limits.
//! Everything else counts only once the person trusted this very file in this very directory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::file::{self, ConfigError};
use super::{SettingOrigin, SettingRow, Settings, SourcedSetting};
use planwright_files::{self as files, FileLimit};
use planwright_model::{ApprovalPolicy, Autonomy, Digest};

/// Where a project keeps its settings.
pub(crate) const PROJECT_FILE: &str = ".planwright/config.toml";

/// The settings of a project, as they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectConfig {
    pub path: PathBuf,
    /// What trust is bound to besides the directory.
    pub hash: Digest,
    directory: PathBuf,
    text: String,
}

/// How the settings of a project stand in this workspace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProjectStanding {
    pub config: ProjectConfig,
    pub trusted: bool,
    /// What the file asks for and does not get.
    pub left_out: Vec<SettingRow>,
}

impl ProjectConfig {
    /// Reads the settings of a workspace, if it has any.
    pub(crate) fn find(workspace: &Path) -> Result<Option<Self>, ConfigError> {
        let path = workspace.join(PROJECT_FILE);
        let text = match files::read_project_text(workspace, PROJECT_FILE, FileLimit::CONFIG) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        // The file in it was read, so that the directory is there; at worst trust is asked for again.
        let directory = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let hash = Digest::from_json(&text.as_str().into());
        Ok(Some(Self { path, hash, directory, text }))
    }

    /// The name under which trust in it is kept.
    pub(crate) fn trust_name(&self) -> String {
        format!("project:{}", self.directory.display())
    }

    /// Puts it over the person's settings: all of it if it is trusted, else only what makes them stricter.
    pub(crate) fn apply(
        self,
        settings: &mut Settings,
        trusted: bool,
    ) -> Result<ProjectStanding, ConfigError> {
        let mut wanted = settings.clone();
        file::apply_config(&self.text, &self.path, &mut wanted)?;
        for rule in &mut wanted.permissions[settings.permissions.len()..] {
            rule.from_project = true;
        }
        let servers = wanted.mcp.iter_mut().filter(|(name, _)| !settings.mcp.contains_key(*name));
        servers.for_each(|(_, server)| server.from_project = true);
        let left_out = if trusted {
            preserve_flags(settings, &mut wanted);
            let changed = differing_rows(settings, &wanted);
            wanted.from_project.extend(changed.into_iter().map(|row| row.name));
            *settings = wanted;
            Vec::new()
        } else {
            let before = settings.clone();
            tighten_settings(settings, &wanted);
            let tightened: BTreeSet<String> =
                differing_rows(&before, settings).into_iter().map(|row| row.name).collect();
            settings.from_project.extend(tightened);
            differing_rows(settings, &wanted)
        };
        Ok(ProjectStanding { config: self, trusted, left_out })
    }
}

/// The rows that another set of settings has differently.
fn differing_rows(settings: &Settings, wanted: &Settings) -> Vec<SettingRow> {
    let now: BTreeSet<(String, String)> =
        settings.rows().into_iter().map(|row| (row.name, row.value.to_string())).collect();
    let rows = wanted.rows().into_iter();
    rows.filter(|row| !now.contains(&(row.name.clone(), row.value.to_string()))).collect()
}

/// The command line goes last, whatever a project says.
fn preserve_flags(settings: &Settings, wanted: &mut Settings) {
    fn preserve_flag<T: Clone>(given: &SourcedSetting<T>, wanted: &mut SourcedSetting<T>) {
        if matches!(given.origin, SettingOrigin::CommandLine(_)) {
            *wanted = given.clone();
        }
    }
    preserve_flag(&settings.theme, &mut wanted.theme);
    preserve_flag(&settings.jobs, &mut wanted.jobs);
    preserve_flag(&settings.models.provider, &mut wanted.models.provider);
    preserve_flag(&settings.models.model, &mut wanted.models.model);
    preserve_flag(&settings.models.record, &mut wanted.models.record);
}

/// Takes over what makes things stricter: rules that refuse, and lower limits.
fn tighten_settings(settings: &mut Settings, wanted: &Settings) {
    fn lower_limit<T: Clone + PartialOrd>(now: &mut SourcedSetting<T>, wanted: &SourcedSetting<T>) {
        if wanted.value < now.value {
            *now = wanted.clone();
        }
    }
    let own = settings.permissions.len();
    settings.permissions.extend(wanted.permissions[own..].iter().filter(|rule| rule.deny).cloned());
    lower_limit(&mut settings.run_token_limit, &wanted.run_token_limit);
    lower_limit(&mut settings.budget_per_session_usd, &wanted.budget_per_session_usd);
    lower_limit(&mut settings.models.daily_budget_usd, &wanted.models.daily_budget_usd);
    lower_limit(
        &mut settings.models.soft_budget_per_turn_usd,
        &wanted.models.soft_budget_per_turn_usd,
    );
    lower_limit(&mut settings.react_max_iterations, &wanted.react_max_iterations);
    lower_limit(&mut settings.task_token_limit, &wanted.task_token_limit);
    lower_limit(&mut settings.task_budget_usd, &wanted.task_budget_usd);
    lower_limit(&mut settings.task_wall_time_min, &wanted.task_wall_time_min);
    lower_limit(&mut settings.agent_max_requests_per_task, &wanted.agent_max_requests_per_task);
    // No limit at all is the loosest.
    if let Some(minutes) = wanted.run_wall_time_min.value
        && settings.run_wall_time_min.value.is_none_or(|now| minutes < now)
    {
        settings.run_wall_time_min = wanted.run_wall_time_min.clone();
    }
    let asked = &wanted.planning.policy.value;
    let policy = &mut settings.planning.policy.value;
    if asked.autonomy == Some(Autonomy::Low) {
        policy.autonomy = asked.autonomy;
    }
    if asked.approval_policy == Some(ApprovalPolicy::StrictEveryStep) {
        policy.approval_policy = asked.approval_policy;
    }
    let usual = planwright_tools::settings::COMMAND_TIME_SEC;
    if let Some(seconds) = wanted.tools.command_time_sec
        && seconds < settings.tools.command_time_sec.unwrap_or(usual)
    {
        settings.tools.command_time_sec = Some(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "run_token_limit = 5000\nbudget_per_session_usd = 50.0\n\
        [tools]\ncommand_time_sec = 20\nenvironment = [\"AWS_SECRET_KEY\"]\n\
        [[permissions.deny]]\ntool = \"web.fetch\"\n\
        [[permissions.allow]]\ntool = \"shell.run\"\n\
        [mcp.evil]\ncommand = [\"sh\", \"-c\", \"true\"]\n\
        [providers.mine]\nkind = \"openai\"\nbase_url = \"https://example.org\"\napi_key_cmd = \"cat secret\"\n";

    fn project(text: &str) -> (tempfile::TempDir, ProjectConfig) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(".planwright")).unwrap();
        std::fs::write(directory.path().join(PROJECT_FILE), text).unwrap();
        let found = ProjectConfig::find(directory.path()).unwrap().unwrap();
        (directory, found)
    }

    fn names(rows: &[SettingRow]) -> Vec<&str> {
        rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn an_untrusted_project_may_only_tighten() {
        let (_directory, project) = project(FILE);
        let mut settings = Settings::default();
        let standing = project.apply(&mut settings, false).unwrap();
        assert_eq!(settings.run_token_limit.value, 5000);
        assert!((settings.budget_per_session_usd.value - 2.0).abs() < 1e-9);
        assert_eq!(settings.tools.command_time_sec, Some(20));
        assert!(settings.tools.environment.is_empty() && settings.mcp.is_empty());
        assert!(settings.models.providers.is_empty());
        assert!(
            matches!(settings.permissions.as_slice(), [rule] if rule.deny && rule.from_project)
        );
        assert_eq!(
            names(&standing.left_out),
            [
                "budget_per_session_usd",
                "providers.mine",
                "tools.environment",
                "permissions",
                "mcp.evil"
            ]
        );
        let rows = settings.rows();
        let of = |name: &str| rows.iter().find(|row| row.name == name).unwrap().origin.clone();
        assert!(of("run_token_limit").ends_with(PROJECT_FILE));
        assert_eq!(of("tools.command_time_sec"), PROJECT_FILE);
    }

    #[test]
    fn a_trusted_project_counts_in_full_and_the_command_line_goes_last() {
        let (_directory, project) = project(&format!("jobs = 7\n{FILE}"));
        let mut settings = Settings::default();
        settings.jobs.override_with(Some(crate::config::JobLimit::Fixed(2)), || {
            SettingOrigin::CommandLine("--jobs".to_owned())
        });
        let standing = project.apply(&mut settings, true).unwrap();
        assert!(standing.left_out.is_empty());
        assert_eq!(settings.jobs.value, crate::config::JobLimit::Fixed(2));
        assert!(settings.mcp["evil"].from_project && settings.permissions.len() == 2);
        assert!((settings.budget_per_session_usd.value - 50.0).abs() < 1e-9);
    }

    #[test]
    fn trust_is_bound_to_the_directory_and_to_every_byte() {
        let (one, first) = project("jobs = 2\n");
        std::fs::write(one.path().join(PROJECT_FILE), "jobs = 2 \n").unwrap();
        let changed = ProjectConfig::find(one.path()).unwrap().unwrap();
        assert_ne!(first.hash, changed.hash);
        let (_other, second) = project("jobs = 2\n");
        assert_eq!(first.hash, second.hash);
        assert_ne!(first.trust_name(), second.trust_name());
        assert_eq!(ProjectConfig::find(Path::new("/no/such/place")).unwrap(), None);
    }
}
