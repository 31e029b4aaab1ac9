//! The engine: validates, resolves, applies, journals and reports plans of edits.
