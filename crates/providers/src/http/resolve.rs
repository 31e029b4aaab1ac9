//! Names to addresses, but not to those that only a machine's own surroundings answer at.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves names as the system does, and leaves out addresses at which a cloud tells its machines their secrets
/// ([`is_surrounding`]). A user who wants such an address writes it as an address, which is not resolved.
///
/// A name is an easy way around any list of allowed hosts: its owner decides what it resolves to.
#[derive(Debug, Clone, Copy)]
pub(super) struct NonLinkLocalResolver;

impl Resolve for NonLinkLocalResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The port is the client's business.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses = allowed_addresses(name.as_str(), found)?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// The addresses that may be connected to.
fn allowed_addresses(name: &str, found: impl Iterator<Item = SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    let (surrounding, addresses): (Vec<_>, Vec<_>) = found.partition(|address| is_surrounding(address.ip()));
    if addresses.is_empty() && !surrounding.is_empty() {
        let problem = format!("`{name}` resolves to a link-local or metadata address, and to nothing else");
        return Err(io::Error::other(problem));
    }
    Ok(addresses)
}

/// The IPv4 address in an IPv6 address, where a network may route it to that: `::ffff:a.b.c.d` and `::a.b.c.d` (RFC
/// 4291), NAT64's `64:ff9b::a.b.c.d` and `64:ff9b:1::a.b.c.d` (RFC 6052 and 8215, the latter in its usual form), and
/// 6to4's `2002:aabb:ccdd::` (RFC 3056). All other addresses are returned unchanged.
fn within(address: IpAddr) -> IpAddr {
    let IpAddr::V6(outer) = address else { return address };
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match outer.segments() {
        // `::` and `::1` are this machine, no address in another.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => address,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => v4(high, low).into(),
        _ => address,
    }
}

/// Whether an address is link-local, or one at which clouds serve metadata to their machines: AWS, Google, Azure and
/// most others at 169.254.169.254, AWS also at fd00:ec2::254, Azure at 168.63.129.16, Alibaba at 100.100.100.200,
/// Oracle at 192.0.0.192.
fn is_surrounding(address: IpAddr) -> bool {
    const METADATA: [IpAddr; 4] = [
        IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
        IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
        IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
        IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    ];
    let address = within(address);
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || METADATA.contains(&address)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_lead_elsewhere() {
        let check = |found: &[&str], expect: Option<&[&str]>| {
            let parse = |text: &&str| SocketAddr::new(text.parse().unwrap(), 0);
            let left = allowed_addresses("host.example", found.iter().map(parse)).ok();
            let expect = expect.map(|expect| expect.iter().map(parse).collect::<Vec<_>>());
            assert_eq!(left, expect, "{found:?}");
        };
        check(&["127.0.0.1", "::1"], Some(&["127.0.0.1", "::1"]));
        check(&["10.0.0.7", "fd00::7"], Some(&["10.0.0.7", "fd00::7"]));
        check(&["169.254.169.254"], None);
        check(&["169.254.1.1", "192.0.2.1"], Some(&["192.0.2.1"]));
        check(&["::ffff:169.254.169.254"], None);
        check(&["::169.254.169.254"], None);
        check(&["64:ff9b::169.254.169.254"], None);
        check(&["64:ff9b:1::168.63.129.16"], None);
        check(&["2002:a9fe:a9fe::1"], None);
        check(&["64:ff9b::8.8.8.8", "2002:808:808::1"], Some(&["64:ff9b::8.8.8.8", "2002:808:808::1"]));
        check(&["2001:a9fe:a9fe::a9fe:a9fe", "::"], Some(&["2001:a9fe:a9fe::a9fe:a9fe", "::"]));
        check(&["fe80::1", "fd00:ec2::254"], None);
        check(&["168.63.129.16", "100.100.100.200", "192.0.0.192"], None);
        check(&[], Some(&[]));
    }
}
