//! The regions of the session screen.

pub(crate) mod approval;
pub(crate) mod files;
pub(crate) mod footer;
pub(crate) mod graph;
pub(crate) mod header;
pub(crate) mod plan;
pub(crate) mod running;
pub(crate) mod scrub;
pub(crate) mod tabs;
pub(crate) mod trace;
