//! A shared amount, of which each tenant gets a quota.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
/// A shared amount, of which each tenant may take its quota.
#[derive(Debug)]
pub(crate) struct TenantQuotas {
    most: usize,
    most_of_one: usize,
    taken: Mutex<QuotaUsage>,
}

#[derive(Debug, Default)]
struct QuotaUsage {
    all: usize,
    of: HashMap<Arc<str>, usize>,
}

/// The amount that one holder has taken, until it is dropped.
#[derive(Debug)]
pub(crate) struct QuotaPermit {
    shares: Arc<TenantQuotas>,
    tenant: Arc<str>,
    amount: usize,
}

impl TenantQuotas {
    /// Returns an amount of `most` for all tenants; one gets half of it where there are several.
    pub(crate) fn new(most: usize, are_several: bool) -> Arc<Self> {
        let most_of_one = if are_several { most.div_ceil(2) } else { most };
        Arc::new(Self { most, most_of_one, taken: Mutex::default() })
    }

    /// Takes `amount` of it; `None` if less is left.
    pub(crate) fn take(self: &Arc<Self>, tenant: &Arc<str>, amount: usize) -> Option<QuotaPermit> {
        let mut share = QuotaPermit { shares: Arc::clone(self), tenant: Arc::clone(tenant), amount: 0 };
        share.grow(amount).then_some(share)
    }

    fn give_back(&self, tenant: &Arc<str>, amount: usize) {
        let mut taken = self.taken.lock();
        taken.all -= amount;
        if let Some(of_one) = taken.of.get_mut(tenant) {
            *of_one -= amount;
            if *of_one == 0 {
                taken.of.remove(tenant);
            }
        }
    }
}

impl QuotaPermit {
    /// Takes `amount` more of it; false if less is left.
    pub(crate) fn grow(&mut self, amount: usize) -> bool {
        let mut taken = self.shares.taken.lock();
        let of_one = taken.of.get(&self.tenant).copied().unwrap_or_default();
        if taken.all + amount > self.shares.most || of_one + amount > self.shares.most_of_one {
            return false;
        }
        taken.all += amount;
        taken.of.insert(Arc::clone(&self.tenant), of_one + amount);
        self.amount += amount;
        true
    }

    /// Gives some of it back.
    pub(crate) fn shrink(&mut self, amount: usize) {
        let amount = amount.min(self.amount);
        self.amount -= amount;
        self.shares.give_back(&self.tenant, amount);
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        self.shares.give_back(&self.tenant, self.amount);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn nobody_has_more_than_half_where_there_are_others() {
        let [alice, bob]: [Arc<str>; 2] = [Arc::from("alice"), Arc::from("bob")];
        let shares = TenantQuotas::new(10, true);
        let mut first = shares.take(&alice, 3).unwrap();
        assert!(first.grow(2) && !first.grow(1) && shares.take(&alice, 1).is_none(), "that is half");
        let others = shares.take(&bob, 5).unwrap();
        drop(first);
        assert!(shares.take(&bob, 1).is_none() && shares.take(&alice, 5).is_some());
        drop(others);
        let left = shares.taken.lock();
        assert_eq!((left.all, left.of.len()), (0, 0), "nothing is kept of who has left");
        assert!(TenantQuotas::new(10, false).take(&alice, 10).is_some(), "alone");
        assert!(TenantQuotas::new(1, true).take(&alice, 1).is_some(), "there is no half of one");
    }

    #[test]
    fn all_together_have_no_more_than_there_is() {
        let shares = TenantQuotas::new(3, true);
        let tenants: Vec<Arc<str>> = ["a", "b", "c"].map(Arc::from).to_vec();
        let _taken: Vec<QuotaPermit> =
            tenants[..2].iter().zip([2, 1]).map(|(it, count)| shares.take(it, count).unwrap()).collect();
        assert!(shares.take(&tenants[2], 1).is_none());
    }
}
