//! What carries work out in the world: processes now, the tool registry on top of them.

pub mod process;
