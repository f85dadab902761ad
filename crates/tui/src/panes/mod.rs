//! The regions of the session screen.

pub(crate) mod approval;
pub(crate) mod files;
pub(crate) mod finished;
pub(crate) mod footer;
pub(crate) mod graph;
pub(crate) mod header;
pub(crate) mod needs_you;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod running;
pub(crate) mod scrub;
pub(crate) mod tabs;
pub(crate) mod timeline;
pub(crate) mod trace;
