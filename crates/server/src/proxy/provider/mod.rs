//! Whose a request is: a key goes to the provider whose key it is, and nowhere else.
//!
//! What shows it: the keys of the request, by the header that they stand in and by their form ([`keys`]), the headers that
//! one provider's clients send alone, the path ([`paths`]), and of the configured addresses the host ([`hosts`]). Where these
//! speak against each other, or none of them says anything, the request is refused: a key that went to another provider
//! cannot be taken back.

mod choose;
mod hosts;
mod keys;
mod named;
mod paths;

pub(super) use choose::{Addresses, RoutingError, choose};
pub(super) use keys::Evidence;
pub(super) use named::Provider;
