//! Agents that are not installed, lie, flood, hang and die: the person gets a sentence, and nothing outside the copy has
//! changed.
