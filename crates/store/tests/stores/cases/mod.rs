//! What every store must do.

pub(crate) mod lists;
pub(crate) mod locks;
pub(crate) mod memories;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod views;
