//! The key of a session.

use std::sync::Arc;

use epitome::store::Tenant;

/// Names a session.
pub(crate) type SessionKey = (Tenant, Arc<str>);

/// A session's name in logs: ids may be people's.
pub(super) fn hash_of((tenant, id): &SessionKey) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tenant.as_str().as_bytes()).update(b"\n").update(id.as_bytes());
    hasher.finalize().to_hex()[..12].to_owned()
}
