//! The tools of a session and of a single call: one way to put a toolbox together for both.

use std::path::Path;
use std::sync::Arc;

use super::App;
use crate::config::tool_settings::tool_settings;
use planwright_agents::AgentSubtaskRunner;
use planwright_engine::tool_services::{self, StoreServices};
use planwright_engine::{AgentPort, WorktreeRunner};
use planwright_model::SessionId;
use planwright_store::Store;
use planwright_text::Redactor;
use planwright_tools::mcp::McpServers;
use planwright_tools::offline_subtasks::OfflineSubtaskRunner;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::worktree::WorktreeDirectory;
use planwright_tools::{
    CallHost, PermitPool, ToolError, ToolRegistry, Toolbox, ToolboxParts, ToolboxServices,
    Workspace,
};

/// What differs between the toolbox of a session and that of a single call.
pub(crate) struct ToolboxOptions {
    pub registry: ToolRegistry,
    pub servers: McpServers,
    pub workspace: Workspace,
    /// Answers for permission, and records the calls.
    pub call_host: Arc<dyn CallHost>,
    /// Whose to-do list the tools read.
    pub todo_scope: String,
    /// What marks the processes of its commands.
    pub session: String,
    /// How many calls may run at once.
    pub jobs: u32,
    pub redactor: Redactor,
    /// Has a model work on subtasks; without it they are worked on offline.
    pub subtasks: Option<Arc<AgentSubtaskRunner>>,
}

impl App {
    /// Opens a directory for tools to work in. The program's own files are out of bounds in it.
    pub(crate) fn open_workspace(&self, path: &Path) -> Result<Workspace, ToolError> {
        let forbidden = tool_services::forbidden_paths(self.data_dir(), &self.config_path);
        Workspace::open(path, &self.settings.tools.roots, &forbidden)
    }

    /// Where the agents of a session have their copies of the workspace.
    pub(crate) fn worktree_directory(&self, session: &SessionId) -> Option<WorktreeDirectory> {
        let data_dir = self.data_dir()?;
        Some(WorktreeDirectory::for_session(data_dir, session.as_str()))
    }

    /// Gives agents that write copies of the workspace, unless the config says otherwise.
    pub(crate) fn worktree_runner(
        &self,
        session: &SessionId,
        workspace: &Path,
        redactor: Redactor,
        port: &AgentPort,
    ) -> Option<WorktreeRunner> {
        if !self.settings.worktrees.value {
            return None;
        }
        let workspace = self.open_workspace(workspace).ok()?;
        let directory = self.worktree_directory(session)?;
        let (workspace, port) = (Arc::new(workspace), port.clone());
        Some(WorktreeRunner { directory, workspace, redactor, port })
    }

    /// The tools with everything they reach: workspace, sandbox, memory, to-do list.
    pub(crate) fn build_toolbox(&self, store: &Store, options: ToolboxOptions) -> Toolbox {
        let services = StoreServices::new(store);
        let todo = {
            let (services, scope) = (services.clone(), options.todo_scope);
            move || services.todo_list(&scope)
        };
        Toolbox::new(ToolboxParts {
            registry: options.registry,
            servers: options.servers,
            workspace: Arc::new(options.workspace),
            settings: tool_settings(&self.settings),
            sandbox: Sandbox::with_current_program(),
            services: ToolboxServices {
                memory: Some(services.clone()),
                pins: Some(services),
                todo: Some(Arc::new(todo)),
                subtasks: Some(match &options.subtasks {
                    Some(runner) => Arc::clone(runner) as _,
                    None => Arc::new(OfflineSubtaskRunner),
                }),
                edges: options.subtasks.map(|runner| runner as _),
            },
            permits: PermitPool::new(options.jobs as usize),
            redactor: options.redactor,
            call_host: options.call_host,
            session: options.session,
        })
    }
}
