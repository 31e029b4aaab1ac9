//! The table of strategies that ship with epitome.
