//! What screens ask of the program beside the commands to their session: marks, forks, comparisons.

use std::path::PathBuf;
use std::sync::Arc;

use super::{App, forks, session_history};
use planwright_model::{Seq, SessionId};
use planwright_schedule::OtherBlock;
use planwright_state::replay::compare::{RunComparison, compare_runs};
use planwright_state::replay::fork::ForkPlan;
use planwright_store::{OpenMode, Store};
use planwright_text::Redactor;
use planwright_tui::{
    ComparableSession, CompareView, EventBookmark, SessionActions, SessionExport, ViewFormat,
};

/// Answers screens from the store. It is opened for each request, so that looking at a saved run keeps nothing open.
#[derive(Debug)]
struct StoreSessionActions {
    dir: PathBuf,
    redactor: Redactor,
    /// Where exports are written to.
    output_dir: PathBuf,
}

impl App {
    /// Who answers the requests of screens.
    pub(crate) fn session_actions(&self) -> anyhow::Result<Arc<dyn SessionActions>> {
        Ok(Arc::new(StoreSessionActions {
            dir: self.require_data_dir()?.to_path_buf(),
            redactor: self.redactor(),
            // Without a current directory an export fails with its own words.
            output_dir: std::env::current_dir().unwrap_or_default(),
        }))
    }
}

impl StoreSessionActions {
    /// Does something with the store and says in one line what went wrong.
    fn with_store<T>(
        &self,
        mode: OpenMode,
        act: impl FnOnce(&Store) -> anyhow::Result<T>,
    ) -> Result<T, String> {
        let store = Store::open(&self.dir, mode).map_err(|error| error.to_string())?;
        let done = act(&store);
        store.close();
        done.map_err(|error| error.to_string())
    }
}

impl SessionActions for StoreSessionActions {
    fn set_bookmark(&self, session: &SessionId, at: Seq, note: Option<&str>) -> Result<(), String> {
        let note = note.map(|note| self.redactor.redact(note).into_owned());
        self.with_store(OpenMode::ReadWrite, |store| {
            Ok(store.set_bookmark(session, at, note.as_deref())?)
        })
    }

    fn plan_fork(&self, session: &SessionId, at: Seq) -> Result<ForkPlan, String> {
        self.with_store(OpenMode::ReadOnly, |store| {
            Ok(forks::plan_fork(store, session, Some(at), None)?.plan)
        })
    }

    fn create_fork(&self, session: &SessionId, at: Seq) -> Result<SessionId, String> {
        self.with_store(OpenMode::ReadWrite, |store| {
            let fork = forks::plan_fork(store, session, Some(at), None)?;
            forks::create_fork(store, &fork)
        })
    }

    fn compare_sessions(&self, session: &SessionId, with: &str) -> Result<CompareView, String> {
        self.with_store(OpenMode::ReadOnly, |store| {
            let other = super::find_session(store, with)?;
            compare_sessions(store, session, &other)
        })
    }

    fn comparable_sessions(&self, session: &SessionId) -> Result<Vec<ComparableSession>, String> {
        self.with_store(OpenMode::ReadOnly, |store| {
            let parent = store.session_info(session)?.parent.map(|point| point.session);
            let others = store.list_sessions()?.into_iter().filter(|info| {
                info.id != *session && (!info.hidden || Some(&info.id) == parent.as_ref())
            });
            let mut sessions: Vec<ComparableSession> = others
                .map(|info| ComparableSession {
                    is_parent: Some(&info.id) == parent.as_ref(),
                    title: info.summary.title,
                    at: info.updated_at,
                    id: info.id,
                })
                .collect();
            sessions.sort_by_key(|item| (!item.is_parent, std::cmp::Reverse(item.at)));
            Ok(sessions)
        })
    }

    fn other_plan_blocks(&self, session: &SessionId) -> Result<Vec<OtherBlock>, String> {
        self.with_store(OpenMode::ReadOnly, |store| {
            super::planning::other_plan_blocks(store, session)
        })
    }

    fn export_session(&self, session: &SessionId, export: SessionExport) -> Result<String, String> {
        let name = format!("planwright-{}.{}", session.short_id(), export.file_ending());
        let text = self.with_store(OpenMode::ReadOnly, |store| {
            super::exports::export_text(store, session, export)
        })?;
        std::fs::write(self.output_dir.join(&name), text)
            .map(|()| format!("Exported to {name}"))
            .map_err(|error| format!("Can't write {name}: {error}"))
    }

    fn export_view(
        &self,
        session: &SessionId,
        format: ViewFormat,
        text: &str,
    ) -> Result<String, String> {
        let name = format!("planwright-{}-view.{}", session.short_id(), format.file_ending());
        std::fs::write(self.output_dir.join(&name), text)
            .map(|()| format!("Exported to {name}"))
            .map_err(|error| format!("Can't write {name}: {error}"))
    }

    fn export_comparison(&self, comparison: &RunComparison) -> Result<String, String> {
        let name = format!(
            "compare-{}-{}.md",
            comparison.a.session.short_id(),
            comparison.b.session.short_id()
        );
        let text = planwright_store::exchange::comparison_report::render_comparison(comparison);
        std::fs::write(self.output_dir.join(&name), text)
            .map(|()| format!("written to {name}"))
            .map_err(|error| format!("{name} could not be written: {error}"))
    }
}

/// Two sessions, read and compared.
pub(crate) fn compare_sessions(
    store: &Store,
    a: &SessionId,
    b: &SessionId,
) -> anyhow::Result<CompareView> {
    let (mut left, mut right) = (session_history(store, a)?, session_history(store, b)?);
    let comparison = compare_runs((a, &mut left), (b, &mut right))?;
    Ok(CompareView { comparison, a: left, b: right })
}

/// The marks of a session, as a screen takes them.
pub(crate) fn session_bookmarks(
    store: &Store,
    id: &SessionId,
) -> anyhow::Result<Vec<EventBookmark>> {
    let marks = store.bookmarks(id)?;
    Ok(marks.into_iter().map(|mark| EventBookmark { seq: mark.seq, note: mark.note }).collect())
}
